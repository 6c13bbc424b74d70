"""The plots of a report as SVG geometry: numbers alone, which the template places."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from streams.calibration.report import CalibrationReport, CurvePoint, OperatingPoint, ReliabilityFigure

SIDE = 260.0
EDGE = 34.0


@dataclass(frozen=True, slots=True)
class Mark:
    """A bin of a reliability plot: its place, the ends of its interval, and what to say when it is pointed at."""

    x: float
    y: float
    top: float
    bottom: float
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A curve with its name and CSS class."""

    name: str
    css: str
    path: str


def x_of(value: float) -> float:
    """Horizontal place of a value in [0, 1]."""
    return round(EDGE + SIDE * value, 1)


def y_of(value: float) -> float:
    """Vertical place of a value in [0, 1], one at the top."""
    return round(EDGE / 2 + SIDE * (1 - value), 1)


def reliability_marks(figure: ReliabilityFigure) -> list[Mark]:
    """One mark a bin."""
    return [
        Mark(
            x=x_of(one.mean_score),
            y=y_of(one.good.rate or 0.0),
            top=y_of(one.good.high),
            bottom=y_of(one.good.low),
            text=f"score {one.mean_score:.2f}: {one.good.rate or 0.0:.2f} "
            f"({one.good.low:.2f} to {one.good.high:.2f}), n = {one.good.n}",
        )
        for one in figure.bins
    ]


def curve_lines(report: CalibrationReport) -> list[Line]:
    """Precision, recall and specificity by threshold."""
    measures = ("precision", "recall", "specificity")
    return [Line(name, f"curve-{name}", _path(_values(report.curve, name))) for name in measures if report.curve]


def _values(curve: Sequence[CurvePoint], name: str) -> Iterable[tuple[float, float]]:
    shares = ((point.threshold, getattr(point, name)) for point in curve)
    return ((threshold, value) for threshold, value in shares if value is not None)


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x_of(x)},{y_of(y)}" for x, y in points)


def all_points(report: CalibrationReport) -> list[OperatingPoint]:
    """Operating points in the order of reading: all together, at the usual base rates, by slice; none of them twice."""
    whole, *slices = report.operating
    return [whole, *(point for point in report.by_base_rate if point.base_rate != whole.base_rate), *slices]
