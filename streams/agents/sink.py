"""The sink step: verdicts from ``gw.verdicts`` into the store; only a row that the store refuses is set aside."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from schemas.verdict import Verdict
from streams.agents.deadletter import bury, from_error, read_each, reader_of
from streams.agents.quarantine import insert_or_quarantine
from streams.broker.publisher import Publisher
from streams.messages import Message
from streams.store import Store

STAGE = "sink"


@dataclass(slots=True)
class Sink:
    """Handles batches of ``gw.verdicts``."""

    store: Store
    publisher: Publisher
    max_message_bytes: int = 16_000_000
    read: Callable[[Message], Verdict] = field(default_factory=lambda: reader_of(Verdict))

    async def handle(self, messages: Sequence[Message]) -> None:
        """Store every verdict. Raises Retryable while the store or the broker is away."""
        read, letters = read_each(messages, self.read, STAGE)
        by_verdict = {id(verdict): message for message, verdict in read}
        verdicts = [verdict for _, verdict in read]
        refused = await asyncio.to_thread(insert_or_quarantine, self.store.insert_verdicts, verdicts)
        letters += [from_error(by_verdict[id(verdict)], error, STAGE) for verdict, error in refused]
        await bury(letters, self.publisher, self.max_message_bytes)
