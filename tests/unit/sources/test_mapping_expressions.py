"""Expressions of mappings: functions of our own, and times."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from schemas.errors import ConfigError
from streams.sources.mapping.expressions import compile_expression
from streams.sources.mapping.moments import moment_of, zone_of

AT = datetime(2026, 5, 14, 9, tzinfo=UTC)
RUN = "20260514T080000000000Zaaa.20260514T080000010000Zbbb"


@pytest.mark.parametrize(
    ("expression", "document", "expected"),
    [
        ("a.b", {"a": {"b": 1}}, 1),
        ("a.b", {"a": "text"}, None),
        ('a."b.c"', {"a": {"b.c": 1}}, 1),
        ("a.b.c.d", {"a": {"b": {"c": {"d": 1}}}}, 1),
        ("a || b", {"a": "", "b": 2}, 2),
        ("parsed(a).b", {"a": '{"b": 1}'}, 1),
        ("parsed(a).b", {"a": "{'b': None, 'c': True}"}, None),
        ("parsed(a)", {"a": 5}, 5),
        ("each_with(a, {t: t})", {"t": 1, "a": [{"x": 2, "t": None}, 3]}, [{"x": 2, "t": 1}, 3]),
        ("each_with(a, b)", {"a": {}}, None),
        ("merged([a, b, c])", {"a": {"x": 1, "y": 1}, "b": {"x": 2, "y": None}}, {"x": 2, "y": 1}),
        ("merged(a)", {"a": 5}, None),
        ("joined('@', [a, b, c])", {"a": "p", "c": 7}, "p@7"),
        ("joined('@', [a])", {}, None),
        ("joined(a, b)", {}, None),
        ("lower(a)", {"a": "AbC"}, "abc"),
        ("lower(a)", {"a": 5}, ""),
        ("has(a, 'b')", {"a": "abc"}, True),
        ("has(a, 'b')", {"a": ["b"]}, True),
        ("has(a, `5`)", {"a": "abc"}, False),
        ("has(a, 'b')", {}, False),
        ("ends(a, 'c')", {"a": "abc"}, True),
        ("ends(a, 'c')", {}, False),
        ("starts(a, 'a')", {"a": "abc"}, True),
        ("starts(a, 'a')", {"a": {}}, False),
        ("hex_id(a)", {"a": "tr-ABCDEF"}, "abcdef"),
        ("hex_id(a)", {"a": "0x1F"}, "1f"),
        ("hex_id(a)", {"a": "oPDD0uS1log="}, "a0f0c3d2e4b59688"),
        ("hex_id(a)", {"a": "request 5"}, "request 5"),
        ("hex_id(a)", {}, None),
        ("content_hash(a)", {}, None),
        ("dotted_trace(a)", {"a": RUN}, "aaa"),
        ("dotted_parent(a)", {"a": RUN}, "aaa"),
        ("dotted_parent(a)", {"a": RUN.split(".", maxsplit=1)[0]}, None),
        ("dotted_start(a)", {"a": RUN}, "2026-05-14T08:00:00.010000Z"),
        ("dotted_trace(a)", {"a": "junk.junk"}, None),
        ("dotted_trace(a)", {"a": 5}, None),
    ],
)
def test_expressions_give(expression: str, document: Any, expected: Any) -> None:
    """Paths, and the functions that a path cannot be."""
    assert expected == compile_expression(expression).of(document)


def test_a_content_hash_depends_on_content_alone() -> None:
    """A redelivered answer must not become a second one."""
    one = compile_expression("content_hash(@)")
    assert one.of({"a": "x"}) == one.of({"a": "x"}) != one.of({"a": "y"})
    assert 32 == len(str(one.of({"a": "\ud83d"})))


def test_faults_while_evaluating_never_repeat_data() -> None:
    """They go into logs and dead letters."""
    with pytest.raises(ValueError, match=r"^starts_with\(\) got number$"):
        compile_expression("starts_with(a, 'x')").of({"a": 4_111_111})


@pytest.mark.parametrize(
    ("value", "zone", "expected"),
    [
        ("2026-05-14T08:00:00Z", "utc", datetime(2026, 5, 14, 8, tzinfo=UTC)),
        ("2026-05-14T08:00:00", "utc", datetime(2026, 5, 14, 8, tzinfo=UTC)),
        ("2026-05-14T08:00:00", "+02:00", datetime(2026, 5, 14, 6, tzinfo=UTC)),
        ("2026-05-14T08:00:00", "-02:30", datetime(2026, 5, 14, 10, 30, tzinfo=UTC)),
        ("2026-05-14T08:00:00", "Europe/Berlin", datetime(2026, 5, 14, 6, tzinfo=UTC)),
        ("2026-05-14T08:00:00", "record", AT),
        ("2026-05-14T08:00:00+02:00", "record", datetime(2026, 5, 14, 6, tzinfo=UTC)),
        ("record", "utc", AT),
        (1778745600, "utc", datetime(2026, 5, 14, 8, tzinfo=UTC)),
        (1778745600.5, "utc", datetime(2026, 5, 14, 8, 0, 0, 500_000, tzinfo=UTC)),
        (1778745600_000, "utc", datetime(2026, 5, 14, 8, tzinfo=UTC)),
        ("1778745600000000", "utc", datetime(2026, 5, 14, 8, tzinfo=UTC)),
        (1778745600_000_000_000, "record", datetime(2026, 5, 14, 8, tzinfo=UTC)),
        (None, "utc", None),
        (False, "utc", None),
        ("", "utc", None),
    ],
)
def test_times_of_every_kind_are_read(value: Any, zone: str, expected: datetime | None) -> None:
    """Epochs in any unit, texts with and without a zone, the record's own."""
    flags: set[str] = set()
    assert (expected, set()) == (moment_of(value, zone_of(zone), AT, flags), flags)


@pytest.mark.parametrize("value", ["soon", True, [], {}, 5, "0001-01-01T00:00:00+14:00", "9" * 19, float(10**17)])
def test_what_is_no_time_is_flagged(value: Any) -> None:
    """And the item is read without it."""
    flags: set[str] = set()
    moment = moment_of(value, zone_of("utc"), AT, flags)
    assert (None, {"bad_time"}) == (moment, flags)


def test_a_zone_that_is_none_is_refused() -> None:
    """With what to write instead."""
    with pytest.raises(ConfigError, match="write utc, \\+02:00, Europe/Berlin, or record"):
        zone_of("+25:00")
    assert AT == zone_of("+02:00")(datetime(2026, 5, 14, 11), AT)  # noqa: DTZ001 - a time without a zone is the point
    assert timezone(timedelta(0)) == zone_of("utc")(datetime(2026, 5, 14), AT).tzinfo  # noqa: DTZ001 - as above
