"""``groundwatch store``: how much it holds, and whether what must hold holds."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from schemas.base import Record
from streams.cli.display import json_line, stderr, stdout
from streams.cli.exits import ExitCode
from streams.cli.options import AsJson, ConfigFile, Since, Until, moment_of, settings_of
from streams.clock import utc_now
from streams.settings import Settings, known_salt

if TYPE_CHECKING:
    from streams.store import CheckProgress, CheckResult, StoreStats

app = typer.Typer(no_args_is_help=True, help="Look after the store: what it holds, and whether that is sound.")


@app.command()
def stats(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Show rows, parts, bytes, ages and retention of every table, growth, and free disk space.

    Bytes are those on disk. Means are over the event times of the traces, so recorded history counts as it happened.

    For example:

    - `groundwatch store stats`

    - `groundwatch store stats --json | jq .bytes_per_trace`
    """
    from streams.cli.store_view import describe_stats  # noqa: PLC0415  the store's client is slow to import

    found = read_stats(settings_of(config))
    if as_json:
        json_line(found.model_dump(mode="json"))
    else:
        stdout().print(describe_stats(found))


@app.command()
def verify(
    config: ConfigFile = None,
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="Show so many examples of a fault.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Check that tables, draws, verdicts, passages and tallies agree; say what is wrong and what to do about it.

    Left out, --since is as far back as retention keeps everything for certain. Times are widened to whole hours. The
    store is only read. Exit code 0 when all is fine, 1 when faults were found.

    For example:

    - `groundwatch store verify`

    - `groundwatch store verify --since 24h --json | jq 'select(.faults > 0)'`
    """
    from streams.cli.store_view import describe_result  # noqa: PLC0415  as above
    from streams.store import CheckResult  # noqa: PLC0415

    now = utc_now()
    times = (moment_of(since, now, "--since"), moment_of(until, now, "--until"))
    faulty = 0
    steps = verification(settings_of(config), times, limit)
    for step in _with_progress(steps, is_shown=not as_json):
        if isinstance(step, CheckResult):
            faulty += bool(step.faults)
            if as_json:
                json_line(step.model_dump(mode="json"))
            else:
                stdout().print(describe_result(step))
    if not as_json:
        stdout().print(f"{faulty} checks found faults." if faulty else "All is sound.")
    if faulty:
        raise typer.Exit(ExitCode.FOUND_FAULTS)


@app.command()
def rebuild(
    since: Annotated[str, typer.Option(help="From this time on: 2026-03-10T12:00Z, 2026-03-10, or 6h, 7d before now.")],
    until: Until = "",
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Have the tallies of whole hours counted again from traces and verdicts; nothing else is changed.

    The job of the role alert does it at its next tick, a few seconds away while a process runs. For what `store verify`
    finds wrong in tallies, or after rows were changed by hand. Left out, --until is now.

    For example: `groundwatch store rebuild --since 2026-03-10T12:00Z --until 2026-03-10T14:00Z`
    """
    now = utc_now()
    start, end = moment_of(since, now, "--since") or now, moment_of(until, now, "--until") or now
    done = Rebuilding(buckets=ask_rebuild(settings_of(config), start, end))
    if as_json:
        json_line(done.model_dump(mode="json"))
    else:
        stdout().print(f"{done.buckets:,} buckets of 5 minutes are counted again at the next tick of the role alert.")


class Rebuilding(Record):
    """What ``store rebuild`` asked for: so many 5-minute ``buckets`` have rows or tallies."""

    buckets: int


def ask_rebuild(settings: Settings, since: datetime, until: datetime) -> int:
    """Mark the hours; the number of buckets. Raises NotReached, StoreUnavailable."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  as above

    if process := running_process(settings):
        times = {"since": since.isoformat(), "until": until.isoformat()}
        return int(process.post("/api/v1/store/rebuild", "", **times)["buckets"])
    with opened_store(settings, read_only=False) as store:
        return store.mark_for_rebuild(since, until)


def read_stats(settings: Settings) -> "StoreStats":
    """Size, age and growth. Raises NotReached, StoreUnavailable."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  as above
    from streams.store import StoreStats  # noqa: PLC0415

    if process := running_process(settings):
        return StoreStats.model_validate(process.get("/api/v1/store/stats", is_long=True))
    with opened_store(settings, read_only=True) as store:
        return store.stats()


def verification(
    settings: Settings, times: tuple[datetime | None, datetime | None], limit: int
) -> "Iterator[CheckProgress | CheckResult]":
    """The steps of a verification over [since, until) as they come. Raises NotReached, StoreUnavailable."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  as above
    from streams.store import CheckProgress, CheckResult, Verification  # noqa: PLC0415

    since, until = times
    if process := running_process(settings):
        asked = {name: at.isoformat() for name, at in (("since", since), ("until", until)) if at is not None}
        for body in process.lines("/api/v1/store/verify", limit=limit, **asked):
            yield (CheckProgress if "done" in body else CheckResult).model_validate(body)
        return
    wanted = Verification(
        now=utc_now(),
        since=since,
        until=until,
        limit=limit,
        salt=known_salt(settings),
        retention_days=settings.store.retention_days,
    )
    with opened_store(settings, read_only=True) as store:
        yield from store.verify(wanted)


def _with_progress(
    steps: "Iterator[CheckProgress | CheckResult]", *, is_shown: bool
) -> "Iterator[CheckProgress | CheckResult]":
    """The same steps, with a bar on the terminal for the check that is at work."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    console = stderr()
    with Progress(
        *columns, console=console, transient=True, disable=not (is_shown and console.is_terminal)
    ) as progress:
        task = progress.add_task("opening the store", total=None)
        for step in steps:
            done, total = getattr(step, "done", None), getattr(step, "total", None)
            progress.update(task, description=step.name.replace("_", " "), completed=done or 0, total=total)
            yield step
