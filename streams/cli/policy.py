"""``groundwatch policy``: check, publish and look at sampling, thresholds and rules."""

import getpass
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from sampling.policy_file import default_policy_text, parse_policy
from schemas.errors import ConfigError
from schemas.policy import PolicyDocument, PolicyRecord
from streams.cli.display import json_line, moment, plain, stdout
from streams.cli.options import AsJson, ConfigFile, settings_of
from streams.clock import utc_now
from streams.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Sampling, thresholds and rules: one YAML file, published with a time.")


@app.command()
def apply(
    file: Annotated[Path, typer.Argument(help="Policy file; `groundwatch policy example` prints one to start from.")],
    config: ConfigFile = None,
    author: Annotated[str, typer.Option(help="Who changes the policy, for the log; your login when left out.")] = "",
) -> None:
    """Check a policy file and publish it; it takes effect at a bucket start, ten minutes from now or a little later.

    A file with a mistake is refused with exit code 2, and the policy in force stays in force.

    For example: `groundwatch policy apply policy.yaml --author ana`
    """
    text = _read(file)
    document = parse_policy(text)
    settings = settings_of(config)
    who = author or getpass.getuser()
    record = publish_through_process(settings, text, who) or publish_directly(settings, document, who)
    since = moment(record.effective_from) or "the beginning (first policy)"
    typer.echo(f"Policy {record.policy_id} published; in force from {since}.")


@app.command()
def show(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Show the published policies and overlays, oldest first, and the newest document in full.

    For example: `groundwatch policy show`
    """
    records = published(settings_of(config))
    if as_json:
        for record in records:
            json_line(record.model_dump(mode="json", exclude_none=True))
        return
    if not records:
        typer.echo("No policy was published yet; the default holds (`groundwatch policy example`).")
        return
    for record in records:
        kind = "policy" if record.document else f"overlay ({record.overlay.reason})" if record.overlay else ""
        since = moment(record.effective_from) or "the beginning"
        stdout().print(plain(f"{record.policy_id}  {kind}  from {since}  by {record.author or 'groundwatch'}"))
    newest = [record.document for record in records if record.document][-1:]
    for document in newest:
        content = document.model_dump(mode="json", exclude_defaults=True)
        stdout().print(plain("\n" + yaml.safe_dump(content, sort_keys=False, allow_unicode=True).rstrip()))


@app.command()
def example() -> None:
    """Print the annotated default policy.

    For example: `groundwatch policy example > policy.yaml`
    """
    typer.echo(default_policy_text(), nl=False)


def publish_through_process(settings: Settings, text: str, author: str) -> PolicyRecord | None:
    """Hand the text to the running process; None when none runs."""
    from streams.cli.opened import running_process  # noqa: PLC0415  the store's client is slow to import

    process = running_process(settings)
    if process is None:
        return None
    return PolicyRecord.model_validate(process.post("/api/v1/policy", text, author=author))


def publish_directly(settings: Settings, document: PolicyDocument, author: str) -> PolicyRecord:
    """Publish to topic and store. Raises NotReached in embedded mode, where both live in a running process."""
    from streams.cli.publishing import publish_policy  # noqa: PLC0415  Kafka clients are slow to import

    return publish_policy(settings, document, author, utc_now())


def published(settings: Settings) -> list[PolicyRecord]:
    """Documents and overlays of the log, oldest first; heartbeats are left out."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  the store's client is slow to import

    if process := running_process(settings):
        rows: list[Any] = process.get("/api/v1/policy")
        records = [PolicyRecord.model_validate(row) for row in rows]
    else:
        with opened_store(settings, read_only=True) as store:
            records = store.policy_records()
    return sorted((r for r in records if r.complete_until is None), key=lambda record: record.published_at)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from error
