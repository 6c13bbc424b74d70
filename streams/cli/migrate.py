"""``groundwatch migrate``: bring tables and topics up to this version."""

import typer

from streams.cli.options import ConfigFile, settings_of
from streams.run_file import find_running


def migrate(config: ConfigFile = None) -> None:
    """Apply the table changes that the store lacks, make missing gw.* topics and a first policy; safe to repeat.

    An embedded deployment is migrated by the process that owns it, at its start.

    For example: `groundwatch migrate --config /etc/groundwatch.yaml`
    """
    settings = settings_of(config)
    if settings.store_dsn.startswith("chdb:") and (running := find_running(settings.data_dir)):
        typer.echo(f"The running process (pid {running.pid}) migrated its store when it started; nothing to do.")
        return
    from streams.cli.migrating import migrate_deployment  # noqa: PLC0415  Kafka and store clients are slow to import

    for line in migrate_deployment(settings):
        typer.echo(line)
