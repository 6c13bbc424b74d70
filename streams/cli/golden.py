"""``groundwatch golden``: questions whose good answers people agreed on; check, split, lock, relabel, compare."""

from pathlib import Path
from typing import Annotated

import typer

from detectors.golden import read_golden, read_golden_lines, read_lock, read_well_formed
from detectors.golden.checks import Expected, named_in, problems_of
from detectors.golden.diffing import diff_golden
from detectors.golden.near import SIMILARITY
from detectors.golden.problem import Problem
from detectors.golden.stats import stats_of
from schemas.errors import ConfigError
from streams.cli import golden_change, golden_intake
from streams.cli.display import json_line, plain, stderr, stdout
from streams.cli.exits import ExitCode
from streams.cli.golden_options import SetFile, Similarity
from streams.cli.golden_view import CheckedProblem, case_line, case_text, describe_diff, describe_stats
from streams.cli.options import AsJson
from streams.cli.policy_files import parsed
from streams.clock import utc_now

MOST_SHOWN = 50
app = typer.Typer(
    no_args_is_help=True,
    help="Golden sets: cases with agreed answers and labels, one JSON object a line (docs/golden-sets.md).",
)
app.command("add")(golden_intake.add)
app.command("import")(golden_intake.import_)
app.command("split")(golden_change.split)
app.command("lock")(golden_change.lock)
app.command("relabel")(golden_change.relabel)


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="Golden sets, JSON Lines.")],
    policy: Annotated[
        Path | None, typer.Option(help="Policy file whose intents and tiers the cases must have.")
    ] = None,
    similarity: Similarity = SIMILARITY,
    is_strict: Annotated[bool, typer.Option("--strict", help="Doubts end with exit code 1, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check golden sets whole: every faulty line, leaks between splits, labels that deny each other, a broken lock.

    Exit code 1 when there are faults; doubts are shown and count with --strict only.

    For example:

    - `groundwatch golden check golden.jsonl`

    - `groundwatch golden check golden.jsonl --policy policy.yaml --strict --json`
    """
    intents, tiers = named_in(parsed(policy)) if policy else (None, None)
    is_fine = True
    for file in files:
        golden, malformed = read_golden_lines(file)
        problems = [Problem(bad.line, "", bad.field, bad.fault.strip()) for bad in malformed]
        problems += problems_of(golden, Expected(utc_now(), read_lock(file), intents, tiers, similarity))
        problems.sort(key=lambda problem: (problem.is_doubt, problem.line))
        is_fine &= not any(is_strict or not problem.is_doubt for problem in problems)
        if as_json:
            for problem in problems:
                json_line(CheckedProblem.of(file, problem).model_dump(mode="json"))
            continue
        for problem in problems[:MOST_SHOWN]:
            stderr().print(plain(f"{file}: {'doubt: ' if problem.is_doubt else ''}{problem}"))
        if len(problems) > MOST_SHOWN:
            stderr().print(plain(f"{file}: and {len(problems) - MOST_SHOWN} more; --json lists them"))
        if not problems:
            stdout().print(plain(f"{file}: fine ({len(golden.cases):,} cases, version {golden.version})"))
    if not is_fine:
        raise typer.Exit(ExitCode.FOUND_FAULTS)


@app.command()
def stats(
    file: SetFile,
    cases: Annotated[bool, typer.Option("--cases", help="List the cases with their labels, too.")] = False,
    case: Annotated[str, typer.Option(help="Show this case alone, with its claims and all its labels.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show how many cases and labels a set has, by split and slice, and how many are missing to be enough.

    For example:

    - `groundwatch golden stats golden.jsonl --cases`

    - `groundwatch golden stats golden.jsonl --json | jq .missing_labels`
    """
    golden = read_golden(file)
    if case and case not in golden.by_id():
        raise ConfigError(f"--case {case!r}: no such case in {file}; --cases lists the ids")
    found = stats_of(golden, is_locked=read_lock(file) is not None)
    if as_json:
        json_line(found.model_dump(mode="json"))
        return
    if case:
        stdout().print(case_text(golden.by_id()[case]))
        return
    stdout().print(describe_stats(found))
    if cases:
        for one in golden.cases:
            stdout().print(case_line(one))


@app.command()
def diff(
    before: Annotated[Path, typer.Argument(help="The earlier set.")],
    after: Annotated[Path, typer.Argument(help="The later one.")],
    as_json: AsJson = False,
) -> None:
    """Show what changed between two versions of a set: cases added and removed, fields, labels with author and date.

    For example:

    - `git show HEAD~1:golden.jsonl > old.jsonl; groundwatch golden diff old.jsonl golden.jsonl`

    - `groundwatch golden diff old.jsonl golden.jsonl --json | jq .changes`
    """
    found = diff_golden(read_well_formed(before), read_well_formed(after))
    if as_json:
        json_line(found.model_dump(mode="json"))
    else:
        stdout().print(describe_diff(found))
