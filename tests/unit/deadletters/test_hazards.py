"""What a process had in hand when it died is found by the next one; what it was done with is not."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import InvalidMessage, RegistryUnavailable
from streams.agents.batches import CeilingReached, Lifeline
from streams.deadletters.hazards import DEATHS, FOLDER, Deaths, Hazards, counted
from streams.deadletters.in_hand import TOGETHER, InHand, deaths_in, milliseconds
from streams.messages import Message
from streams.sources.raw import Decoded
from streams.store import Store, Suspect
from tests.builders import NOW
from tests.fakes_store import MemoryStore

MESSAGE = Message("traces-ü", 3, 17, b"k", b"value", (), NOW)
DIES = """
import os, sys
from datetime import datetime
from pathlib import Path
from streams.deadletters.in_hand import InHand
from streams.messages import Message
message = Message("traces-ü", 3, 17, b"k", b"value", (), datetime.fromisoformat(sys.argv[2]))
in_hand = InHand(Path(sys.argv[1]))
with in_hand.holding([message]):
    pass
if sys.argv[3] == "in hand":
    held = in_hand.holding([message])
    held.__enter__()
os._exit(139)
"""


def die(folder: Path, when: str) -> None:
    """Let a process end without a word, in the middle of a message or between two."""
    done = subprocess.run([sys.executable, "-c", DIES, str(folder), NOW.isoformat(), when], check=False)
    assert 139 == done.returncode


def abandon(hazards: Hazards) -> None:
    """The process is gone: its file stays, and nobody holds it."""
    hazards._in_hand._memory.close()  # it has a descriptor of its own, and so the lock
    os.close(hazards._in_hand._descriptor)


async def opened(folder: Path, store: MemoryStore) -> Hazards:
    """What a starting process does."""
    return await Hazards.open(folder, cast("Store", store), NOW)


async def decode(_message: Message) -> Decoded:
    """A decoder that works."""
    return Decoded(ignored=1)


async def test_a_message_is_set_aside_after_three_deaths_and_not_before(tmp_path: Path) -> None:
    """Its neighbours are read as ever, also one at the same place of a topic that was made anew."""
    store = MemoryStore()
    for deaths in range(DEATHS + 1):
        hazards = await opened(tmp_path, store)
        watched = hazards.watched(decode)
        found = await watched(MESSAGE)
        assert (deaths == DEATHS) == bool(found.problems)
        for other in (replace(MESSAGE, offset=18), replace(MESSAGE, recorded_at=datetime(2001, 1, 1, tzinfo=UTC))):
            assert Decoded(ignored=1) == await watched(other)
        hazards.close()
        die(tmp_path / FOLDER, "in hand")
    assert "poison_suspected: (message): 3 times" in str(found.problems[0])


async def test_a_process_that_dies_between_messages_accuses_none(tmp_path: Path) -> None:
    """Most deaths have nothing to do with what is read."""
    store = MemoryStore()
    die(tmp_path / FOLDER, "between")
    (await opened(tmp_path, store)).close()
    assert ([], []) == (store.suspects(), list((tmp_path / FOLDER).iterdir()))


async def test_a_living_process_is_not_taken_for_a_dead_one(tmp_path: Path) -> None:
    """Several may share a data folder."""
    store = MemoryStore()
    alive = InHand(tmp_path / FOLDER)
    with alive.holding([MESSAGE]):
        (await opened(tmp_path, store)).close()
    assert [] == store.suspects()
    alive.close()


async def test_a_store_that_is_away_leaves_the_evidence(tmp_path: Path) -> None:
    """The next start finds it."""
    die(tmp_path / FOLDER, "in hand")

    class Away(MemoryStore):
        def insert_suspects(self, _rows: object, _now: object) -> None:
            raise ConnectionError

    with pytest.raises(ConnectionError):
        await opened(tmp_path, Away())
    assert 1 == len(list(deaths_in(tmp_path / FOLDER)))


@pytest.mark.parametrize(
    ("error", "is_accused"),
    [(RegistryUnavailable("away"), False), (CeilingReached("too many"), False), (RuntimeError("a bug"), True)],
    ids=["waits", "ceiling", "bug"],
)
async def test_an_error_on_which_the_process_ends_accuses_what_was_in_hand(
    tmp_path: Path, error: Exception, *, is_accused: bool
) -> None:
    """What is tried again, or stops for another reason, accuses nothing."""

    async def fails(_messages: Sequence[Message]) -> None:
        raise error

    store = MemoryStore()
    hazards = await opened(tmp_path, store)
    with pytest.raises(type(error)):
        await hazards.guarded(fails)([MESSAGE])
    abandon(hazards)
    (await opened(tmp_path, store)).close()
    assert is_accused == bool(store.suspects())


async def test_a_message_of_a_batch_is_in_hand_alone_while_it_is_decoded(tmp_path: Path) -> None:
    """And the whole batch before and after that."""
    store, batch = MemoryStore(), [replace(MESSAGE, offset=offset) for offset in range(3)]

    async def handle(messages: Sequence[Message]) -> None:
        await hazards.watched(decode)(messages[0])
        raise RuntimeError

    async def decode_badly(message: Message) -> Decoded:
        raise RuntimeError(message.offset)

    async def handle_badly(messages: Sequence[Message]) -> None:
        await hazards.watched(decode_badly)(messages[1])

    for step in (handle, handle_badly):
        hazards = await opened(tmp_path, store)
        with pytest.raises(RuntimeError):
            await hazards.guarded(step)(batch)
        abandon(hazards)
    (await opened(tmp_path, store)).close()
    found = counted(store.suspects())
    assert [Deaths(0, 1), Deaths(1, 1), Deaths(0, 1)] == [one for _, one in sorted(found.items())]


async def test_a_process_that_was_told_to_stop_accuses_nothing(tmp_path: Path) -> None:
    """It may be ended before everything in hand is done."""
    store, lifeline = MemoryStore(), Lifeline()
    hazards = await opened(tmp_path, store)

    async def stopped(_messages: Sequence[Message]) -> None:
        lifeline.stop("signal")
        await hazards.until_stop(lifeline)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await hazards.guarded(stopped)([MESSAGE])
    abandon(hazards)
    (await opened(tmp_path, store)).close()
    assert [] == store.suspects()


class Killed(BaseException):
    """The process is gone, in the middle of something."""


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 60), st.data())
async def test_one_message_that_kills_is_found_among_all_and_costs_no_other(size: int, data: st.DataObject) -> None:
    """Whatever the batches: four deaths at most, and everything else is handled, in order in every life."""
    poison = data.draw(st.integers(0, size - 1))
    store, handled, letters, deaths = MemoryStore(), set[int](), set[int](), 0
    messages = [replace(MESSAGE, offset=offset) for offset in range(size)]
    with tempfile.TemporaryDirectory() as folder:
        while True:
            hazards = await opened(Path(folder), store)
            read, seen = hazards.checked(lambda message: message.offset), list[int]()

            async def handle(
                some: Sequence[Message], read: Callable[[Message], int] = read, seen: list[int] = seen
            ) -> None:
                for message in some:
                    seen.append(message.offset)
                    try:
                        read(message)
                    except InvalidMessage:
                        letters.add(message.offset)
                    else:
                        if message.offset == poison:
                            raise Killed
                        handled.add(message.offset)

            start = data.draw(st.integers(0, poison))
            try:
                for batch in (messages[:start], messages[start:]):
                    if batch:
                        await hazards.guarded(handle)(batch)
            except Killed:
                deaths += 1
                assert deaths <= DEATHS + 1
                abandon(hazards)
                continue
            assert sorted(seen) == seen
            hazards.close()
            break
    assert ({poison}, set(range(size)) - {poison}) == (letters, handled)


async def test_one_suspect_at_a_time_is_alone_in_hand(tmp_path: Path) -> None:
    """Otherwise the death of one agent would accuse a message of another."""
    turn, at_once = asyncio.Lock(), []
    accused = {("traces-ü", 3, offset, milliseconds(NOW)): Deaths(alone=1) for offset in range(4)}
    agents = [Hazards(InHand(tmp_path), accused, turn) for _ in range(2)]
    running = 0

    async def handle(some: Sequence[Message]) -> None:
        nonlocal running
        running += 1
        at_once.append((running, len(some)))
        await asyncio.sleep(0)
        running -= 1

    messages = [replace(MESSAGE, offset=offset) for offset in range(4)]
    await asyncio.gather(*(agent.guarded(handle)(messages) for agent in agents))
    assert [(1, 1)] * 8 == at_once


@pytest.mark.parametrize("content", [b"", b"\x01", b"junk" * 1000, b"\xff" * 65_536], ids=["0", "1", "4000", "65536"])
def test_a_damaged_file_stops_no_start(tmp_path: Path, content: bytes) -> None:
    """A full disk may have cut it."""
    (tmp_path / "x").write_bytes(content)
    assert 1 == len(list(deaths_in(tmp_path)))


def test_deaths_on_several_machines_add_up() -> None:
    """The partition moves on to the next worker, which dies on it, too."""
    plain = {"topic": "t", "partition": 0, "offset": 1, "recorded_ms": 5}
    deaths = [Suspect(**plain, death=death) for death in ("a", "b", f"{TOGETHER}c")]
    assert {("t", 0, 1, 5): Deaths(alone=2, together=1)} == counted(deaths)


@pytest.mark.parametrize(
    ("alone", "together", "is_looked_at"),
    [(3, 0, True), (4, 0, True), (5, 0, False), (1, 3, True), (2, 3, False)],
)
def test_what_was_set_aside_is_read_until_that_kills(
    tmp_path: Path, alone: int, together: int, *, is_looked_at: bool
) -> None:
    """Deaths go on being counted after a message was set aside."""
    accused = {("traces-ü", 3, 17, milliseconds(NOW)): Deaths(alone, together)}
    hazards = Hazards(InHand(tmp_path), accused)
    with pytest.raises(InvalidMessage):
        hazards.checked(lambda message: message.offset)(MESSAGE)
    assert (17 if is_looked_at else None) == hazards.last_look(lambda message: message.offset)(MESSAGE)
    hazards.close()


def test_what_nobody_can_read_has_no_last_look(tmp_path: Path) -> None:
    """A writer of another version may have made it."""

    def refuse(message: Message) -> int:
        raise InvalidMessage("not_json", str(message.offset))

    hazards = Hazards(InHand(tmp_path), {})
    assert hazards.last_look(refuse)(MESSAGE) is None
    hazards.close()
