"""A calibration in a terminal: what to read first, thresholds, operating points, reliability, what could change."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from streams.calibration.charts import all_points
from streams.calibration.figures import DASH, number, share
from streams.calibration.report import CalibrationReport, OperatingPoint, PowerFigure, ThresholdFigure
from streams.cli.display import columns, plain

_FIGURES = slice(1, None)


def describe_report(report: CalibrationReport) -> Group:
    """The report in short; the page and the JSON have all of it."""
    chosen = "hold-out, nothing chosen" if report.is_holdout else f"target: {report.target} {report.target_value:.2f}"
    left = ", ".join(f"{reason} {number}" for reason, number in report.left_out.items())
    parts: list[Any] = [
        Text(plain(f"{report.labels} labelled answers of {', '.join(report.files)}; {chosen}; policy {report.policy}")),
        *([Text(plain(f"left out: {left}"))] if left else []),
        Text(""),
        _thresholds((report.pooled, *report.tiers)),
        Text(""),
        _operating(all_points(report)),
        Text(""),
        *(_reliability_line(report)),
        *(Text(plain(f"! {remark}"), style="yellow") for remark in report.remarks),
    ]
    if report.suggestion.snippet:
        parts += [Text("\nThe policy could change so (nothing was applied):"), Text(report.suggestion.snippet)]
    return Group(*parts)


def _thresholds(figures: Sequence[ThresholdFigure]) -> Table:
    table = columns("tier", "labels", "threshold", "95 %", "used", "measured", "precision", "recall", right=_FIGURES)
    for figure in figures:
        name = str(figure.tier or "all")
        crossed = figure.cross_fitted or figure.in_sample
        how = "cross-fitted" if figure.cross_fitted else "in sample"
        if crossed is not None:
            table.add_row(name, *_choice(figure), how, share(crossed.precision), share(crossed.recall))
        at_bar = f"at bar {figure.bar:.2f}"
        begin = ("", "", "", "", "") if crossed else (name, *_choice(figure))
        table.add_row(*begin, at_bar, share(figure.at_bar.precision), share(figure.at_bar.recall))
    return table


def _choice(figure: ThresholdFigure) -> tuple[str, str, str, str]:
    spread = DASH if figure.low is None else f"{figure.low:.2f} to {figure.high:.2f}"
    reached = "" if figure.is_reached or figure.threshold is None else " (target out of reach)"
    return str(figure.labels), f"{number(figure.threshold)}{reached}", spread, number(figure.used)


def _operating(points: Sequence[OperatingPoint]) -> Table:
    names = ("slice", "base rate", "threshold", "marks", "sensitivity", "false alarms", "× perfect", "answers")
    table = columns(*names, right=_FIGURES)
    for point in points:
        name = Text(plain(f"{point.intent}/{point.tier}" if point.tier else "all"))
        best, fair = point.best, point.cross_fitted or point.best
        threshold = DASH if best is None else number(best.threshold)
        if fair is not None:
            how = "cross-fitted" if point.cross_fitted else "in sample"
            table.add_row(name, f"{point.base_rate:.1%}", threshold, how, *_power(fair))
        if point.at_policy is not None:
            begin = ("", "") if fair else (name, f"{point.base_rate:.1%}")
            table.add_row(*begin, number(point.at_policy.threshold), "at the policy", *_power(point.at_policy))
    return table


def _power(figure: PowerFigure) -> tuple[str, str, str, str]:
    times = "never" if figure.times_true is None else f"{figure.times_true:.1f}"
    answers = "never" if figure.answers is None else f"{figure.answers:,.0f}"
    return f"{figure.bad:.1%}", f"{figure.good:.1%}", times, answers


def _reliability_line(report: CalibrationReport) -> list[Text]:
    return [
        Text(
            f"reliability of {one.of}: n {one.labels}, ECE {one.ece:.3f}, Brier {one.brier:.3f} "
            f"({one.brier_of_mean:.3f} by the overall share alone)"
        )
        for one in report.reliability
        if one.ece is not None
    ]
