"""``groundwatch deadletter skip``: have ingest go on behind messages that nobody will ever be able to read."""

from typing import Annotated

import typer

from schemas.base import Record
from schemas.errors import NotReached
from streams.cli.display import json_line, plain, stderr, stdout
from streams.cli.options import AsJson, ConfigFile, settings_of


class Skipped(Record):
    """From where to where ingest skipped on a partition; ``messages`` are offsets, so an upper bound."""

    topic: str
    partition: int
    before: int
    after: int
    messages: int


def skip(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    topic: Annotated[str, typer.Option(help="Source topic.")],
    partition: Annotated[int, typer.Option(min=0, help="Partition of the topic.")],
    to: Annotated[int, typer.Option(min=0, help="Offset of the first message that is to be read again.")],
    config: ConfigFile = None,
    is_sure: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be skipped.")] = False,
    as_json: AsJson = False,
) -> None:
    """Move the place from which ingest goes on, after it stopped at the dead-letter ceiling (exit code 65).

    What is skipped is neither stored nor a dead letter; coverage counts it as skipped, so the store must be within
    reach, too. The topic itself is not touched. Every process with the role
    ingest must be stopped, or the move is refused. An offset before the present one has messages read again, which
    counts nothing twice.

    For example: `groundwatch deadletter skip --topic traces --partition 0 --to 48211`
    """
    from streams.cli.deadletter_places import moved, planned  # noqa: PLC0415  Kafka clients are slow to import

    settings = settings_of(config)
    if settings.embedded:
        raise NotReached("an embedded broker forgets its topics with its process; start `groundwatch run` anew instead")
    plan = planned(settings, topic, partition, to)
    text = f"{topic} {partition}: from offset {plan.before:,} to {plan.after:,}, {plan.messages:,} messages unread"
    if not dry_run:
        if not is_sure:
            stderr().print(plain(text))
            typer.confirm("Skip them?", abort=True, err=True)
        moved(settings, plan)
    if as_json:
        json_line(plan.model_dump(mode="json"))
    else:
        stdout().print(plain(text))
