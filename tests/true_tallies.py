"""Tallies computed the slow and obvious way from deliveries: what the store's incremental rebuild must agree with."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from schemas.draw import DrawnTrace
from schemas.labels import ClaimLabel, FailureLabel, Outcome
from schemas.tally import BUCKET, HISTOGRAM_BINS, Tally, bucket_start
from schemas.trace import Versions
from schemas.verdict import Verdict

MOST_VERSIONS = 20
OTHER = Versions(model="other", prompt="other", corpus="other", retriever="other", app="other")
_CITATIONS = {FailureLabel.CITATION_MISSING, FailureLabel.CITATION_UNKNOWN, FailureLabel.CITATION_MISMATCH}
_SUMS = sorted(
    set(Tally.model_fields)
    - {"bucket", "intent", "tier", "stratum", "versions", "policy_id", "fingerprint", "histogram", "outcomes"}
)


def newest_traces(deliveries: Iterable[DrawnTrace]) -> dict[tuple[datetime, str], DrawnTrace]:
    """Of each trace the largest revision, of equal ones the last delivered."""
    newest: dict[tuple[datetime, str], DrawnTrace] = {}
    for row in deliveries:
        key = (bucket_start(row.trace.ts), row.trace.trace_id)
        if key not in newest or row.trace.revision >= newest[key].trace.revision:
            newest[key] = row
    return newest


def newest_verdicts(deliveries: Iterable[Verdict]) -> dict[tuple[datetime, str, str], Verdict]:
    """Of each trace and fingerprint the verdict on the largest revision, then the last verified, then delivered."""
    newest: dict[tuple[datetime, str, str], Verdict] = {}
    for row in deliveries:
        key = (bucket_start(row.ts), row.trace_id, row.fingerprint)
        known = newest.get(key)
        if known is None or (row.revision, row.verified_at) >= (known.revision, known.verified_at):
            newest[key] = row
    return newest


def true_tallies(traces: Iterable[DrawnTrace], verdicts: Iterable[Verdict]) -> list[Tally]:
    """The 5-minute tallies of these deliveries, in order."""
    seen, found = newest_traces(traces), newest_verdicts(verdicts)
    judged = {(bucket, trace_id) for bucket, trace_id, _ in found}
    folded = _folded(seen.values())
    rows = [_traffic(row, folded[key], is_pending=key not in judged) for key, row in seen.items()]
    for (bucket, trace_id, _), verdict in found.items():
        row = seen.get((bucket, trace_id))
        if row is not None and row.draw.drawn:
            rows.append(_judged(row, folded[bucket, trace_id], verdict))
    return summed(rows)


def summed(
    rows: Iterable[Tally], *, step: timedelta = BUCKET, by_version: bool = True, by_policy: bool = True
) -> list[Tally]:
    """Tallies added up over ``step``, in order."""
    cells: dict[tuple[object, ...], list[Tally]] = defaultdict(list)
    for row in rows:
        kept = _merged(row, step, by_version=by_version, by_policy=by_policy)
        cells[cell_key(kept)].append(kept)
    return [_sum(cells[key]) for key in sorted(cells)]


def cell_key(tally: Tally) -> tuple[object, ...]:
    """What makes two tallies the same cell, in the order of the store's answers."""
    tags = tuple(tally.versions.model_dump().values())
    return (tally.bucket, tally.intent, tally.tier.value, tally.stratum, *tags, tally.policy_id, tally.fingerprint)


def _merged(row: Tally, step: timedelta, *, by_version: bool, by_policy: bool) -> Tally:
    seconds = int(row.bucket.timestamp())
    start = datetime.fromtimestamp(seconds - seconds % int(step.total_seconds()), row.bucket.tzinfo)
    update: dict[str, object] = {"bucket": start}
    if not by_version:
        update["versions"] = Versions()
    if not (by_policy and by_version):
        update["policy_id"] = ""
    return row.model_copy(update=update)


def _sum(rows: Sequence[Tally]) -> Tally:
    sums: dict[str, object] = {name: sum(getattr(row, name) for row in rows) for name in _SUMS}
    for name in ("histogram", "outcomes"):
        sums[name] = tuple(sum(column) for column in zip(*(getattr(row, name) for row in rows), strict=True))
    return rows[0].model_copy(update=sums)


def _folded(rows: Iterable[DrawnTrace]) -> dict[tuple[datetime, str], Versions]:
    by_hour: dict[tuple[datetime, str], list[DrawnTrace]] = defaultdict(list)
    for row in rows:
        by_hour[row.trace.ts.replace(minute=0, second=0, microsecond=0), row.trace.intent].append(row)
    versions: dict[tuple[datetime, str], Versions] = {}
    for group in by_hour.values():
        counts = Counter(tuple(row.trace.versions.model_dump().values()) for row in group)
        kept = {tags for tags, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_VERSIONS]}
        for row in group:
            own = row.trace.versions
            is_kept = tuple(own.model_dump().values()) in kept
            versions[bucket_start(row.trace.ts), row.trace.trace_id] = own if is_kept else OTHER
    return versions


def _cell(row: DrawnTrace, versions: Versions, **fields: object) -> Tally:
    return Tally.model_validate(
        {
            "bucket": bucket_start(row.trace.ts),
            "intent": row.trace.intent,
            "tier": row.trace.tier,
            "stratum": row.draw.stratum,
            "versions": versions,
            "policy_id": row.draw.policy_id,
            **fields,
        }
    )


def _traffic(row: DrawnTrace, versions: Versions, *, is_pending: bool) -> Tally:
    return _cell(
        row,
        versions,
        traffic=1,
        drawn=int(row.draw.drawn),
        pending=int(row.draw.drawn and is_pending),
        empty_retrieval=int(row.screening.is_empty_retrieval),
        citation_failure=int(bool(_CITATIONS & set(row.screening.failures))),
    )


def _judged(row: DrawnTrace, versions: Versions, verdict: Verdict) -> Tally:
    n = int(verdict.outcome.is_judged)
    k = float(verdict.outcome is Outcome.HALLUCINATED)
    weight = 1 / row.draw.inclusion_probability
    labels = Counter(claim.label for claim in verdict.claims)
    scorable = (ClaimLabel.SUPPORTED, ClaimLabel.CONTRADICTED, ClaimLabel.UNSUPPORTED)
    place = None if verdict.score is None else min(HISTOGRAM_BINS - 1, int(verdict.score * HISTOGRAM_BINS))
    return _cell(
        row,
        versions,
        fingerprint=verdict.fingerprint,
        judged=n,
        hallucinated=k,
        sum_w=n * weight,
        sum_wk=n * weight * k,
        sum_w2=n * weight * weight,
        nested_judged=n * row.draw.is_nested,
        nested_hallucinated=k * row.draw.is_nested,
        histogram=tuple(int(index == place) for index in range(HISTOGRAM_BINS)),
        outcomes=tuple(int(outcome is verdict.outcome) for outcome in Outcome),
        claims_scorable=sum(labels[label] for label in scorable),
        claims_unsupported=labels[ClaimLabel.UNSUPPORTED],
        claims_contradicted=labels[ClaimLabel.CONTRADICTED],
        over_refusal=int(FailureLabel.OVER_REFUSAL in verdict.failures),
    )
