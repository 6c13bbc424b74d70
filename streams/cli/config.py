"""``groundwatch config``: is the configuration right, what holds, and what could be set."""

import os
from typing import Annotated, Any

import typer
from pydantic_core import to_jsonable_python
from rich.text import Text

from schemas.base import Record
from streams.cli.display import columns, json_line, stderr, stdout
from streams.cli.options import AsJson, ConfigFile, settings_of
from streams.settings import Settings, deployment_salt
from streams.settings.catalogue import Entry, entries
from streams.settings.fields import ENV_PREFIX
from streams.settings.loading import FILE_VARIABLE
from streams.settings.reference import annotated_example, reference_markdown
from streams.settings.secret_files import file_variables

app = typer.Typer(no_args_is_help=True, help="Check the configuration and show what can be set.")
_TEST_VARIABLES = {FILE_VARIABLE, f"{ENV_PREFIX}DATA", f"{ENV_PREFIX}KAFKA_HOME", f"{ENV_PREFIX}TEST_KAFKA"}


class ShownSetting(Record):
    """A line of ``config check --json``; ``value`` is null for a secret."""

    setting: str
    value: Any
    is_secret: bool


@app.command()
def check(
    config: ConfigFile = None,
    show_all: Annotated[bool, typer.Option("--all", help="Show settings that are at their default, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Read the file and the environment, refuse mistakes (exit code 2), and show what differs from the defaults.

    Secrets are not shown. Nothing is started or connected to.

    For example:

    - `groundwatch config check --config /etc/groundwatch.yaml`

    - `groundwatch config check --all --json | jq .setting`
    """
    settings = settings_of(config)
    if not settings.embedded:
        deployment_salt(settings)
    _check_files(settings)
    _check_sources(settings)
    shown = [entry for entry in entries() if show_all or value_at(settings, entry) != entry.default]
    if as_json:
        for entry in shown:
            shown_entry = ShownSetting(setting=entry.key, value=shown_value(settings, entry), is_secret=entry.is_secret)
            json_line(shown_entry.model_dump(mode="json"))
    else:
        _print_table(settings, shown)
    for name in ignored_variables(list(os.environ)):
        stderr().print(
            f"note: {name} is no setting and was ignored; `groundwatch config check --all` shows those there are"
        )


@app.command()
def example() -> None:
    """Print an annotated configuration file with every setting at its default.

    For example: `groundwatch config example > groundwatch.yaml`
    """
    typer.echo(annotated_example(), nl=False)


@app.command(hidden=True)
def reference() -> None:
    """Print the page docs/configuration.md."""
    typer.echo(reference_markdown(), nl=False)


def _check_files(settings: Settings) -> None:
    """Certificates and files of secrets of the clusters. Raises ConfigError."""
    from streams.settings.connect import connection_of  # noqa: PLC0415  Kafka clients are slow to import

    if not settings.embedded:
        connection_of(settings.kafka.source)
        connection_of(settings.kafka.internal)


def _check_sources(settings: Settings) -> None:
    """Mapping files and what registries need; nothing is connected to. Raises ConfigError."""
    from streams.sources.decode import SourceDecoder  # noqa: PLC0415  the formats are slow to import

    SourceDecoder.of(settings.sources, max_message_bytes=settings.ingest.max_message_bytes)


def value_at(settings: Settings, entry: Entry) -> object:
    """The value of one setting."""
    here: object = settings
    for part in entry.path:
        here = getattr(here, part)
    return here


def shown_value(settings: Settings, entry: Entry) -> Any:
    """The value of one setting as JSON, None for a secret."""
    return None if entry.is_secret else to_jsonable_python(value_at(settings, entry))


def _print_table(settings: Settings, shown: list[Entry]) -> None:
    table = columns("setting", "value")
    for entry in shown:
        table.add_row(entry.key, Text("(secret)" if entry.is_secret else str(value_at(settings, entry))))
    if shown:
        stdout().print(table)
    stdout().print(f"Configuration is fine; {len(shown)} of {len(entries())} settings shown.")


def ignored_variables(names: list[str]) -> list[str]:
    """Variables with our prefix that set nothing: a misspelling, or set by the platform for a service of our name."""
    known = {entry.variable for entry in entries()} | file_variables().keys() | _TEST_VARIABLES
    return sorted(name for name in names if name.startswith(ENV_PREFIX) and name not in known)
