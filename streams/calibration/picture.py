"""The plots of a report as a PNG, for places that show no page; drawn by matplotlib, which is optional."""

import io
from typing import TYPE_CHECKING

from schemas.errors import ConfigError
from streams.calibration.report import CalibrationReport, ReliabilityFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES = {
    "cross_fitted": "flags, cross-fitted",
    "fractions": "fractions, cross-fitted",
    "at_policy": "flags at the policy now",
}


def calibration_picture(report: CalibrationReport) -> bytes:
    """Reliability, shares by threshold, the answers that a doubling takes. Raises ConfigError without matplotlib."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  optional, and slow to import
    except ImportError as error:
        told = "the picture needs matplotlib, which is not installed; install groundwatch[reports]"
        raise ConfigError(told) from error
    figure = Figure(figsize=(11, 9), dpi=110, layout="constrained")
    axes = figure.subplots(2, 2)
    for place, one in zip((axes[0, 0], axes[0, 1]), report.reliability, strict=True):
        _reliability(place, one)
    _curve(axes[1, 0], report)
    _power(axes[1, 1], report)
    what = "hold-out" if report.is_holdout else "calibration"
    few = "" if report.is_enough else f"; too few labels, {report.missing} missing"
    figure.suptitle(f"Groundwatch {what}: {report.labels} labelled answers, detector {report.fingerprint}{few}")
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": "Groundwatch"})
    return out.getvalue()


def _reliability(axes: "Axes", figure: ReliabilityFigure) -> None:
    known = [(one, one.good.rate) for one in figure.bins if one.good.rate is not None]
    axes.plot([0, 1], [0, 1], linestyle="--", color="grey", linewidth=1)
    axes.errorbar(
        [one.mean_score for one, _ in known],
        [rate for _, rate in known],
        yerr=[[rate - one.good.low for one, rate in known], [one.good.high - rate for one, rate in known]],
        fmt="o",
        capsize=3,
    )
    ece = "" if figure.ece is None else f", ECE {figure.ece:.3f}, Brier {figure.brier:.3f}"
    few = f", {figure.missing} labels missing" if figure.missing else ""
    axes.set(
        title=f"Reliability of {figure.of}: n = {figure.labels}{ece}{few}",
        xlabel="mean score",
        ylabel="share that people call good",
        xlim=(0, 1),
        ylim=(0, 1.02),
    )


def _curve(axes: "Axes", report: CalibrationReport) -> None:
    for name, style in (("precision", "-"), ("recall", "--"), ("specificity", ":")):
        known = [(one.threshold, getattr(one, name)) for one in report.curve if getattr(one, name) is not None]
        axes.plot([x for x, _ in known], [y for _, y in known], style, label=name)
    if report.pooled.threshold is not None and report.pooled.is_reached:
        axes.axvline(report.pooled.threshold, color="grey", linewidth=1, label="chosen by the target")
    axes.set(title="All tiers together", xlabel="threshold", ylabel="share", xlim=(0, 1), ylim=(0, 1.02))
    axes.legend(loc="best", fontsize=8)


def _power(axes: "Axes", report: CalibrationReport) -> None:
    for name, told in _NAMES.items():
        figures = [(one.base_rate, getattr(one, name)) for one in report.by_base_rate]
        known = [(rate, one.times_true) for rate, one in figures if one is not None and one.times_true is not None]
        if known:
            axes.plot([100 * rate for rate, _ in known], [times for _, times in known], "o-", label=told)
            axes.set_yscale("log")
            axes.legend(loc="best", fontsize=8)
    axes.set(
        title="Answers until a true doubling is found, × a perfect detector", xlabel="base rate, %", ylabel="times"
    )
