"""The report of a gate run, put together from results; the one shape behind terminal, JSON and JUnit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from detectors.fingerprint import changed_parts
from detectors.gate import Bucket, CaseResult, Change, Status, buckets_of, pair_up
from schemas.base import Record
from schemas.golden import Split
from schemas.labels import RiskTier
from streams.gate.comparison import Comparison, compare
from streams.gate.gates import GateResult, gate_results
from streams.gate.limits import Limits
from streams.gate.summary import Summary, slices_of, summarise


class RunInfo(Record):
    """One run: how many cases it answers, what it was judged by, and the versions that its traces name.

    ``strangers`` are answers that belong to no case. ``fingerprint`` is empty for a run without an answer.
    """

    file: str
    answers: int
    strangers: int
    policy: str
    policy_id: str
    fingerprint: str
    fingerprint_parts: dict[str, str]
    versions: dict[str, tuple[str, ...]]


class ChangedPart(Record):
    """Something that differs between the runs."""

    part: str
    before: str
    after: str


class GateReport(Record):
    """What ``gate`` prints. ``product`` and ``judging`` are set with a baseline; see docs/gate.md.

    ``product`` compares the answers of both runs under the candidate's policy; ``judging`` compares the baseline's own
    answers under the two policies, None where these are the same.
    """

    is_passed: bool
    golden: str
    golden_version: str
    splits: tuple[Split, ...]
    candidate: RunInfo
    baseline: RunInfo | None = None
    gates: tuple[GateResult, ...]
    whole: Summary
    tiers: tuple[Summary, ...]
    slices: tuple[Summary, ...]
    product: Comparison | None = None
    judging: Comparison | None = None
    changed_product: tuple[ChangedPart, ...] = ()
    changed_judging: tuple[ChangedPart, ...] = ()
    buckets_are_of: str
    """``newly_failed`` with a baseline, else ``failed``."""
    buckets: tuple[Bucket, ...]
    results: tuple[CaseResult, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The earlier run: judged by the candidate's policy, and by its own where that is another one."""

    info: RunInfo
    results: Sequence[CaseResult]
    by_own_policy: Sequence[CaseResult] | None = None


@dataclass(frozen=True, slots=True)
class Golden:
    """The set that was asked."""

    file: str
    version: str
    splits: tuple[Split, ...] = ()


def report_of(
    golden: Golden, candidate: RunInfo, results: Sequence[CaseResult], limits: Limits, baseline: Baseline | None
) -> GateReport:
    """The whole report; regressions count the product's change alone, so a stricter policy blames nobody's release."""
    product = compare(baseline.results, results) if baseline else None
    by_own = baseline.by_own_policy if baseline else None
    judging = compare(by_own, baseline.results) if baseline and by_own is not None else None
    gates = gate_results(results, limits, product)
    failed = [result for result in results if result.status is Status.FAILED]
    if baseline:
        failed = [pair.after for pair in pair_up(baseline.results, results) if pair.change is Change.NEWLY_FAILED]
    summaries = [summarise(results, tier=tier) for tier in reversed(RiskTier)]
    return GateReport(
        is_passed=all(gate.is_passed for gate in gates),
        golden=golden.file,
        golden_version=golden.version,
        splits=golden.splits,
        candidate=candidate,
        baseline=baseline.info if baseline else None,
        gates=gates,
        whole=summarise(results),
        tiers=tuple(summary for summary in summaries if summary.cases),
        slices=tuple(summarise(results, intent, tier) for intent, tier in slices_of(results)),
        product=product,
        judging=judging,
        changed_product=_changed(_product_of(baseline.info), _product_of(candidate)) if baseline else (),
        changed_judging=_changed(_judging_of(baseline.info), _judging_of(candidate)) if baseline else (),
        buckets_are_of="newly_failed" if baseline else "failed",
        buckets=buckets_of(failed),
        results=tuple(results),
    )


def _product_of(run: RunInfo) -> dict[str, str]:
    return {name: ", ".join(values) for name, values in run.versions.items()}


def _judging_of(run: RunInfo) -> dict[str, str]:
    """The policy has more than the fingerprint: bars, critical rules, whether citations are required."""
    return {"policy": f"{run.policy} ({run.policy_id})", **run.fingerprint_parts}


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[ChangedPart, ...]:
    return tuple(ChangedPart(part=name, before=old, after=new) for name, old, new in changed_parts(before, after))
