"""``groundwatch alerts``: what fires, and one alert in full."""

from typing import Annotated
from urllib.parse import quote

import typer
from rich.table import Table
from rich.text import Text

from schemas.alert import Alert
from schemas.errors import NotReached
from schemas.labels import AlertState
from streams.cli import completions
from streams.cli.display import columns, json_line, moment, percent, plain, stdout, styled
from streams.cli.options import AsJson, ConfigFile, settings_of
from streams.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Look at alerts: those of the running process, else those in the store.")
SHOWN = [AlertState.FIRING, AlertState.PENDING, AlertState.STALE, AlertState.RESOLVED]
"""What somebody may have to act on, or did."""


@app.command("list")
def list_alerts(
    config: ConfigFile = None,
    state: Annotated[
        list[AlertState] | None,
        typer.Option(help="Only this state; may be repeated. Left out: all but learning and inactive."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Newest so many.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List alerts, newest first.

    For example:

    - `groundwatch alerts list --state firing`

    - `groundwatch alerts list --json | jq .alert_id`
    """
    found = read_alerts(settings_of(config), state or SHOWN, limit)
    if as_json:
        for alert in found:
            json_line(alert.model_dump(mode="json"))
        return
    stdout().print(_table(found) if found else "No alerts.")


@app.command("show")
def show(
    alert_id: Annotated[
        str, typer.Argument(help="Id as `alerts list` prints it.", autocompletion=completions.alert_ids)
    ],
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Show one alert: rate, reference, since when, what changed, examples with their evidence.

    For example: `groundwatch alerts show ALERT_ID`
    """
    alert = read_alert(settings_of(config), alert_id)
    if as_json:
        json_line(alert.model_dump(mode="json"))
        return
    stdout().print(describe(alert))


def read_alerts(settings: Settings, states: list[AlertState], limit: int) -> list[Alert]:
    """Newest revision of each alert. Raises NotReached, StoreUnavailable."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  the store's client is slow to import

    if process := running_process(settings):
        rows = process.get("/api/v1/alerts", state=[state.value for state in states], limit=limit)
        return [Alert.model_validate(row) for row in rows]
    with opened_store(settings, read_only=True) as store:
        return store.alerts(states=states, limit=limit)


def read_alert(settings: Settings, alert_id: str) -> Alert:
    """One alert. Raises NotReached when there is none of that id."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  the store's client is slow to import

    if process := running_process(settings):
        return Alert.model_validate(process.get(f"/api/v1/alerts/{quote(alert_id, safe='')}"))
    with opened_store(settings, read_only=True) as store:
        alert = store.alert(alert_id)
    if alert is None:
        raise NotReached(f"no alert {alert_id!r}; `groundwatch alerts list` shows the ids")
    return alert


def _table(alerts: list[Alert]) -> Table:
    table = columns("id", "state", "slice", "rule", "rate now", "reference", "since")
    table.columns[0].no_wrap = True  # it is copied into `alerts show`
    for column in table.columns[1:]:
        column.overflow = "fold"
    for alert in alerts:
        table.add_row(
            Text(plain(alert.alert_id)),
            styled(alert.state),
            Text(plain(alert.slice.slice_key)),
            Text(alert.rule),
            percent(alert.rate),
            percent(alert.reference),
            moment(alert.since),
        )
    return table


def describe(alert: Alert) -> Text:
    """An alert as lines of text for an engineer who was just paged."""
    if not alert.is_of_slice:
        from alerts.notify import render  # noqa: PLC0415  loads the tests' numerics

        return Text(render(alert).rstrip())
    lines = [
        Text.assemble(styled(alert.state), f"  {alert.rule} in ", (plain(alert.slice.slice_key), "bold")),
        Text(f"rate       {percent(alert.rate)}" + (f", {alert.ratio:.1f} times" if alert.ratio else "")),
        Text(f"reference  {percent(alert.reference)}"),
        Text(f"since      {moment(alert.since)}, found after {alert.samples} verified answers"),
        Text(f"fired      {moment(alert.fired_at) or 'no'}   resolved  {moment(alert.resolved_at) or 'no'}"),
    ]
    if alert.is_historical:
        lines.append(Text("historical: found more than a day later, nobody was paged"))
    for change in alert.changes:
        what = plain(f"{change.field} {change.before or '(none)'} → {change.after or '(none)'}")
        lines.append(Text(f"changed    {what} at {moment(change.at)}"))
    for example in alert.examples:
        revised = " (revised since)" if example.is_revised else ""
        lines += [
            Text(f"\nexample    {plain(example.trace_id)} at {moment(example.ts)}{revised}"),
            Text(f"question   {plain(example.question)}"),
            Text.assemble("claim      ", styled(example.label), f" {plain(example.claim)}"),
            Text(plain(f"evidence   {example.doc_id}: {example.evidence}" if example.doc_id else "evidence   none")),
        ]
    return Text("\n").join(lines)
