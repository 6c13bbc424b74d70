"""What a reader must know of the figures, in words: what is missing, out of reach, never found, or flattering."""

from collections.abc import Iterator

from streams.calibration.report import CalibrationReport, ReliabilityFigure, ThresholdFigure

_MOST_SLICES = 20


def remarks_of(report: CalibrationReport) -> tuple[str, ...]:
    """Sentences, the most important first; texts of intents are untrusted."""
    return tuple(_remarks(report))


def _remarks(report: CalibrationReport) -> Iterator[str]:
    if report.missing:
        yield (
            f"{report.labels} labelled and scored answers, {report.missing} fewer than the {report.labels_needed} that "
            "a figure needs: take all of these as guesses"
        )
    if report.labels and report.pooled.hallucinated in {0, report.labels}:
        word = "grounded" if not report.pooled.hallucinated else "hallucinated"
        yield f"people call all of these answers {word}: without the other kind nothing can be chosen or measured"
    if not report.is_holdout:
        for figure in (report.pooled, *report.tiers):
            yield from _threshold(figure, report)
        yield from _alert(report)
    yield from _operating(report)
    for reliability in report.reliability:
        yield from _reliability(reliability)
    few = [one for one in report.slices if one.missing]
    if few:
        names = ", ".join(f"{one.intent}/{one.tier} {one.missing}" for one in few[:_MOST_SLICES])
        more = f" and {len(few) - _MOST_SLICES} more" if len(few) > _MOST_SLICES else ""
        yield f"labels missing by slice: {names}{more}"


def _threshold(figure: ThresholdFigure, report: CalibrationReport) -> Iterator[str]:
    name = figure.tier or "all tiers together"
    if figure.tier is not None and figure.uses_pooled:
        why = f"{figure.missing} labels are missing" if figure.missing else "people call all answers alike"
        yield f"{name}: {why}, so the pooled threshold is used"
        return
    if figure.threshold is None:
        return
    wanted = f"a {report.target} of {report.target_value:.2f}"
    if not figure.is_reached:
        nearest = f"the nearest is {figure.threshold:.2f}, not suggested"
        yield f"{name}: {wanted} is out of reach at every threshold; {nearest}"
    elif not figure.is_sure:
        yield f"{name}: {wanted} is reached, but the interval of the cross-fitted figure reaches below it"


def _alert(report: CalibrationReport) -> Iterator[str]:
    if report.suggestion.alert_threshold is not None:
        yield "thresholds are part of the fingerprint: changing them starts a new series with a new baseline"


def _operating(report: CalibrationReport) -> Iterator[str]:
    whole = report.operating[0]
    if whole.base_rate_from == "default":
        yield (
            f"no base rate is known, so {whole.base_rate:.0%} is taken; give --base-rate, or --reviews once there are "
            "enough labels"
        )
    at_rates = {point.base_rate: point for point in (*report.by_base_rate, whole)}
    for point in at_rates.values():
        figure = point.at_policy if report.is_holdout else point.cross_fitted or point.best
        if figure is not None and figure.answers is None:
            yield (
                f"at a base rate of {point.base_rate:.1%} a doubling moves the apparent rate from "
                f"{figure.apparent_before:.1%} to {figure.apparent_after:.1%} only, too little for the jump test's "
                "smallest bet: it would not be found"
            )


def _reliability(figure: ReliabilityFigure) -> Iterator[str]:
    if figure.missing:
        yield f"reliability of {figure.of}: {figure.labels} labels, {figure.missing} are missing"
