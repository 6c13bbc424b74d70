"""``groundwatch golden add|import``: cases into a golden set; doing the same again changes nothing."""

import getpass
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from detectors.golden import parse_golden
from detectors.golden.columns import Mapped, case_of, mapped
from detectors.golden.editing import add_cases
from detectors.golden.near import SIMILARITY
from schemas.errors import ConfigError
from schemas.golden import GoldenCase, Split
from schemas.labels import RiskTier
from streams.cli.display import json_line, plain, stderr, stdout
from streams.cli.exits import ExitCode
from streams.cli.golden_files import Change, read_or_empty, save
from streams.cli.golden_options import Author, SetFile, Similarity, Unlock
from streams.cli.golden_stored import case_of_trace, cases_of_reviews
from streams.cli.golden_view import GoldenAdded, describe_added
from streams.cli.options import AsJson, ConfigFile, Since, Tenant, Until, moment_of, settings_of
from streams.cli.tables import Row, read_table, read_text
from streams.clock import utc_now

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
"""No stored answer is older."""
MOST_SHOWN = 20
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would become of it and write nothing.")]


def add(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    file: SetFile,
    cases: Annotated[Path | None, typer.Option("--from", help="Cases as JSON Lines, `-` for standard input.")] = None,
    trace: Annotated[str, typer.Option(help="Make a case of this stored trace: question, answer, passages.")] = "",
    case_id: Annotated[str, typer.Option("--id", help="Id of the new case; the trace's id with --trace.")] = "",
    question: Annotated[str, typer.Option(help="What is asked.")] = "",
    reference: Annotated[str, typer.Option(help="A good answer.")] = "",
    require: Annotated[list[str] | None, typer.Option(help="Document that it must rest on; may be repeated.")] = None,
    forbid: Annotated[
        list[str] | None, typer.Option(help="Document that it must not rest on; may be repeated.")
    ] = None,
    is_unanswerable: Annotated[bool, typer.Option("--unanswerable", help="The documents do not answer it.")] = False,
    intent: Annotated[str, typer.Option(help="What it is about.")] = "",
    tier: Annotated[RiskTier | None, typer.Option(help="How much harm an error does.")] = None,
    owner: Annotated[str, typer.Option(help="Who is told when it fails.")] = "",
    split: Annotated[Split, typer.Option(help="Where it goes, unless cases like it are there already.")] = Split.DEV,
    similarity: Similarity = SIMILARITY,
    unlock: Unlock = "",
    author: Author = "",
    config: ConfigFile = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Add one case, a stored trace as a case, or cases of a file; FILE is made when it is not there.

    A case that is near to known ones goes to their split. One that is there already only brings its labels.

    For example:

    - `groundwatch golden add golden.jsonl --id c-18 --question "What does a copy cost?" --require invoice-copy`

    - `groundwatch golden add golden.jsonl --trace demo-9999c6 --owner billing`

    - `groundwatch golden add golden.jsonl --from more.jsonl`
    """
    said: dict[str, object] = {
        "question": question,
        "reference_answer": reference,
        "required_sources": tuple(require or ()),
        "forbidden_sources": tuple(forbid or ()),
        "intent": intent,
        "owner": owner,
    }
    fields = {name: value for name, value in said.items() if value} | ({"tier": tier} if tier else {})
    fields |= {"is_answerable": False} if is_unanswerable else {}
    if cases is not None:
        if trace or fields or case_id:
            raise ConfigError("--from brings whole cases; leave out --trace, --id and the fields")
        new, refused = _read_cases(cases)
    else:
        base = case_of_trace(settings_of(config), trace, tenant or []) if trace else None
        new, refused = [_one_case(base, case_id, {**fields, "split": split})], []
    change = Change(author or getpass.getuser(), utc_now(), unlock)
    _finish(file, new, refused, change, similarity=similarity, is_dry_run=False, as_json=as_json)


def import_(  # noqa: PLR0913, PLR0917  as above
    file: SetFile,
    table: Annotated[Path | None, typer.Argument(help="Table: CSV, TSV or JSON Lines, plain or gzip.")] = None,
    columns: Annotated[
        list[str] | None, typer.Option("--map", help="OUR_FIELD=THEIR_COLUMN, a.b for a nested one; may be repeated.")
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option("--value", help="THEIRS=OURS: translate a label, tier, intent, split, yes or no."),
    ] = None,
    defaults: Annotated[
        list[str] | None, typer.Option("--default", help="FIELD=VALUE for rows without it; may be repeated.")
    ] = None,
    separator: Annotated[str, typer.Option(help="Between the items of a list in a cell.")] = ";",
    reviews: Annotated[
        bool, typer.Option("--reviews", help="Answers that reviewers labelled, from the store.")
    ] = False,
    since: Since = "",
    until: Until = "",
    intent: Annotated[str, typer.Option(help="With --reviews: only this intent.")] = "",
    tenant: Tenant = None,
    at: Annotated[str, typer.Option(help="When labels of rows without `labelled_at` were given.")] = "",
    similarity: Similarity = SIMILARITY,
    unlock: Unlock = "",
    author: Author = "",
    config: ConfigFile = None,
    is_dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import cases from a table, or with --reviews what reviewers labelled; a second import of the same adds nothing.

    Without --map a column counts under its own name. Beside the fields of a case there are answer_label, author,
    labelled_at and note. Rows that cannot be cases are told with their number and field, and end with exit code 1.

    For example:

    - `groundwatch golden import golden.jsonl faq.csv --map question=Frage --map reference_answer=Antwort`

    - `groundwatch golden import golden.jsonl old.csv --map answer_label=bad --value 1=hallucinated --at 2026-03-01`

    - `groundwatch golden import golden.jsonl --reviews --since 30d`
    """
    now = utc_now()
    refused: Sequence[str]
    if reviews == (table is not None):
        raise ConfigError("give a table, or --reviews for labels from the store, one of the two")
    if table is None:
        first, last = moment_of(since, now, "--since") or BEGINNING, moment_of(until, now, "--until") or now
        new, refused = cases_of_reviews(settings_of(config), first, last, intent, tenant or [])
    else:
        given_at = moment_of(at, now, "--at")
        filled = {"author": author} | ({"labelled_at": given_at.isoformat()} if given_at else {})
        filled |= _pairs(defaults, "--default")
        how = mapped(
            _pairs(columns, "--map"), _pairs(values, "--value"), {k: v for k, v in filled.items() if v}, separator
        )
        new, refused = _mapped_cases(read_table(table), how)
    change = Change(author or getpass.getuser(), now, unlock)
    _finish(file, new, refused, change, similarity=similarity, is_dry_run=is_dry_run, as_json=as_json)


def _finish(  # noqa: PLR0913  all of it comes from options
    file: Path,
    new: Iterable[GoldenCase],
    refused: Sequence[str],
    change: Change,
    *,
    similarity: float,
    is_dry_run: bool,
    as_json: bool,
) -> None:
    before = read_or_empty(file)
    added = add_cases(before, new, similarity)
    is_written = not is_dry_run and added.golden.cases != before.cases
    if is_written:
        save(file, added.golden, change)
    done = GoldenAdded.of(added, refused, is_written=is_written)
    for reason in done.refused[:MOST_SHOWN]:
        stderr().print(plain(reason))
    if len(done.refused) > MOST_SHOWN:
        stderr().print(f"and {len(done.refused) - MOST_SHOWN} more; --json lists them")
    if as_json:
        json_line(done.model_dump(mode="json"))
    else:
        stdout().print(describe_added(done))
    if done.refused:
        raise typer.Exit(ExitCode.FOUND_FAULTS)


def _one_case(base: GoldenCase | None, case_id: str, fields: dict[str, object]) -> GoldenCase:
    named = {"case_id": case_id} if case_id else {}
    if base is not None:
        return GoldenCase.model_validate({**base.model_dump(), **fields, **named})
    if not case_id or not fields.get("question"):
        raise ConfigError("a new case needs --id and --question; or give --trace, or --from with a file of cases")
    return GoldenCase.model_validate({**fields, **named})


def _read_cases(source: Path) -> tuple[list[GoldenCase], list[str]]:
    golden, faults = parse_golden(read_text(source).split("\n"))
    return list(golden.cases), [f"{source}: {fault}" for fault in faults]


def _mapped_cases(rows: Iterable[Row], how: Mapped) -> tuple[list[GoldenCase], list[str]]:
    cases: list[GoldenCase] = []
    refused: list[str] = []
    for row in rows:
        try:
            cases.append(case_of(row.cells, how))
        except ConfigError as error:
            refused.append(f"row {row.number}: {error}")
    return cases, refused


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    pairs = [text.partition("=") for text in given or ()]
    wrong = next((name for name, sign, _ in pairs if not sign or not name), None)
    if wrong is not None:
        raise ConfigError(f"{option} {wrong!r}: write NAME=VALUE")
    return {name.strip(): value.strip() for name, _, value in pairs}
