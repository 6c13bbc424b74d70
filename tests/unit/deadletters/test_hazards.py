"""What a process had in hand when it died is found by the next one; what it was done with is not."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from streams.deadletters.hazards import DEATHS, FOLDER, Hazards, InHand, counted, deaths_in
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
from streams.deadletters.hazards import InHand
from streams.messages import Message
message = Message("traces-ü", 3, 17, b"k", b"value", (), datetime.fromisoformat(sys.argv[2]))
in_hand = InHand(Path(sys.argv[1]))
with in_hand.holding(message):
    pass
if sys.argv[3] == "in hand":
    held = in_hand.holding(message)
    held.__enter__()
os._exit(139)
"""


def die(folder: Path, when: str) -> None:
    """Let a process end without a word, in the middle of a message or between two."""
    done = subprocess.run([sys.executable, "-c", DIES, str(folder), NOW.isoformat(), when], check=False)
    assert 139 == done.returncode


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
    with alive.holding(MESSAGE):
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


async def test_an_error_and_an_end_of_decoding_let_the_message_go(tmp_path: Path) -> None:
    """Only what is in hand at the very end counts."""

    async def fails(_message: Message) -> Decoded:
        raise RuntimeError

    hazards = await opened(tmp_path, MemoryStore())
    with pytest.raises(RuntimeError):
        await hazards.watched(fails)(MESSAGE)
    (file,) = (tmp_path / FOLDER).iterdir()
    assert b"\0" == file.read_bytes()[:1]
    hazards.close()


@pytest.mark.parametrize("content", [b"", b"\x01", b"junk" * 1000, os.urandom(2000)])
def test_a_damaged_file_stops_no_start(tmp_path: Path, content: bytes) -> None:
    """A full disk may have cut it."""
    (tmp_path / "x").write_bytes(content)
    assert 1 == len(list(deaths_in(tmp_path)))


def test_deaths_on_several_machines_add_up() -> None:
    """The partition moves on to the next worker, which dies on it, too."""
    plain = {"topic": "t", "partition": 0, "offset": 1, "recorded_ms": 5}
    assert {("t", 0, 1, 5): 2} == counted([Suspect(**plain, death="a"), Suspect(**plain, death="b")])
