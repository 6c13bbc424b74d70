"""``groundwatch deadletter replay``: letters through the pipeline again, once the cause is mended."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from schemas.errors import ConfigError
from streams.cli.deadletter_options import Reasons, Stages, Topics, wanted_of
from streams.cli.deadletter_view import Replayed, escaped
from streams.cli.display import json_line, plain, stderr, stdout
from streams.cli.exits import ExitCode
from streams.cli.options import AsJson, ConfigFile, Since, settings_of
from streams.clock import utc_now
from streams.deadletters.choosing import Wanted, named, replayable
from streams.deadletters.letters import Letter, Position
from streams.settings import Settings

SHOWN = 20
"""Letters that are named of those that could not be replayed; --json has all counts, `list` all letters."""
NOTHING_CHOSEN = (
    "say which letters: LETTER such as 0:12, --reason, --stage, --topic, --since, or --all for every open one"
)


def replay(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    letters: Annotated[list[str] | None, typer.Argument(help="Letters as `list` shows them, such as 0:12.")] = None,
    config: ConfigFile = None,
    reason: Reasons = None,
    stage: Stages = None,
    topic: Topics = None,
    since: Since = "",
    is_every: Annotated[bool, typer.Option("--all", help="Every open letter.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, oldest first.")] = 1_000_000,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only read them with the configuration as it is now, and say which can be."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take dead letters in again after their cause was mended: a mapping, a limit, the registry, an upgrade.

    Each goes through the step that refused it, with its original position and time, so it gets the id, intent and draw
    that it would have had, and replaying twice counts once. Source topics are not written to. What was taken in no
    longer shows in `list`; what is refused again stays. A process that runs here does the work and reads formats,
    mappings and rules (`sources`) anew; other settings of it count as they are.

    Messages on which the process died (poison_suspected) are replayed only with --reason poison_suspected or by name.

    Exit code 1 when a letter was refused again or cannot be replayed.

    For example:

    - `groundwatch deadletter replay --reason not_json --dry-run`

    - `groundwatch deadletter replay --topic traces --since 6h`

    - `groundwatch deadletter replay 0:12 3:4`
    """
    settings = settings_of(config)
    wanted = wanted_of(reason, stage, topic, since, utc_now())
    if not letters and not is_every and wanted == Wanted():
        raise ConfigError(NOTHING_CHOSEN)
    chosen = _chosen(settings, [Position.parse(text) for text in letters or ()], wanted)[:limit]
    if not chosen:
        _say_counts(Replayed(), as_json=as_json)
        return
    _run(settings, chosen, dry_run=dry_run, as_json=as_json)


def _chosen(settings: Settings, positions: Sequence[Position], wanted: Wanted) -> list[Letter]:
    from streams.cli.deadletter_work import letters_of  # noqa: PLC0415  Kafka clients are slow to import

    found = letters_of(settings, wanted.since).letters
    if positions:
        return [letter for letter in named(found, positions) if wanted.fits(letter)]
    return replayable(found, wanted)


def _run(settings: Settings, chosen: Sequence[Letter], *, dry_run: bool, as_json: bool) -> None:
    from streams.cli.deadletter_work import previewed, replayed  # noqa: PLC0415  as above

    work = previewed if dry_run else replayed
    positions = [letter.position for letter in chosen]
    with _progress(len(chosen), is_shown=not as_json) as on_done:
        outcomes = work(settings, positions, on_done)
    results = Counter[str](outcome.result for outcome in outcomes)
    gone = len(chosen) - len(outcomes)
    counts = Replayed(letters=len(chosen), gone=gone, **results)
    left = [outcome for outcome in outcomes if outcome.result in {"refused", "impossible"}]
    if not as_json:
        for outcome in left[:SHOWN]:
            detail = escaped(outcome.detail.encode("utf-8", "replace"))
            stderr().print(plain(f"{outcome.letter}  {outcome.result}  {outcome.reason}: {detail}"))
        if len(left) > SHOWN:
            stderr().print(f"and {len(left) - SHOWN:,} more")
    _say_counts(counts, as_json=as_json)
    if left or gone:
        raise typer.Exit(ExitCode.FOUND_FAULTS)


def _say_counts(counts: Replayed, *, as_json: bool) -> None:
    if as_json:
        json_line(counts.model_dump(mode="json"))
    elif not counts.letters:
        stdout().print("No open letter fits; nothing to replay.")
    else:
        said = {name.replace("_", " "): number for name, number in counts.model_dump().items() if number}
        stdout().print(", ".join(f"{name} {number:,}" for name, number in said.items()))


@contextmanager
def _progress(total: int, *, is_shown: bool) -> Iterator[Callable[[int], None]]:
    """A bar over so many letters; gives what moves it."""
    columns = (TextColumn("replay"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr(), disable=not is_shown) as progress:
        task = progress.add_task("replay", total=total)
        yield lambda done: progress.update(task, completed=done)
