"""Query parameters."""

from datetime import timedelta

import pytest

from dashboards import params
from dashboards.periods import WEEK
from schemas.labels import RiskTier
from tests.builders import NOW


def test_period_is_a_week_unless_asked() -> None:
    """The default shows a jump of half a day well."""
    assert WEEK is params.period({})


@pytest.mark.parametrize(
    "query",
    [
        {"tier": "huge"},
        {"since": "yesterday"},
        {"until": "2026-13-01"},
        {"intent": "x" * 201},
        {"since": "0001-01-01T00:00:00+23:00"},
        {"since": "1969-12-31T23:59:59Z"},
        {"until": "9999-12-31T23:59:59Z"},
    ],
)
def test_wrong_filters_are_refused_by_name(query: dict[str, str]) -> None:
    """A wrong link does not show everything, and its value is not repeated."""
    with pytest.raises(params.BadQuery, match=next(iter(query))) as caught:
        params.filters(query)
    assert next(iter(query.values())) not in str(caught.value)


def test_empty_parameters_mean_all() -> None:
    """As a form sends them."""
    assert params.Filters() == params.filters({"intent": "", "tier": "", "since": ""})


def test_link_leads_back_to_the_same_filters() -> None:
    """Whatever the intent holds."""
    chosen = params.Filters("a&b=c d/é", RiskTier.HIGH, NOW - timedelta(hours=1), NOW)
    query = dict(part.split("=", 1) for part in chosen.link().partition("?")[2].split("&"))
    assert chosen == params.filters({name: params_value(value) for name, value in query.items()})


def params_value(text: str) -> str:
    """A query value as a server reads it."""
    from urllib.parse import unquote_plus  # noqa: PLC0415 (used by this helper alone)

    return unquote_plus(text)


def test_moment_without_offset_is_utc() -> None:
    """All times are UTC."""
    assert params.moment({"since": "2026-03-10T12:00"}, "since") == NOW
