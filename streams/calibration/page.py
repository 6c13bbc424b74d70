"""The report as one HTML file that needs nothing beside it: no script, no link, the style of the product inside."""

from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from schemas.visible import visible
from streams.calibration import charts
from streams.calibration.figures import DASH, number, share
from streams.calibration.report import CalibrationReport


def calibration_page(report: CalibrationReport) -> str:
    """The page; every text is escaped, and characters that HTML cannot carry show as U+FFFD."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(share=share, percent=_percent, number=number, times=_times)
    style = (files("dashboards") / "static" / "groundwatch.css").read_text("utf-8")
    return made.get_template("report.html").render(
        report=report,
        charts=charts,
        style=Markup(style),  # noqa: S704  our own file
    )


def _shown(value: object) -> object:
    if isinstance(value, Markup) or not isinstance(value, str):
        return DASH if value is None else value
    return visible(value)


def _percent(value: float | None) -> str:
    return DASH if value is None else f"{100 * value:.1f} %"


def _times(value: float | None) -> str:
    """How many times, or how many answers; never is said in words."""
    if value is None:
        return "never"
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}".replace(",", "\u202f")  # noqa: PLR2004  a decimal less
