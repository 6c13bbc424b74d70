"""Golden cases from the store: a trace as a case, and what reviewers labelled."""

from datetime import datetime

from schemas.golden import GoldenCase
from streams.settings import Settings


def case_of_trace(settings: Settings, trace_id: str, tenants: list[str]) -> GoldenCase:
    """A stored trace as a case without labels. Raises NotReached, StoreUnavailable."""
    from streams.cli.traces import read_trace  # noqa: PLC0415  the store's client is slow to import
    from streams.reviews.cases import case_of_stored  # noqa: PLC0415

    return case_of_stored(read_trace(settings, trace_id, tenants))


def cases_of_reviews(
    settings: Settings, since: datetime, until: datetime, intent: str, tenants: list[str]
) -> tuple[list[GoldenCase], list[str]]:
    """A case for every answer that reviewers agree on, and why others are none. Raises NotReached, StoreUnavailable."""
    from streams.cli.reviewing import cases, days  # noqa: PLC0415  as above
    from streams.store import ReviewFilter  # noqa: PLC0415

    wanted = days(since, until, ReviewFilter(since, until, (intent,) if intent else ()))
    return cases(settings, wanted, tenants)
