"""View models to HTML: one Jinja environment in which every value is escaped and made safe to encode."""

from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dashboards import formats

FOLDER = Path(__file__).parent
SECTIONS = {
    "overview.html": "Overview",
    "alerts.html": "Alerts",
    "alert.html": "Alerts",
    "unmapped.html": "Alerts",
    "leads.html": "Leads",
    "flagged.html": "Flagged",
    "trace.html": "Flagged",
}
"""The entry of the navigation under which each page is found."""
STATIC_TYPES = {"groundwatch.css": "text/css", "live.js": "text/javascript", "icon.svg": "image/svg+xml"}


def static_files() -> dict[str, tuple[bytes, str]]:
    """The files that pages link to, by name, with their media type."""
    return {name: ((FOLDER / "static" / name).read_bytes(), kind) for name, kind in STATIC_TYPES.items()}


def environment() -> Environment:
    """The templates with escaping always on; an unknown variable is an error, not an empty string."""
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=formats.visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in ("percent", "interval", "rate_text", "count", "utc", "iso", "duration", "ago", "link_part"):
        made.filters[name] = getattr(formats, name)
    made.globals.update(trace_link=formats.trace_link, alert_link=formats.alert_link, asset_version=_asset_version())
    return made


def render(templates: Environment, name: str, now: datetime, **values: object) -> bytes:
    """The page ``name`` as UTF-8."""
    return templates.get_template(name).render(now=now, section=SECTIONS.get(name, ""), **values).encode()


def _asset_version() -> str:
    """Changes whenever a static file does, so that a browser may keep the files for long."""
    digest = blake2b(digest_size=6)
    for content, _ in static_files().values():
        digest.update(content)
    return digest.hexdigest()
