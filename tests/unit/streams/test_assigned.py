"""What a process reads, asked at any moment of its life."""

from types import SimpleNamespace
from typing import Any, cast

import faust
from faust.exceptions import ConsumerNotStarted
from faust.types import TP

from streams.agents.app import assigned


def app(*, is_started: bool = True, is_rebalancing: bool = False, has_consumer: bool = True) -> faust.App:
    """An app that reads one partition with ten messages."""

    def assignment() -> set[TP]:
        if not has_consumer:
            raise ConsumerNotStarted
        return {TP("gw.spans", 0)}

    consumer = SimpleNamespace(assignment=assignment, readable_end=lambda _: 10)
    found: Any = SimpleNamespace(started=is_started, rebalancing=is_rebalancing, consumer=consumer)
    return cast("faust.App", found)


def test_partitions_have_their_ends() -> None:
    """The usual case."""
    assert {("gw.spans", 0): 10} == assigned(app())


def test_nothing_is_assigned_before_the_start_and_in_a_rebalance() -> None:
    """An app says that it has started before its consumer has: that is no failure."""
    assert {} == assigned(app(is_started=False))
    assert {} == assigned(app(is_rebalancing=True))
    assert {} == assigned(app(has_consumer=False))
