"""``groundwatch deploy``: say what changed where traces do not, and see what is known to have changed."""

import getpass
import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from streams.cli import completions
from streams.cli.display import columns, json_line, moment, plain, stdout
from streams.cli.options import AsJson, ConfigFile, Since, moment_of, settings_of
from streams.clock import utc_now
from streams.settings import Settings

if TYPE_CHECKING:
    from streams.store import Deploy

app = typer.Typer(no_args_is_help=True, help="Mark deploys that traces do not carry, and list those that are known.")
SHOWN = timedelta(days=21)


@app.command()
def mark(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    field: Annotated[str, typer.Option(help="What changed: model, prompt, corpus, retriever, or app for the rest.")],
    value: Annotated[str, typer.Option(help="What is running from then on.")],
    config: ConfigFile = None,
    intent: Annotated[
        str, typer.Option(autocompletion=completions.intents, help="Only this intent; all when left out.")
    ] = "*",
    at: Annotated[str, typer.Option(help="When: 2026-03-10T12:00Z, or 30m, 6h before now; now when left out.")] = "",
    note: Annotated[str, typer.Option(help="A word on it, shown beside it.")] = "",
    author: Annotated[str, typer.Option(help="Who or what deployed; your login when left out.")] = "",
    as_json: AsJson = False,
) -> None:
    """Mark a deploy, so that alerts can name it as what changed.

    For what traces do not say of themselves; versions that they carry are found without it. The same deploy marked
    twice, at the same time, is one. Marks up to six hours old still count in the alert tests; older ones are only
    shown.

    For example:

    - `groundwatch deploy mark --field prompt --value p-15`

    - `groundwatch deploy mark --field app --value guardrail-off --intent billing.refund --at 20m --note "ticket 4711"`
    """
    now = utc_now()
    given = {"field": field, "value": value, "intent": intent, "note": note, "author": author or getpass.getuser()}
    when = moment_of(at, now, "--at") or now
    done = mark_deploy(settings_of(config), {**given, "at": when.isoformat()}, now)
    if as_json:
        json_line(done.model_dump(mode="json"))
        return
    where = "all intents" if done.intent == "*" else f"intent {done.intent}"
    stdout().print(plain(f"Marked: {done.field} {done.value} at {moment(done.at)} for {where}."))


@app.command("list")
def list_deploys(config: ConfigFile = None, since: Since = "", as_json: AsJson = False) -> None:
    """List deploys, marked or seen in the traces, newest first; those of the last 21 days without --since.

    For example:

    - `groundwatch deploy list --since 7d`

    - `groundwatch deploy list --json | jq 'select(.source == "mark")'`
    """
    now = utc_now()
    found = read_deploys(settings_of(config), moment_of(since, now, "--since") or now - SHOWN)
    if as_json:
        for deploy in found:
            json_line(deploy.model_dump(mode="json"))
    else:
        stdout().print(_table(found) if found else "No deploys. Mark one with `groundwatch deploy mark`.")


def mark_deploy(settings: Settings, given: dict[str, str], now: datetime) -> "Deploy":
    """Mark it through the running process, else in the store. Raises ConfigError, NotReached, StoreUnavailable."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  the store's client is slow to import
    from streams.deploys import deploy_of  # noqa: PLC0415
    from streams.store import Deploy  # noqa: PLC0415

    deploy = deploy_of(given, now)
    if process := running_process(settings):
        return Deploy.model_validate(process.post("/v1/deploys", json.dumps(given)))
    with opened_store(settings, read_only=False) as store:
        store.insert_deploys([deploy])
    return deploy


def read_deploys(settings: Settings, since: datetime) -> "list[Deploy]":
    """Deploys since a moment, newest first. Raises NotReached, StoreUnavailable."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  as above
    from streams.store import Deploy  # noqa: PLC0415

    if process := running_process(settings):
        return [Deploy.model_validate(row) for row in process.get("/api/v1/deploys", since=since.isoformat())]
    with opened_store(settings, read_only=True) as store:
        return store.deploys(since)[::-1]


def _table(deploys: "list[Deploy]") -> Table:
    table = columns("at", "intent", "changed", "known from", "by", "note")
    for deploy in deploys:
        source = "a mark" if deploy.source == "mark" else "the traces"
        words = (deploy.intent, f"{deploy.field} → {deploy.value}", source, deploy.author, deploy.note)
        table.add_row(moment(deploy.at), *(Text(plain(word)) for word in words))
    return table
