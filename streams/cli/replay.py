"""``groundwatch replay``: recorded traces to a topic, as a product would have sent them."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from schemas.errors import ConfigError
from streams.cli.display import json_line, stderr, stdout
from streams.cli.exits import ExitCode
from streams.cli.options import ConfigFile, settings_of
from streams.cli.recorded import read_lines, total_bytes
from streams.cli.replaying import Recorded, Stamp, due_as_recorded, due_at_rate, understand
from streams.run_file import embedded_servers
from streams.settings import Settings


def replay(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    files: Annotated[list[Path], typer.Argument(help="JSON Lines files, plain or gzip; - is standard input.")],
    config: ConfigFile = None,
    topic: Annotated[str, typer.Option(help="Topic; the first source topic of the configuration when left out.")] = "",
    rate: Annotated[float, typer.Option(min=0, help="Traces a second; 0 is as fast as the broker takes them.")] = 50.0,
    as_recorded: Annotated[bool, typer.Option("--as-recorded", help="Pace by the recorded event times.")] = False,
    speed: Annotated[float, typer.Option(min=0.001, help="With --as-recorded: so many times faster.")] = 1.0,
    keep_time: Annotated[
        bool, typer.Option("--keep-time", help="Leave event times as recorded; else each becomes the time of sending.")
    ] = False,
    id_suffix: Annotated[
        str, typer.Option(help="Added to each trace id, so that a second replay is not taken for duplicates.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object, no progress.")] = False,
) -> None:
    """Send recorded traces to a topic.

    An id stands for one trace: to send a file a second time with new event times, give it an --id-suffix.

    A line that is no JSON object is sent as it is and counted: its way into the dead letter is part of a replay.
    Exit code 1 when the broker refused a line as too large.

    For example:

    - `groundwatch replay traces.jsonl.gz --rate 200`

    - `groundwatch replay - --as-recorded --speed 60 < traces.jsonl`

    - `groundwatch replay old.jsonl --keep-time --rate 0` recorded history, with its own event times
    """
    settings = settings_of(config)
    topic = topic or next(iter(settings.kafka.source.topics), "")
    if not topic:
        raise ConfigError("kafka.source.topic_pattern stands for many topics; name one with --topic")
    stamp = Stamp(keeps_time=keep_time, id_suffix=id_suffix)
    with _progress(is_shown=not as_json) as progress:
        task = progress.add_task("replay", total=total_bytes(files), sent=0, not_json=0)
        lines = _followed(files, progress, task)
        due = due_as_recorded(lines, speed) if as_recorded else due_at_rate(lines, rate)
        counts = _send(settings, topic, due, stamp, (progress, task))
    if as_json:
        json_line(counts)
    else:
        stdout().print(", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in counts.items()))
    if counts["refused"]:
        raise typer.Exit(ExitCode.FOUND_FAULTS)


def _send(
    settings: Settings,
    topic: str,
    due: Iterable[tuple[float, Recorded]],
    stamp: Stamp,
    shown: tuple[Progress, TaskID],
) -> dict[str, float]:
    from streams.broker.connection import Connection  # noqa: PLC0415  Kafka clients are slow to import
    from streams.cli.sending import Sent, Target, send_all  # noqa: PLC0415
    from streams.settings.connect import connection_of  # noqa: PLC0415

    if settings.embedded:
        fix = "start `groundwatch run` first, or set `embedded: false` and kafka.source"
        connection = Connection(embedded_servers(settings.data_dir, fix))
    else:
        connection = connection_of(settings.kafka.source)
    progress, task = shown

    def on_line(counts: Sent) -> None:
        progress.update(task, sent=counts.sent, not_json=counts.not_json)

    target = Target(connection, topic, settings.ingest.max_message_bytes)
    counts = asyncio.run(send_all(target, due, stamp, on_line))
    return asdict(counts) | {"seconds": round(counts.seconds, 3)}


def _followed(files: list[Path], progress: Progress, task: TaskID) -> Iterator[Recorded]:
    """The lines, with the progress bar moved along by the bytes read."""
    done_bytes = 0
    previous = None
    for line in read_lines(files):
        if previous is not None and previous.file != line.file:
            done_bytes += previous.position
        previous = line
        progress.update(task, completed=done_bytes + line.position)
        yield understand(line.content)


def _progress(*, is_shown: bool) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %  sent {task.fields[sent]:,}  not JSON {task.fields[not_json]:,}"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=stderr(), disable=not is_shown)
