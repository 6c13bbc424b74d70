"""``groundwatch run``: read the settings once, set up logging, hand over."""

from typing import Annotated

import typer

from streams.cli.options import ConfigFile, settings_of
from streams.logging import configure_logging


def run(
    config: ConfigFile = None,
    roles: Annotated[
        str, typer.Option(help="Roles of this process, separated by commas; the configuration's when left out.")
    ] = "",
) -> None:
    """Run the monitor until it is stopped (SIGTERM or Ctrl-C finishes what is in flight).

    For example:

    - `groundwatch run` all roles, as groundwatch.yaml says

    - `groundwatch run --roles verify --config /etc/groundwatch.yaml` one role of several processes
    """
    overrides = {"roles": roles} if roles else None
    settings = settings_of(config, overrides)
    configure_logging(settings.log.level, settings.log.format)
    from streams.agents.shell import leave  # noqa: PLC0415  as below
    from streams.run import run as run_roles  # noqa: PLC0415  Faust takes a second to import; --help must not wait

    leave(run_roles(settings, settings.roles, lambda: settings_of(config, overrides)))
