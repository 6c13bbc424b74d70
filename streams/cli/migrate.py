"""``groundwatch migrate``: bring tables and topics up to this version."""

from pydantic import Field

from schemas.base import Record
from streams.cli.display import json_line, stdout
from streams.cli.options import AsJson, ConfigFile, settings_of
from streams.run_file import find_running


def migrate(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Apply the table changes that the store lacks, make missing gw.* topics and a first policy; safe to repeat.

    An embedded deployment is migrated by the process that owns it, at its start.

    For example: `groundwatch migrate --config /etc/groundwatch.yaml`
    """
    settings = settings_of(config)
    if settings.store_dsn.startswith("chdb:") and (running := find_running(settings.data_dir)):
        if as_json:
            json_line(Migrated().model_dump(mode="json"))
        else:
            stdout().print(f"The running process (pid {running.pid}) migrated its store at its start; nothing to do.")
        return
    from streams.cli.migrating import migrate_deployment  # noqa: PLC0415  Kafka and store clients are slow to import

    done = migrate_deployment(settings)
    if as_json:
        json_line(done.model_dump(mode="json"))
    else:
        stdout().print("\n".join(describe(done)))


class Migrated(Record):
    """What a migration changed: statements by file, and topics made; None where topics are made at every start.

    ``differing``: settings of existing topics that are not the configuration's, which are not changed.
    """

    store: dict[str, int] = Field(default_factory=dict)
    topics: tuple[str, ...] | None = None
    differing: tuple[str, ...] = ()


def describe(done: Migrated) -> list[str]:
    """The same, a line each."""
    files = ", ".join(f"{name} ({statements})" for name, statements in done.store.items())
    lines = [f"store: applied {files}" if files else "store: up to date"]
    if done.topics is None:
        return lines
    return [*lines, f"topics made: {', '.join(done.topics) or 'none'}", *done.differing]
