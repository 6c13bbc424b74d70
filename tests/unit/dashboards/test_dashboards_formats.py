"""How values look on a page."""

from datetime import timedelta
from urllib.parse import unquote

import pytest
from markupsafe import Markup

from dashboards import formats
from schemas.alert import RateEstimate
from tests.builders import NOW


def test_rate_is_told_with_its_interval_and_n() -> None:
    """A rate never stands alone."""
    rate = RateEstimate(rate=0.201, low=0.172, high=0.234, n=812)
    assert formats.rate_text(rate) == "20.1 % [17.2, 23.4], n = 812"


def test_rate_of_nothing_is_not_zero() -> None:
    """Without judged answers there is no rate and no interval."""
    rate = RateEstimate(rate=None, low=0, high=1, n=0)
    assert formats.rate_text(rate) == "no judged answers"
    assert formats.interval(rate) == ""


@pytest.mark.parametrize(
    ("share", "text"),
    [(None, "–"), (0.0, "0.0 %"), (0.0001, "< 0.1 %"), (0.9999, "> 99.9 %"), (1.0, "100.0 %"), (0.0049, "0.5 %")],
)
def test_percent_never_rounds_to_a_false_end(share: float | None, text: str) -> None:
    """Only an exact 0 or 1 shows as 0.0 or 100.0."""
    assert formats.percent(share) == text


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(seconds=-5), "0 s"),
        (timedelta(seconds=59), "59 s"),
        (timedelta(minutes=1), "1 min"),
        (timedelta(hours=1, minutes=40), "1 h 40 min"),
        (timedelta(hours=7, minutes=47), "7 h"),
        (timedelta(days=2, hours=3), "2 d 3 h"),
        (timedelta(days=2, minutes=3), "2 d"),
    ],
)
def test_duration_keeps_what_matters(span: timedelta, text: str) -> None:
    """Two units below three of the first, one from there on."""
    assert formats.duration(span) == text


def test_ago_tells_a_moment_ahead_as_such() -> None:
    """A clock ahead of ours is not hidden."""
    assert formats.ago(NOW + timedelta(minutes=5), NOW) == "in 5 min"
    assert formats.ago(NOW - timedelta(minutes=5), NOW) == "5 min ago"
    assert formats.ago(None, NOW) == "–"


@pytest.mark.parametrize(
    "trace_id", ["a/b?c#d%2e&e=f", "../../x", "..", ".", "javascript:alert(1)", '"><script>', "ü\x00"]
)
def test_trace_link_keeps_any_id_inside_its_segment(trace_id: str) -> None:
    """Nothing in an id can end the segment, climb up, or become a scheme."""
    link = formats.trace_link(trace_id, NOW)
    base, _, rest = link.removeprefix("/traces/2026-03-10T12:00:00Z").partition("?id=")
    segment = rest or base.removeprefix("/")
    assert trace_id == unquote(segment)
    assert set(segment) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%")
    assert base.strip("/.") or rest


def test_visible_replaces_what_html_cannot_carry() -> None:
    """NUL, other controls and lone surrogates show as U+FFFD; line breaks stay, markup made by us stays."""
    assert formats.visible("a\x00b\ud800c\nd\te\x1b") == "a\ufffdb\ufffdc\nd\te\ufffd"
    made = Markup("<b>\x00</b>")
    assert formats.visible(made) is made


def test_link_time_is_exact() -> None:
    """To the microsecond, as the store keeps it."""
    assert formats.iso(NOW.replace(microsecond=123456)) == "2026-03-10T12:00:00.123456Z"
