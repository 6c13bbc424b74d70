"""``groundwatch review``: judged answers out to people, their labels back in, and what the labels say."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schemas.errors import ConfigError
from schemas.labels import RiskTier
from streams.cli import completions
from streams.cli.display import json_line, plain, stderr, stdout
from streams.cli.exits import ExitCode
from streams.cli.golden_files import write
from streams.cli.options import AsJson, ConfigFile, Since, Tenant, Until, moment_of, settings_of
from streams.cli.tables import read_table
from streams.clock import utc_now

if TYPE_CHECKING:
    from datetime import datetime

    from streams.store import ReviewFilter

app = typer.Typer(
    no_args_is_help=True,
    help="Reviews: answers out to people, labels back in, corrected rates from them (docs/labelling.md).",
)
Intents = Annotated[
    list[str] | None, typer.Option("--intent", autocompletion=completions.intents, help="Only this; may be repeated.")
]
Tier = Annotated[RiskTier | None, typer.Option(help="Only this risk tier.")]
Fingerprint = Annotated[str, typer.Option(help="Detector whose verdicts count; that of the newest when left out.")]
PER_WEEK = 100
FLAGGED_SHARE = 0.3
MOST_FAULTS = 20


class Format(StrEnum):
    """What an export is written as."""

    CSV = "csv"
    JSONL = "jsonl"


@app.command("export")
def export_(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    out: Annotated[Path | None, typer.Argument(help="File to write, .csv or .jsonl; standard output without.")] = None,
    config: ConfigFile = None,
    since: Since = "7d",
    until: Until = "",
    intent: Intents = None,
    tier: Tier = None,
    fingerprint: Fingerprint = "",
    count: Annotated[int, typer.Option(min=1, max=5000, help="Answers that nobody labelled yet.")] = PER_WEEK,
    flagged: Annotated[
        float, typer.Option(min=0, max=1, help="Share of them that the detector flagged.")
    ] = FLAGGED_SHARE,
    is_second_opinion: Annotated[
        bool, typer.Option("--second-opinion", help="Answers with one label instead, for another reviewer.")
    ] = False,
    is_disputed: Annotated[
        bool, typer.Option("--disputed", help="Answers on which reviewers disagree instead, with what each said.")
    ] = False,
    trace: Annotated[
        list[str] | None, typer.Option(help="This trace instead; may be repeated. Its label is in no estimate.")
    ] = None,
    reviewer: Annotated[str, typer.Option(help="With --second-opinion: who labels now; theirs are left out.")] = "",
    is_unblinded: Annotated[bool, typer.Option("--unblinded", help="Show what the detector said.")] = False,
    form: Annotated[Format | None, typer.Option("--format", help="Else by the file's ending; CSV without one.")] = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Export judged answers for people to label, drawn by a hash, flagged and unflagged ones mixed and blinded.

    Running it again gives the same answers until they are labelled, then the next ones of the same draw; so a sample
    grows. --json is --format jsonl.

    For example:

    - `groundwatch review export week.csv`

    - `groundwatch review export more.jsonl --since 28d --count 200 --intent billing.refund`

    - `groundwatch review export second.csv --second-opinion --reviewer ben --since 28d --count 20`

    - `groundwatch review export disputed.csv --disputed --since 28d` to be settled with `import --adjudicate`
    """
    from streams.cli.reviewing import exported  # noqa: PLC0415  the store's client is slow to import
    from streams.reviews.exporting import Kind, Wanted  # noqa: PLC0415
    from streams.reviews.rows import MOST_OF_A_CELL, as_csv, longest_cell  # noqa: PLC0415

    asked = {Kind.SECOND_OPINION: is_second_opinion, Kind.DISPUTED: is_disputed, Kind.NAMED: bool(trace)}
    kinds = [kind for kind, is_asked in asked.items() if is_asked] or [Kind.DRAWN]
    if len(kinds) > 1:
        raise ConfigError("--second-opinion, --disputed and --trace name different answers; give one of them")
    answers = _answers(since, until, intent, tier)
    ids = tuple(trace or ())
    wanted = Wanted(answers, count, flagged, fingerprint, kinds[0], reviewer, not is_unblinded, ids)
    rows = exported(settings_of(config), wanted, tenant or [])
    if (form or _format_of(out, as_json=as_json)) is Format.CSV:
        text = as_csv(rows, is_blind=not is_unblinded)
        if longest_cell(rows) > MOST_OF_A_CELL:
            stderr().print("Some passages are longer than a spreadsheet's cell takes; use --format jsonl for those.")
    else:
        text = "".join(f"{row.model_dump_json()}\n" for row in rows)
    if out is None:
        sys.stdout.write(text)
    else:
        write(out, text, newline="")
    is_short = len(rows) < count and kinds[0] is not Kind.NAMED
    fewer = f" ({count - len(rows)} fewer than asked for: no more are there)" if is_short else ""
    where = f"; fill in the labels of {out}, then `groundwatch review import {out}`" if out else ""
    stderr().print(plain(f"{len(rows)} answers to label{fewer}{where}. How to: docs/labelling.md"))


@app.command("import")
def import_(  # noqa: PLR0913, PLR0917  as above
    file: Annotated[Path, typer.Argument(help="A filled-in export, CSV or JSON Lines; `-` for standard input.")],
    config: ConfigFile = None,
    reviewer: Annotated[str, typer.Option(help="Who labelled the rows that name nobody.")] = "",
    is_adjudication: Annotated[
        bool, typer.Option("--adjudicate", help="These labels settle disagreements and go before all others.")
    ] = False,
    is_dry_run: Annotated[bool, typer.Option("--dry-run", help="Check every row and take none.")] = False,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Import labels; every row is checked first, and a faulty one (row and field are named) stops all: exit code 1.

    Rows without a label are passed over. Earlier labels stay, and a file that was imported before changes nothing.

    For example:

    - `groundwatch review import week.csv --reviewer ana`

    - `groundwatch review import settled.csv --adjudicate --reviewer lead --json`
    """
    from streams.cli.reviewing import imported  # noqa: PLC0415  as above
    from streams.reviews.given import given_labels  # noqa: PLC0415
    from streams.reviews.importing import Defaults  # noqa: PLC0415

    rows = list(given_labels((row.number, row.cells) for row in read_table(file)))
    defaults = Defaults(utc_now(), reviewer, is_adjudication)
    done = imported(settings_of(config), rows, defaults, tenant or [], check_only=is_dry_run)
    for fault in done.faults[:MOST_FAULTS]:
        stderr().print(plain(f"{file}: {fault}"))
    if len(done.faults) > MOST_FAULTS:
        stderr().print(f"and {len(done.faults) - MOST_FAULTS} more; --json lists them")
    if as_json:
        json_line(done.model_dump(mode="json"))
    elif done.faults:
        stdout().print(f"{len(done.faults)} faults; nothing was taken")
    else:
        would = "would be taken" if is_dry_run else "taken"
        told = f"{done.taken} labels of {done.answers} answers {would}, {done.unchanged} were known"
        stdout().print(f"{told}; {done.derived} labels of answers follow from those of their claims")
    if done.faults:
        raise typer.Exit(ExitCode.FOUND_FAULTS)


@app.command()
def stats(  # noqa: PLR0913, PLR0917  as above
    config: ConfigFile = None,
    since: Since = "28d",
    until: Until = "",
    intent: Intents = None,
    tier: Tier = None,
    fingerprint: Fingerprint = "",
    seed: Annotated[int, typer.Option(min=0, help="Fixes the draws behind intervals.")] = 0,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Show what labels say: the estimated true rate beside the apparent one, agreement of reviewers, disagreements.

    A corrected rate is shown from 200 labels on, 60 of them on flagged answers; before that, how many are missing.

    For example:

    - `groundwatch review stats`

    - `groundwatch review stats --since 28d --json | jq .corrected`
    """
    from streams.cli.review_view import describe_stats  # noqa: PLC0415  as above
    from streams.cli.reviewing import stats as read_stats  # noqa: PLC0415
    from streams.reviews.summary import StatsWanted  # noqa: PLC0415

    wanted = StatsWanted(_answers(since, until, intent, tier), fingerprint, seed)
    found = read_stats(settings_of(config), wanted, tenant or [])
    if as_json:
        json_line(found.model_dump(mode="json"))
    else:
        stdout().print(describe_stats(found))


def _answers(since: str, until: str, intents: list[str] | None, tier: RiskTier | None) -> "ReviewFilter":
    from streams.cli.reviewing import days  # noqa: PLC0415  as above
    from streams.store import ReviewFilter  # noqa: PLC0415

    now = utc_now()
    times: tuple[datetime | None, datetime | None]
    times = moment_of(since, now, "--since"), moment_of(until, now, "--until")
    return days(*times, ReviewFilter(now, now, tuple(intents or ()), tier))


def _format_of(out: Path | None, *, as_json: bool) -> Format:
    is_lines = as_json or (out is not None and out.suffix in {".jsonl", ".ndjson", ".json"})
    return Format.JSONL if is_lines else Format.CSV
