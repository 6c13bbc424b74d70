"""Options that several commands share, and what they are turned into."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from schemas.errors import ConfigError
from streams.settings import Settings, load_settings

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        help="Configuration file; else GROUNDWATCH_CONFIG, else ./groundwatch.yaml. The environment wins over it.",
        dir_okay=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable output: one JSON object a line.")]

Tenant = Annotated[
    list[str] | None,
    typer.Option(
        "--tenant",
        help="Only traces of this tenant; may be repeated. Left out: of all, since whoever may read the data folder "
        "may read them anyway.",
    ),
]
Since = Annotated[str, typer.Option(help="From this time on: 2026-03-10T12:00Z, 2026-03-10, or 6h, 7d before now.")]
Until = Annotated[str, typer.Option(help="Before this time, written like --since.")]
_AGO = re.compile(r"(\d{1,6})([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def moment_of(text: str, now: datetime, option: str) -> datetime | None:
    """The time that an option means, None when it is empty; a date is its beginning in UTC. Raises ConfigError."""
    if not text:
        return None
    try:
        if ago := _AGO.fullmatch(text):
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        raise ConfigError(f"{option} {text!r}: write 2026-03-10T12:00Z, 2026-03-10, or 30m, 6h, 7d") from error
    if found.tzinfo is None and len(text) > len("2026-03-10"):
        raise ConfigError(f"{option} {text!r} has no time zone; for UTC write {text}Z")
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def settings_of(config: Path | None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Settings for this command. Raises ConfigError."""
    return load_settings(config, overrides)
