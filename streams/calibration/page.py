"""The report as one HTML file that needs nothing beside it: no script, no link, the style of the product inside."""

import re
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from schemas.alert import RateEstimate
from streams.calibration import charts
from streams.calibration.report import CalibrationReport

_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
DASH = "–"


def calibration_page(report: CalibrationReport) -> str:
    """The page; every text is escaped, and characters that HTML cannot carry show as U+FFFD."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(share=_share, percent=_percent, number=_number, times=_times)
    style = (files("dashboards") / "static" / "groundwatch.css").read_text("utf-8")
    return made.get_template("report.html").render(
        report=report,
        charts=charts,
        style=Markup(style),  # noqa: S704  our own file
    )


def _visible(value: object) -> object:
    if isinstance(value, Markup) or not isinstance(value, str):
        return DASH if value is None else value
    return _UNSAFE.sub("\ufffd", value)


def _share(found: RateEstimate) -> str:
    """``0.81 [0.74, 0.87]``."""
    return DASH if found.rate is None else f"{found.rate:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _percent(value: float | None) -> str:
    return DASH if value is None else f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"


def _times(value: float | None) -> str:
    """How many times, or how many answers; never is said in words."""
    if value is None:
        return "never"
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}".replace(",", "\u202f")  # noqa: PLR2004  a decimal less
