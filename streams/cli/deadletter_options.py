"""Filters that the commands on dead letters share."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer

from streams.cli.options import moment_of
from streams.deadletters.choosing import Wanted

Reasons = Annotated[
    list[str] | None, typer.Option("--reason", help="Only this reason, such as not_json; may be repeated.")
]
Stages = Annotated[
    list[str] | None,
    typer.Option("--stage", help="Only what this stage refused: ingest, assemble, verify, sink; may be repeated."),
]
Topics = Annotated[list[str] | None, typer.Option("--topic", help="Only messages of this topic; may be repeated.")]


def wanted_of(  # noqa: PLR0913  each filter is a parameter
    reasons: Sequence[str] | None,
    stages: Sequence[str] | None,
    topics: Sequence[str] | None,
    since: str,
    now: datetime,
    *,
    has_replayed: bool = False,
) -> Wanted:
    """The filters that options mean. Raises ConfigError for a time that is none."""
    return Wanted(
        reasons=frozenset(reasons or ()),
        stages=frozenset(stages or ()),
        topics=frozenset(topics or ()),
        since=moment_of(since, now, "--since"),
        has_replayed=has_replayed,
    )
