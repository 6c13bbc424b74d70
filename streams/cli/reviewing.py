"""Reviews for commands: asked of the running process, else worked out on the store itself."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from schemas.errors import ConfigError
from schemas.golden import GoldenCase
from streams.cli.opened import opened_store, running_process
from streams.reviews.cases import golden_cases
from streams.reviews.exporting import Wanted, export
from streams.reviews.given import GivenLabel
from streams.reviews.importing import Defaults, ReviewImport, import_labels
from streams.reviews.rows import ReviewRow
from streams.reviews.summary import ReviewStats, StatsWanted, review_stats
from streams.settings import Settings, deployment_salt
from streams.store import ALL_TENANTS, ReviewFilter, Tenants

MOST_CHARACTERS = 400_000
"""Of labels in one request; the process takes a megabyte."""
_Query = dict[str, str | int | list[str]]


def exported(settings: Settings, wanted: Wanted, tenants: Sequence[str]) -> list[ReviewRow]:
    """Answers to label. Raises NotReached when nothing was judged, ConfigError, StoreUnavailable."""
    if process := running_process(settings):
        asked: _Query = {
            **_query(wanted.answers, tenants),
            "limit": wanted.count,
            "flagged_share": str(wanted.flagged_share),
            "fingerprint": wanted.fingerprint,
            "kind": wanted.kind.value,
            "trace": [*wanted.trace_ids],
            "reviewer": wanted.reviewer,
            "unblinded": str(not wanted.is_blind).lower(),
        }
        rows = process.get("/api/v1/reviews/draw", is_long=True, **asked)
        return [ReviewRow.model_validate(row) for row in rows]
    with opened_store(settings, read_only=True) as store:
        return export(store, wanted, deployment_salt(settings), _tenants(tenants))


def imported(
    settings: Settings, rows: Sequence[GivenLabel], defaults: Defaults, tenants: Sequence[str], *, check_only: bool
) -> ReviewImport:
    """What became of the labels; with a fault in any row none is taken. Raises ConfigError, StoreUnavailable."""
    if process := running_process(settings):
        parts = list(_parts(rows))
        whole: list[ReviewImport] = []
        for is_trial in (True,) if check_only else (True, False):
            whole = [
                ReviewImport.model_validate(process.post("/api/v1/reviews", body, **_whose(tenants)))
                for body in (_body(part, defaults, check_only=is_trial) for part in parts)
            ]
            if any(part.faults for part in whole):
                return _together(whole, is_refused=True)
        return _together(whole, is_refused=False)
    with opened_store(settings, read_only=check_only) as store:
        return import_labels(store, rows, deployment_salt(settings), defaults, _tenants(tenants), check_only=check_only)


def stats(settings: Settings, wanted: StatsWanted, tenants: Sequence[str]) -> ReviewStats:
    """Corrected rates, agreement, disagreements. Raises StoreUnavailable, NotReached."""
    if process := running_process(settings):
        asked: _Query = {**_query(wanted.answers, tenants), "fingerprint": wanted.fingerprint, "seed": wanted.seed}
        return ReviewStats.model_validate(process.get("/api/v1/reviews/stats", is_long=True, **asked))
    with opened_store(settings, read_only=True) as store:
        return review_stats(store, wanted, _tenants(tenants))


def cases(settings: Settings, answers: ReviewFilter, tenants: Sequence[str]) -> tuple[list[GoldenCase], list[str]]:
    """Labelled answers as golden cases, and why others are none. Raises StoreUnavailable, NotReached."""
    if process := running_process(settings):
        found = process.get("/api/v1/reviews/cases", is_long=True, **_query(answers, tenants))
        return [GoldenCase.model_validate(case) for case in found["cases"]], list(found["refused"])
    with opened_store(settings, read_only=True) as store:
        return golden_cases(store, answers, _tenants(tenants))


def days(since: datetime | None, until: datetime | None, default: ReviewFilter) -> ReviewFilter:
    """The default's times where others are not given. Raises ConfigError when nothing lies between them."""
    start, end = since or default.since, until or default.until
    if start >= end:
        raise ConfigError("--since must be before --until; give an earlier --since")
    return ReviewFilter(start, end, default.intents, default.tier)


def _query(answers: ReviewFilter, tenants: Sequence[str]) -> _Query:
    asked: _Query = {
        "since": answers.since.isoformat(),
        "until": answers.until.isoformat(),
        "intent": [*answers.intents],
    }
    if answers.tier is not None:
        asked["tier"] = answers.tier.value
    return {**asked, "tenant": list(tenants)} if tenants else {**asked, "tenants": "all"}


def _whose(tenants: Sequence[str]) -> dict[str, str]:
    if len(tenants) > 1:
        raise ConfigError("--tenant: labels are taken for one tenant at a time, or for all; give one")
    return {"tenant": tenants[0]} if tenants else {"tenants": "all"}


def _body(rows: Sequence[GivenLabel], defaults: Defaults, *, check_only: bool) -> str:
    return json.dumps(
        {
            "rows": [row.model_dump(mode="json", exclude_defaults=True) for row in rows],
            "reviewer": defaults.reviewer,
            "is_adjudication": defaults.is_adjudication,
            "check_only": check_only,
        }
    )


def _parts(rows: Sequence[GivenLabel]) -> Iterator[list[GivenLabel]]:
    """Rows in requests of bounded size; those of one answer stay together, for its label may follow from its claims."""
    part: list[GivenLabel] = []
    size = 0
    for row in rows:
        if part and size > MOST_CHARACTERS and row.ref != part[-1].ref:
            yield part
            part, size = [], 0
        part.append(row)
        size += len(row.model_dump_json())
    yield part


def _together(parts: Sequence[ReviewImport], *, is_refused: bool) -> ReviewImport:
    faults = tuple(fault for part in parts for fault in part.faults)
    if is_refused:
        return ReviewImport(unchanged=sum(part.unchanged for part in parts), faults=faults)
    return ReviewImport(
        taken=sum(part.taken for part in parts),
        derived=sum(part.derived for part in parts),
        unchanged=sum(part.unchanged for part in parts),
        answers=sum(part.answers for part in parts),
    )


def _tenants(names: Sequence[str]) -> Tenants:
    return frozenset(names) if names else ALL_TENANTS
