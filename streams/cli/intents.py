"""``groundwatch intents``: what the traffic is about, and where what has no intent comes from."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from schemas.trace import UNMAPPED
from streams.cli.display import columns, json_line, moment, plain, stdout
from streams.cli.options import AsJson, ConfigFile, Since, Until, moment_of, settings_of
from streams.clock import utc_now
from streams.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streams.store import IntentTraffic, UnmappedShare

app = typer.Typer(no_args_is_help=True, help="See what the traffic is about, and what of it has no intent.")
SHOWN = timedelta(hours=24)
Least = Annotated[
    float, typer.Option("--above", min=0, max=1, help="Only hours with a larger share than this, 0 to 1.")
]


@app.command("list")
def list_intents(config: ConfigFile = None, since: Since = "", until: Until = "", as_json: AsJson = False) -> None:
    """List intents by tier with their traffic, most first; the traffic is that of the last 24 hours without --since.

    An intent that is stored but had no traffic in that time is listed with none.

    For example:

    - `groundwatch intents list --since 7d`

    - `groundwatch intents list --json | jq 'select(.intent == "unmapped").share'`
    """
    found = read_intents(settings_of(config), *_times(since, until))
    if as_json:
        for row in found:
            json_line(row.model_dump(mode="json"))
        return
    stdout().print(_intents(found) if found else "No traces are stored.")
    without = sum(row.share for row in found if row.intent == UNMAPPED)
    if without:
        stdout().print(
            f"{without:.1%} has no intent. `groundwatch intents unmapped` shows which topics it comes from; a rule for "
            "intent in their entry under `sources` gives it one."
        )


@app.command()
def unmapped(
    config: ConfigFile = None, since: Since = "", until: Until = "", above: Least = 0.0, as_json: AsJson = False
) -> None:
    """Show traces and those without an intent by source topic and hour; the last 24 hours without --since.

    For example:

    - `groundwatch intents unmapped --above 0.2`

    - `groundwatch intents unmapped --since 7d --json | jq -c '[.topic, .hour, .share]'`
    """
    every = read_unmapped(settings_of(config), *_times(since, until))
    found = [row for row in every if row.share > above or (above == 0 and row.unmapped)]
    if as_json:
        for row in found:
            json_line(row.model_dump(mode="json"))
        return
    nothing = "Every trace has an intent." if every else "No traces in this time. Widen --since."
    stdout().print(_shares(found) if found else nothing if not above else "No hour is above that share.")


def read_intents(settings: Settings, since: datetime, until: datetime) -> "list[IntentTraffic]":
    """Intents by tier, most traffic first. Raises NotReached, StoreUnavailable."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  the store's client is slow to import
    from streams.store import IntentTraffic  # noqa: PLC0415

    if process := running_process(settings):
        times = {"since": since.isoformat(), "until": until.isoformat()}
        return [IntentTraffic.model_validate(row) for row in process.get("/api/v1/intents", is_long=True, **times)]
    with opened_store(settings, read_only=True) as store:
        return store.intents(since, until)


def read_unmapped(settings: Settings, since: datetime, until: datetime) -> "list[UnmappedShare]":
    """By topic and hour, oldest first. Raises NotReached, StoreUnavailable."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  as above
    from streams.store import UnmappedShare  # noqa: PLC0415

    if process := running_process(settings):
        times = {"since": since.isoformat(), "until": until.isoformat()}
        rows = process.get("/api/v1/intents/unmapped", is_long=True, **times)
        return [UnmappedShare.model_validate(row) for row in rows]
    with opened_store(settings, read_only=True) as store:
        return store.unmapped(since, until)


def _times(since: str, until: str) -> tuple[datetime, datetime]:
    now = utc_now()
    end = moment_of(until, now, "--until") or now
    return moment_of(since, now, "--since") or end - SHOWN, end


def _intents(rows: "Sequence[IntentTraffic]") -> Table:
    table = columns("intent", "tier", "traces", "share", "first seen", "last seen", right=slice(2, 4))
    for row in rows:
        seen = (moment(row.first_seen), moment(row.last_seen))
        table.add_row(Text(plain(row.intent)), row.tier, f"{row.traffic:,}", f"{row.share:.1%}", *seen)
    return table


def _shares(rows: "Sequence[UnmappedShare]") -> Table:
    table = columns("hour", "topic", "traces", "unmapped", "share", right=slice(2, None))
    for row in rows:
        counts = (f"{row.traffic:,}", f"{row.unmapped:,}", f"{row.share:.1%}")
        table.add_row(moment(row.hour), Text(plain(row.topic) or "(unknown)"), *counts)
    return table
