"""What an endpoint that is too busy says of its return, in the forms that there are."""

from datetime import UTC, datetime

import pytest

from streams.retry_after import retry_after_seconds

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120),
        ("0.5", 0.5),
        (" 7 ", 7),
        ("0", 0),
        ("-5", 0),
        ("nan", 0),
        ("inf", 0),
        ("soon", 0),
        ("", 0),
        ("Tue, 10 Mar 2026 12:02:00 GMT", 120),
        ("Tue, 10 Mar 2026 14:02:00 +0200", 120),
        ("Tue, 10 Mar 2026 12:02:00 -0000", 120),
        ("Tue, 10 Mar 2026 11:00:00 GMT", 0),
        ("Tue, 99 Mar 2026 11:00:00 GMT", 0),
    ],
)
def test_seconds_and_dates_are_read_and_all_else_says_nothing(said: str, seconds: float) -> None:
    """A header that cannot be read must not hold anybody up, nor fail a call."""
    assert seconds == retry_after_seconds({"retry-after": said}, NOW)


def test_milliseconds_go_before_seconds() -> None:
    """They say the same more exactly; no header says nothing."""
    assert 1.5 == retry_after_seconds({"retry-after-ms": "1500", "retry-after": "2"}, NOW)
    assert 2.0 == retry_after_seconds({"retry-after-ms": "odd", "retry-after": "2"}, NOW)
    assert 0.0 == retry_after_seconds({}, NOW)
