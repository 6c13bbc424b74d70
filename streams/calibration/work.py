"""Verdicts on labelled answers in, the whole report out; pure but for the numbers that the seed fixes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from alerts.power import evidence_for_page
from detectors.calibration import GRID, ClaimPair, Pair, Paired, claim_pairs, counted, paired, reliability
from detectors.golden import GoldenSet
from detectors.golden.stats import ENOUGH_LABELS
from schemas.labels import ClaimLabel, Outcome, RiskTier
from schemas.slice import Slice
from schemas.verdict import Verdict
from streams.calibration.operating import operating_point
from streams.calibration.remarks import remarks_of
from streams.calibration.report import (
    AnswerConfusion,
    CalibrationReport,
    ClaimConfusion,
    CurvePoint,
    OperatingPoint,
    ReliabilityBin,
    ReliabilityFigure,
    SliceFigure,
    ThresholdFigure,
)
from streams.calibration.shares import confusion, missing, share
from streams.calibration.suggesting import suggestion
from streams.calibration.thresholds import at_threshold, bar_of, threshold_figure, with_fallback
from streams.calibration.wanted import FOLDS, TABLE, Wanted

_CLAIM_IS_GOOD = {ClaimLabel.SUPPORTED: True, ClaimLabel.CONTRADICTED: False, ClaimLabel.UNSUPPORTED: False}


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the labelled answers are from: files, and the version of the golden set in each."""

    files: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()


def calibrate(
    golden: GoldenSet, verdicts: Mapping[str, Verdict], wanted: Wanted, sources: Sources
) -> CalibrationReport:
    """The report; ``verdicts`` by case id, one for every case with a labelled answer or claim."""
    labelled = golden.labelled()
    found = paired(labelled, [verdicts[item.case.case_id] for item in labelled])
    cases = [case for case in golden.cases if any(claim.label for claim in case.claims)]
    claims = [pair for case in cases for pair in claim_pairs(case, verdicts[case.case_id])]
    pooled = threshold_figure(found.pairs, None, wanted)
    own = {tier: [pair for pair in found.pairs if pair.tier is tier] for tier in RiskTier}
    tiers = tuple(with_fallback(threshold_figure(pairs, tier, wanted), pooled) for tier, pairs in own.items() if pairs)
    operating = tuple(_operating(found.pairs, wanted))
    report = CalibrationReport(
        files=sources.files,
        versions=sources.versions,
        is_holdout=wanted.is_holdout,
        policy=wanted.policy.name,
        fingerprint=next((verdict.fingerprint for verdict in verdicts.values()), ""),
        target=wanted.target.measure,
        target_value=wanted.target.value,
        folds=FOLDS,
        seed=wanted.seed,
        labels=len(found.pairs),
        missing=missing(len(found.pairs)),
        labels_needed=ENOUGH_LABELS,
        is_enough=not missing(len(found.pairs)) and 0 < pooled.hallucinated < pooled.labels,
        left_out=_left_out(found),
        evidence_nats=evidence_for_page(wanted.jump, wanted.slices, wanted.deploys_per_month),
        pooled=pooled,
        tiers=tiers,
        curve=_curve(found.pairs),
        operating=operating,
        by_base_rate=tuple(operating_point(found.pairs, None, wanted, (rate, "given")) for rate in TABLE),
        reliability=(_of_answers(found.pairs), _of_claims(claims)),
        answers=_answers(found.confusion),
        claims=_claims(claims),
        slices=_slices(found.pairs, tiers, wanted),
        suggestion=suggestion(tiers, operating[0], wanted),
        remarks=(),
    )
    return report.model_copy(update={"remarks": remarks_of(report)})


def _operating(pairs: Sequence[Pair], wanted: Wanted) -> list[OperatingPoint]:
    """All together first, then every slice at its own base rate."""
    found = [operating_point(pairs, None, wanted, wanted.rate_of(None))]
    for cell, own in _by_slice(pairs).items():
        found.append(operating_point(own, cell, wanted, wanted.rate_of(cell)))
    return found


def _curve(pairs: Sequence[Pair]) -> tuple[CurvePoint, ...]:
    curve = counted(pairs).curve()
    shares = [(threshold, confusion(curve.at(place))) for place, threshold in enumerate(GRID.tolist())]
    return tuple(
        CurvePoint(
            threshold=threshold,
            precision=found.precision.rate,
            recall=found.recall.rate,
            specificity=found.specificity.rate,
        )
        for threshold, found in shares
        if pairs
    )


def _by_slice(pairs: Sequence[Pair]) -> dict[Slice, list[Pair]]:
    cells: dict[tuple[str, RiskTier], list[Pair]] = {}
    for pair in pairs:
        cells.setdefault((pair.intent, pair.tier), []).append(pair)
    return {Slice(intent=intent, tier=tier): own for (intent, tier), own in sorted(cells.items())}


def _slices(pairs: Sequence[Pair], tiers: Sequence[ThresholdFigure], wanted: Wanted) -> tuple[SliceFigure, ...]:
    used = {figure.tier: figure.used for figure in tiers}
    found = []
    for cell, own in _by_slice(pairs).items():
        chosen = used[cell.tier]
        threshold = bar_of(cell.tier, wanted) if chosen is None else chosen
        found.append(
            SliceFigure(
                intent=cell.intent,
                tier=cell.tier,
                labels=len(own),
                missing=missing(len(own)),
                hallucinated=sum(pair.is_bad for pair in own),
                threshold=threshold,
                is_bar=chosen is None,
                confusion=confusion(at_threshold(own, threshold)),
            )
        )
    return tuple(found)


def _of_answers(pairs: Sequence[Pair]) -> ReliabilityFigure:
    return _reliability("answers", [pair.score for pair in pairs], [not pair.is_bad for pair in pairs])


def _of_claims(claims: Sequence[ClaimPair]) -> ReliabilityFigure:
    known = [(one.support, _CLAIM_IS_GOOD[one.expected]) for one in claims if one.expected in _CLAIM_IS_GOOD]
    scored = [(support, is_good) for support, is_good in known if support is not None]
    return _reliability("claims", [support for support, _ in scored], [is_good for _, is_good in scored])


def _reliability(of: str, scores: list[float], are_good: list[bool]) -> ReliabilityFigure:
    found = reliability(scores, are_good)
    figure = ReliabilityFigure(of=of, labels=len(scores), missing=missing(len(scores)))
    if found is None:
        return figure
    bins = tuple(
        ReliabilityBin(low=one.low, high=one.high, mean_score=one.mean_score, good=share(one.good, one.n))
        for one in found.bins
    )
    return figure.model_copy(
        update={"bins": bins, "ece": found.ece, "brier": found.brier, "brier_of_mean": found.brier_of_mean}
    )


def _left_out(found: Paired) -> dict[str, int]:
    labels = {f"label {label.value}": number for label, number in found.left_out_labels.items()}
    return labels | {f"verdict {outcome.value}": number for outcome, number in found.left_out_verdicts.items()}


def _answers(counts: Mapping[tuple[Outcome, Outcome], int]) -> tuple[AnswerConfusion, ...]:
    order = list(Outcome)
    rows = sorted(counts.items(), key=lambda item: tuple(order.index(part) for part in item[0]))
    return tuple(AnswerConfusion(label=label, outcome=outcome, answers=n) for (label, outcome), n in rows)


def _claims(pairs: Sequence[ClaimPair]) -> tuple[ClaimConfusion, ...]:
    order = [*ClaimLabel, None]
    counts = Counter((pair.expected, pair.judged) for pair in pairs)
    rows = sorted(counts.items(), key=lambda item: tuple(order.index(part) for part in item[0]))
    return tuple(ClaimConfusion(label=label, judged=judged, claims=n) for (label, judged), n in rows)
