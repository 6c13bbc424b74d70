"""``groundwatch spend``: what judges cost, on what, and what is left of the budgets of this hour."""

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from streams.cli.display import json_line, stdout
from streams.cli.options import AsJson, ConfigFile, Since, moment_of, settings_of
from streams.clock import utc_now
from streams.settings import Settings

if TYPE_CHECKING:
    from streams.spend.report import SpendReport


class Step(StrEnum):
    """How finely spend is shown."""

    HOUR = "hour"
    DAY = "day"


By = Annotated[Step, typer.Option("--by", help="A row an hour or a day, in UTC.")]


def spend(config: ConfigFile = None, since: Since = "", by: By = Step.HOUR, as_json: AsJson = False) -> None:
    """Show what judges and resampling cost by hour, intent, tier and layer, and what is left of each budget now.

    The last 24 hours without --since. Numbers are at most two minutes old: workers write once a minute.

    For example:

    - `groundwatch spend`

    - `groundwatch spend --since 7d --by day --json | jq '[.rows[].cost.usd] | add'`
    """
    now = utc_now()
    found = read_spend(settings_of(config), now, moment_of(since, now, "--since"), by.value)
    if as_json:
        json_line(found.model_dump(mode="json"))
        return
    from streams.cli.spend_view import describe_spend  # noqa: PLC0415  with the report's records, slow to import

    stdout().print(describe_spend(found))


def read_spend(settings: Settings, now: datetime, since: datetime | None, step: str) -> "SpendReport":
    """The report of the running process, else of the store. Raises NotReached, StoreUnavailable."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  the store's client is slow to import
    from streams.cli.policy_log import in_force  # noqa: PLC0415
    from streams.spend.report import SpendReport, read_report  # noqa: PLC0415

    if process := running_process(settings):
        times = {"since": since.isoformat()} if since else {}
        return SpendReport.model_validate(process.get("/api/v1/spend", is_long=True, step=step, **times))
    with opened_store(settings, read_only=True) as store:
        records = [record for record in store.policy_records() if record.complete_until is None]
        return read_report(store, in_force(records, now).document, records, now, since=since, step=step)
