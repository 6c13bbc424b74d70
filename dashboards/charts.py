"""Rates over time as SVG geometry: a line with its interval band, broken where nothing was judged.

Only numbers leave this module, so a template can place them in SVG without a chart library or a script in the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from schemas.alert import RateEstimate

NICE_TOPS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Ends of the vertical axis that read well."""
SOLID_JUDGED = 10


@dataclass(frozen=True, slots=True)
class Point:
    """The rate of one step of time that starts at ``at``; ``rate.rate`` is None when nothing was judged."""

    at: datetime
    rate: RateEstimate


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a chart is drawn: the time it covers, the rate at its top, and its plot area in SVG units."""

    start: datetime
    end: datetime
    top: float
    width: float
    height: float
    left: float = 0.0
    upper: float = 0.0

    def x(self, moment: datetime) -> float:
        """Horizontal place of a moment, kept inside the plot."""
        share = (moment - self.start) / (self.end - self.start)
        return round(self.left + self.width * min(max(share, 0.0), 1.0), 1)

    def y(self, share: float) -> float:
        """Vertical place of a rate, kept inside the plot."""
        return round(self.upper + self.height * (1 - min(max(share / self.top, 0.0), 1.0)), 1)


@dataclass(frozen=True, slots=True)
class Dot:
    """One point on the plot with the estimate that it stands for."""

    x: float
    y: float
    point: Point


@dataclass(frozen=True, slots=True)
class Curve:
    """Path data of lines and bands, one of each per unbroken stretch, and a dot per judged step."""

    lines: tuple[str, ...]
    bands: tuple[str, ...]
    dots: tuple[Dot, ...]

    @property
    def last(self) -> Dot | None:
        """The newest judged step."""
        return self.dots[-1] if self.dots else None


def top_of(rates: Sequence[RateEstimate], *, minimum: float = 0.1) -> float:
    """The axis end for these rates: room for every rate and most of the intervals, but not for the widest ones.

    Rates that rest on few answers count only where there are no others; what rises above the axis is cut.
    """
    judged = [rate for rate in rates if rate.rate is not None]
    known = [rate for rate in judged if rate.n >= SOLID_JUDGED] or judged
    highest = max((rate.rate or 0.0 for rate in known), default=0.0)
    upper = sorted(rate.high for rate in known)
    typical = upper[(3 * (len(upper) - 1)) // 4] if upper else 0.0
    wanted = max(minimum, 1.1 * highest, min(typical, 2.5 * highest))
    return next((top for top in NICE_TOPS if top >= wanted), 1.0)


def curve(points: Sequence[Point], frame: Frame, step: timedelta) -> Curve:
    """The curve through the middles of the judged steps; a gap of more than one step breaks it."""
    judged = sorted((point for point in points if point.rate.rate is not None), key=lambda point: point.at)
    stretches = _stretches(judged, step)
    return Curve(
        lines=tuple(_line(stretch, frame, step) for stretch in stretches),
        bands=tuple(_band(stretch, frame, step) for stretch in stretches),
        dots=tuple(_dot(point, frame, step) for point in judged),
    )


def _stretches(judged: Sequence[Point], step: timedelta) -> list[list[Point]]:
    stretches: list[list[Point]] = [[point] for point in judged[:1]]
    for before, point in pairwise(judged):
        if point.at - before.at > step:
            stretches.append([])
        stretches[-1].append(point)
    return stretches


def _dot(point: Point, frame: Frame, step: timedelta) -> Dot:
    return Dot(frame.x(point.at + step / 2), frame.y(point.rate.rate or 0.0), point)


def _line(stretch: Sequence[Point], frame: Frame, step: timedelta) -> str:
    places = [(dot.x, dot.y) for dot in (_dot(point, frame, step) for point in stretch)]
    return _path(places)


def _band(stretch: Sequence[Point], frame: Frame, step: timedelta) -> str:
    """The outline of the intervals; a lone step is drawn at its full width, or it would have no area."""
    middles = [(frame.x(point.at + step / 2), point) for point in stretch]
    if len(stretch) == 1:
        middles = [(frame.x(stretch[0].at), stretch[0]), (frame.x(stretch[0].at + step), stretch[0])]
    upper = [(x, frame.y(point.rate.high)) for x, point in middles]
    lower = [(x, frame.y(point.rate.low)) for x, point in reversed(middles)]
    return _path([*upper, *lower]) + "Z"


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g},{y:g}" for x, y in places)
