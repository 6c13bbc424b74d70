"""A message on which the process dies again and again is set aside, so that the stream behind it goes on.

What an agent has in hand stands in a file that outlives the process (``in_hand``). The next process finds it there and
tells the store, where deaths on other machines are counted, too. After deaths in batches the messages of such a batch
are handled in small groups, then one by one, until one of them is alone when a process dies.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import structlog

from schemas.errors import InvalidMessage, Retryable
from streams.agents.batches import CeilingReached, Handle, Lifeline
from streams.deadletters.in_hand import TOGETHER, InHand, deaths_in, milliseconds
from streams.deadletters.letters import POISON
from streams.messages import Message
from streams.sources.raw import Decoded
from streams.store import Store, Suspect

log = structlog.get_logger(__name__)
DEATHS = 3
"""Whatever else kills a process hardly ever finds it at the same message each time; three times is no chance."""
FOLDER = "in-hand"
GROUP = 16
"""Messages that are handled together after two deaths in a batch; after three each is alone. One is a kill."""
PASSING = (Retryable, CeilingReached, asyncio.CancelledError)
"""Errors with which a batch ends and the process does not, or not because of a message."""
T = TypeVar("T")
Decode = Callable[[Message], Awaitable[Decoded]]
Place = tuple[str, int, int, int]
"""Topic, partition, offset and record time: a topic that was made anew has other times."""


@dataclass(frozen=True, slots=True)
class Deaths:
    """How often processes died on a message: when it was alone in hand, and when it was one of several."""

    alone: int = 0
    together: int = 0

    @property
    def is_poison(self) -> bool:
        """Three times alone; once is enough after three batches that had it in common."""
        return self.alone >= DEATHS or (self.alone > 0 and self.alone + self.together > DEATHS)

    @property
    def is_unreadable(self) -> bool:
        """A process died on it again, though all that is done with poison is reading it."""
        return self.is_poison and self.alone + self.together > DEATHS + 1

    @property
    def at_once(self) -> int:
        """With how many others it may be handled: 0 for any number."""
        total = self.alone + self.together
        return 1 if total >= DEATHS or self.alone else GROUP if total > 1 else 0


class Hazards:
    """Messages on which processes died, by how often; and those that an agent of this process has in hand.

    ``turn`` is shared by the agents of a process: one at a time has a suspect alone in hand, so that a death accuses
    no message of another agent.
    """

    def __init__(self, in_hand: InHand, deaths: Mapping[Place, Deaths], turn: asyncio.Lock | None = None) -> None:
        self._in_hand = in_hand
        self._deaths = deaths
        self._turn = turn or asyncio.Lock()

    @classmethod
    async def open(cls, data_dir: Path, store: Store, now: datetime, turn: asyncio.Lock | None = None) -> "Hazards":
        """Find out how earlier processes on this folder died, and tell the store. Raises StoreUnavailable."""
        folder = data_dir / FOLDER
        await asyncio.to_thread(_report, folder, store, now)
        return cls(InHand(folder), counted(await asyncio.to_thread(store.suspects)), turn)

    def close(self) -> None:
        """The process ends as it should."""
        self._in_hand.close()

    async def until_stop(self, lifeline: Lifeline) -> None:
        """Once the process is told to stop, no message is to blame for its end, however that comes."""
        await lifeline.stopping.wait()
        self._in_hand.let_go()

    def watched(self, decode: Decode) -> Decode:
        """``decode``, except for messages that killed too often: those are a problem, and nobody looks at them."""

        async def guarded(message: Message) -> Decoded:
            try:
                self._refuse(message)
            except InvalidMessage as error:
                return Decoded(problems=(error,))
            with self._in_hand.holding([message], PASSING):
                return await decode(message)

        return guarded

    def checked(self, read: Callable[[Message], T]) -> Callable[[Message], T]:
        """``read``, except for messages that killed too often: InvalidMessage."""

        def guarded(message: Message) -> T:
            self._refuse(message)
            return read(message)

        return guarded

    def last_look(self, read: Callable[[Message], T]) -> Callable[[Message], T | None]:
        """``read`` of a message that was set aside; None where nothing can be read, or reading was what killed."""

        def guarded(message: Message) -> T | None:
            if self._of(message).is_unreadable:
                return None
            with suppress(InvalidMessage):
                return read(message)
            return None

        return guarded

    def guarded(self, handle: Handle) -> Handle:
        """``handle``, with each batch in hand while it runs, and suspects in smaller parts, in the order of the batch.

        A part may be handled again when a later one has to wait; that must change nothing, as with whole batches.
        """

        async def careful(messages: Sequence[Message]) -> None:
            for part in self._parts(messages):
                is_suspect = len(part) == 1 and self._of(part[0]).at_once
                async with self._turn if is_suspect else nullcontext():
                    with self._in_hand.holding(part, PASSING):
                        await handle(part)

        return careful

    def _parts(self, messages: Sequence[Message]) -> Iterator[list[Message]]:
        for at_once, run in groupby(messages, lambda message: self._of(message).at_once):
            some = list(run)
            step = at_once or len(some)
            yield from (some[start : start + step] for start in range(0, len(some), step))

    def _of(self, message: Message) -> Deaths:
        return self._deaths.get(_place(message), _NONE)

    def _refuse(self, message: Message) -> None:
        deaths = self._of(message)
        if deaths.is_poison:
            raise _set_aside(message, deaths)


_NONE = Deaths()


def counted(suspects: Iterable[Suspect]) -> dict[Place, Deaths]:
    """Deaths by message."""
    alone: defaultdict[Place, int] = defaultdict(int)
    together: defaultdict[Place, int] = defaultdict(int)
    for one in suspects:
        counts = together if one.death.startswith(TOGETHER) else alone
        counts[one.topic, one.partition, one.offset, one.recorded_ms] += 1
    return {place: Deaths(alone[place], together[place]) for place in {*alone, *together}}


def _report(folder: Path, store: Store, now: datetime) -> None:
    for path, suspects in deaths_in(folder):
        if suspects:
            first = suspects[0]
            log.error(
                "died_on_message",
                topic=first.topic, partition=first.partition, offset=first.offset, messages=len(suspects),
                consequence=f"one that is alone in hand at {DEATHS} deaths is set aside",
            )  # fmt: skip
            store.insert_suspects(suspects, now)
        path.unlink(missing_ok=True)


def _set_aside(message: Message, deaths: Deaths) -> InvalidMessage:
    log.error("message_set_aside", topic=message.topic, partition=message.partition, offset=message.offset)
    detail = (
        f"(message): {deaths.alone + deaths.together} times a process died with this message in hand, so it was set "
        "aside; after an update try `groundwatch deadletter replay` with this letter by name"
    )
    return InvalidMessage(POISON, detail)


def _place(message: Message) -> Place:
    return message.topic, message.partition, message.offset, milliseconds(message.recorded_at)
