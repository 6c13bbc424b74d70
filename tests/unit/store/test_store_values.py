"""Values on their way into the engine and back."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from schemas.trace import passage_hash
from streams.store.values import clean, from_micros, from_seconds, micros, optional_micros, optional_time, seconds


@pytest.mark.parametrize(
    "moment",
    [
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1, 1, 2, tzinfo=UTC),
        datetime(2026, 3, 29, 1, 30, 0, 1, tzinfo=UTC),
    ],
)
def test_a_time_of_any_year_keeps_its_microseconds(moment: datetime) -> None:
    """Sentinels such as the end of the year 9999 are exact too."""
    assert moment == from_micros(micros(moment))


def test_a_time_of_another_zone_is_the_same_moment() -> None:
    """The zone is dropped, the moment is kept."""
    local = datetime(2026, 3, 10, 14, 0, tzinfo=timezone(timedelta(hours=2)))
    assert datetime(2026, 3, 10, 12, 0, tzinfo=UTC) == from_seconds(seconds(local))


def test_no_time_stays_no_time() -> None:
    """None is not 1970."""
    assert optional_micros(None) is None
    assert optional_time(None) is None
    assert datetime(1970, 1, 1, tzinfo=UTC) == optional_time(0)


@pytest.mark.parametrize(("text", "cleaned"), [("ascii", "ascii"), ("née ✓ 👍", "née ✓ 👍"), ("a\ud83d\x00", "a?\x00")])
def test_only_lone_surrogates_are_replaced(text: str, cleaned: str) -> None:
    """Everything that can be UTF-8 stays as it is."""
    assert cleaned == clean(text)


def test_a_cleaned_text_has_the_hash_of_the_original() -> None:
    """A passage is found by the hash that the detectors computed."""
    assert passage_hash("caf\ud83d") == passage_hash(clean("caf\ud83d"))
