"""A supervisor that starts a stopped ingest again and again drains nothing more into the dead letter."""

from dataclasses import replace
from pathlib import Path

import pytest

from streams.agents.batches import CeilingReached, Lifeline
from streams.agents.deadletter import Ceiling
from streams.agents.ingest import Ingest
from streams.broker.topics import DEADLETTER
from streams.deadletters import halts
from streams.deadletters.halts import FILE, Halts, hold_seconds
from streams.messages import Message
from tests.agents.flow import Flow, native

LIMIT = 10
BATCH = 4


def started(flow: Flow, folder: Path, limit: int = LIMIT) -> tuple[Halts, Ingest]:
    """A process that starts: the step, and what is around it; signalled, so that it holds out for no time."""
    step = replace(flow.ingest, ceiling=Ceiling(run_length=limit, ratio=0.5, window=40))
    lifeline = Lifeline()
    lifeline.stop("the test does not wait")
    return Halts.around(step, folder, lifeline), step


def batches(flow: Flow, values: list[bytes]) -> list[list[Message]]:
    """As the loop hands them out."""
    messages = [flow.message(value) for value in values]
    return [messages[start : start + BATCH] for start in range(0, len(messages), BATCH)]


async def until_it_stops(process: Halts, left: list[list[Message]]) -> bool:
    """Handle batches; those that are done are not seen again. True when the ceiling ended it."""
    while left:
        try:
            await process.handle(left[0])
        except CeilingReached:
            return True
        left.pop(0)
    return False


async def test_restarts_give_up_no_more_than_the_first_life_did(tmp_path: Path) -> None:
    """Whatever their number."""
    flow = Flow()
    left = batches(flow, [b"junk"] * 200)
    counts = []
    for _ in range(5):
        assert await until_it_stops(started(flow, tmp_path)[0], left)
        counts.append(len(flow.publisher.sent[DEADLETTER]))
    assert [8] * 5 == counts


async def test_a_higher_limit_lets_the_count_go_on(tmp_path: Path) -> None:
    """A person has decided that so many are to be given up."""
    flow = Flow()
    left = batches(flow, [b"junk"] * 20)
    assert await until_it_stops(started(flow, tmp_path)[0], left)
    assert not await until_it_stops(started(flow, tmp_path, limit=21)[0], left)
    assert 20 == len(flow.publisher.sent[DEADLETTER])


async def test_once_messages_can_be_read_the_past_is_forgotten(tmp_path: Path) -> None:
    """A mended mapping, or a place behind the junk."""
    flow = Flow()
    assert await until_it_stops(started(flow, tmp_path)[0], batches(flow, [b"junk"] * 12))
    process, step = started(flow, tmp_path)
    assert (1, 8) == (process.stops, step.ceiling.run)
    assert not await until_it_stops(process, batches(flow, [native(f"t-{n}") for n in range(BATCH)]))
    assert (0, 0, False) == (process.stops, step.ceiling.run, (tmp_path / FILE).exists())


async def test_the_share_is_remembered_too(tmp_path: Path) -> None:
    """Bad and good in turn never make a run."""
    flow = Flow()
    turn = [value for n in range(40) for value in (b"junk", b"junk", b"junk", native(f"t-{n}"))]
    left = batches(flow, turn)
    assert await until_it_stops(started(flow, tmp_path)[0], left)
    given_up = len(flow.publisher.sent[DEADLETTER])
    assert await until_it_stops(started(flow, tmp_path)[0], left)
    assert given_up == len(flow.publisher.sent[DEADLETTER])


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"stops": "many"}', '{"stops": 1, "run": []}'])
def test_a_damaged_file_stops_no_start(tmp_path: Path, content: str) -> None:
    """It is said, and counting begins anew."""
    (tmp_path / FILE).write_text(content)
    assert 0 == started(Flow(), tmp_path)[0].stops


def test_each_stop_holds_out_longer_up_to_five_minutes() -> None:
    """So that a restart does not loop hot, and somebody can read the reason."""
    assert [0, 10, 20, 40, 80, 160, 300, 300] == [hold_seconds(stops) for stops in range(1, 9)]
    assert hold_seconds(10_000) == halts.LONGEST_HOLD_SECONDS


async def test_a_signal_ends_the_wait(tmp_path: Path) -> None:
    """Whoever stops the process must not wait for minutes; the reason stays."""
    flow = Flow()
    left = batches(flow, [b"junk"] * 200)
    for stops in range(1, 4):
        process, _ = started(flow, tmp_path)
        assert await until_it_stops(process, left)
        assert stops == process.stops
