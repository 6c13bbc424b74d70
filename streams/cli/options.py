"""Options that several commands share, and what they are turned into."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

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


def settings_of(config: Path | None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Settings for this command. Raises ConfigError."""
    return load_settings(config, overrides)
