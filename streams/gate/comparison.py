"""Two runs compared case by case: what changed, whether chance explains it, and how far the share of passed moved."""

from collections.abc import Sequence

from detectors.gate import CasePair, CaseResult, Change, Diagnosis, changes_of, flips_of, pair_up
from detectors.gate.pairing import label_of
from sampling.paired import PairedCounts, mcnemar_exact, paired_difference
from schemas.base import Record
from schemas.labels import RiskTier
from streams.gate.summary import slices_of


class PairedShare(Record):
    """All cases, or those of a slice. ``difference`` is passed now minus passed before, with its 95 % interval.

    ``p_value``: McNemar's exact test. Undecided cases are in neither.
    """

    intent: str | None = None
    tier: RiskTier | None = None
    n: int
    still_passed: int
    newly_failed: int
    newly_passed: int
    still_failed: int
    undecided: int
    difference: float
    low: float
    high: float
    p_value: float


class CaseChange(Record):
    """A case whose result or label changed; ``diagnosis`` is the later one, None for a case that passed."""

    case_id: str
    intent: str
    tier: RiskTier
    change: Change
    before: str
    after: str
    diagnosis: Diagnosis | None = None


class Comparison(Record):
    """The later run against the earlier one."""

    whole: PairedShare
    slices: tuple[PairedShare, ...]
    newly_failed: tuple[str, ...]
    newly_passed: tuple[str, ...]
    flips: dict[str, int]
    """How often each change of an answer's label occurs."""
    changes: tuple[CaseChange, ...]


def compare(before: Sequence[CaseResult], after: Sequence[CaseResult]) -> Comparison:
    """What changed between two runs over the same cases."""
    pairs = pair_up(before, after)
    changed = [pair for pair in pairs if pair.flip or pair.change in {Change.NEWLY_FAILED, Change.NEWLY_PASSED}]
    return Comparison(
        whole=_share(pairs),
        slices=tuple(
            _share([pair for pair in pairs if (pair.after.intent, pair.after.tier) == own], *own)
            for own in slices_of(after)
        ),
        newly_failed=_ids(pairs, Change.NEWLY_FAILED),
        newly_passed=_ids(pairs, Change.NEWLY_PASSED),
        flips=flips_of(pairs),
        changes=tuple(_change(pair) for pair in changed),
    )


def _ids(pairs: Sequence[CasePair], change: Change) -> tuple[str, ...]:
    return tuple(pair.after.case_id for pair in pairs if pair.change is change)


def _change(pair: CasePair) -> CaseChange:
    return CaseChange(
        case_id=pair.after.case_id,
        intent=pair.after.intent,
        tier=pair.after.tier,
        change=pair.change,
        before=label_of(pair.before),
        after=label_of(pair.after),
        diagnosis=pair.after.diagnosis,
    )


def _share(pairs: Sequence[CasePair], intent: str | None = None, tier: RiskTier | None = None) -> PairedShare:
    found = changes_of(pairs)
    lost, gained = found[Change.NEWLY_FAILED], found[Change.NEWLY_PASSED]
    counts = PairedCounts(found[Change.STILL_PASSED], lost, gained, found[Change.STILL_FAILED])
    difference, low, high = paired_difference(counts)
    return PairedShare(
        intent=intent,
        tier=tier,
        n=counts.n,
        still_passed=counts.both,
        newly_failed=lost,
        newly_passed=gained,
        still_failed=counts.neither,
        undecided=found[Change.UNDECIDED],
        difference=difference,
        low=low,
        high=high,
        p_value=mcnemar_exact(lost, gained),
    )
