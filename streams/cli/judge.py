"""``groundwatch judge``: whether the judge is worth its price, and what it is shown as examples."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from schemas.agreement import Agreement
from streams.cli.display import columns, json_line, plain, stdout
from streams.cli.options import AsJson, ConfigFile, Since, Until, moment_of, settings_of
from streams.clock import utc_now
from streams.settings import Settings

app = typer.Typer(no_args_is_help=True, help="See whether the judge agrees with the layer below, and its examples.")
SHOWN = timedelta(days=7)
Newest = Annotated[int, typer.Option("--limit", min=1, max=100_000, help="Newest claims that are looked at.")]


@app.command()
def agreement(
    config: ConfigFile = None, since: Since = "", until: Until = "", limit: Newest = 20_000, as_json: AsJson = False
) -> None:
    """Compare the judge's labels with those the thresholds would have given, by intent; 7 days without --since.

    A judge that always agrees is not worth its price in that band; one that hardly ever does is wrong, or the
    thresholds are: see `groundwatch calibrate`.

    For example:

    - `groundwatch judge agreement --since 24h`

    - `groundwatch judge agreement --json | jq 'select(.below != .judge)'`
    """
    now = utc_now()
    end = moment_of(until, now, "--until") or now
    rows = read_agreement(settings_of(config), moment_of(since, now, "--since") or end - SHOWN, end, limit)
    if as_json:
        for row in rows:
            json_line(row.model_dump(mode="json"))
        return
    stdout().print(_table(rows) if rows else "No judge decided a claim in this time.")


@app.command()
def examples(
    golden: Annotated[Path, typer.Argument(help="Golden set, JSON Lines.")],
    most: Annotated[int, typer.Option("--most", min=1, max=40, help="Most examples.")] = 6,
    as_json: AsJson = False,
) -> None:
    """Show which claims of a golden set would stand in the judge's prompt as examples; its hold-out is never used.

    For example: `groundwatch judge examples golden.jsonl`, then `judge.examples_file: golden.jsonl` in the settings.
    """
    from detectors.golden.reading import read_well_formed  # noqa: PLC0415  slow to import
    from detectors.judge import golden_examples  # noqa: PLC0415  as above

    found = golden_examples(read_well_formed(golden), most)
    if as_json:
        for example in found:
            json_line(example.model_dump(mode="json"))
        return
    table = columns("label", "claim", "passages", right=slice(2, None))
    for example in found:
        table.add_row(example.label.value, Text(plain(example.claim)), str(len(example.passages)))
    stdout().print(table)


def read_agreement(settings: Settings, since: datetime, until: datetime, limit: int) -> list[Agreement]:
    """Claims by intent, tier and both labels. Raises NotReached, StoreUnavailable."""
    from detectors.judge.agreement import agreements  # noqa: PLC0415  slow to import
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  as above

    if process := running_process(settings):
        asked = {"since": since.isoformat(), "until": until.isoformat(), "limit": str(limit)}
        rows = process.get("/api/v1/judge/agreement", is_long=True, **asked)
        return [Agreement.model_validate(row) for row in rows]
    with opened_store(settings, read_only=True) as store:
        return agreements(store.judgements.decided(since, until, limit=limit))


def _table(rows: Sequence[Agreement]) -> Table:
    """One line an intent and tier, with the disagreement that is met most."""
    from detectors.judge.agreement import by_cell  # noqa: PLC0415  as above

    table = columns("intent", "tier", "claims", "agree", "most frequent difference", right=slice(2, 4))
    for (intent, tier), found in by_cell(rows).items():
        apart = [row for row in rows if (row.intent, row.tier) == (intent, tier) and not row.agrees]
        most = max(apart, key=lambda row: row.claims, default=None)
        told = f"{most.below.value} below, {most.judge.value} by the judge: {most.claims:,}" if most else "-"
        table.add_row(Text(plain(intent)), tier.value, f"{found.claims:,}", f"{found.share:.1%}", told)
    return table
