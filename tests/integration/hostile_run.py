"""Sending a hostile corpus to a broker and finding every message again: in the store, a dead letter, or expired."""

import asyncio
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.record.util import calc_crc32c
from aiokafka.structs import ConsumerRecord

from schemas.errors import InvalidMessage
from streams.messages import Message
from streams.sources.native import decode_native
from streams.store import Store
from tests.builders import NOW
from tests.hostile import ODD, Fate, Hostile

MAX_REQUEST_BYTES = 64_000_000
_UNACKNOWLEDGED = 200
GROUP = "groundwatch.ingest"
PLACEHOLDER = "a-header-name-that-is-not-text"


@dataclass(frozen=True, slots=True)
class Sent:
    """A message and where it lies."""

    message: Hostile
    partition: int
    offset: int


def send(address: str, topic: str, messages: Iterable[Hostile]) -> list[Sent]:
    """Send in order and wait until the broker has every one."""

    async def run() -> list[Sent]:
        producer = AIOKafkaProducer(bootstrap_servers=address, linger_ms=5, max_request_size=MAX_REQUEST_BYTES)
        await producer.start()
        try:
            return await _send_all(producer, topic, messages)
        finally:
            await producer.stop()

    return asyncio.run(run())


async def _send_all(producer: AIOKafkaProducer, topic: str, messages: Iterable[Hostile]) -> list[Sent]:
    sent: list[Sent] = []
    waiting: list[tuple[Hostile, Any]] = []

    async def settle() -> None:
        for message, future in waiting:
            found = await future
            sent.append(Sent(message, found.partition, found.offset))
        waiting.clear()

    for message in messages:
        at = None if message.at is None else int(message.at.timestamp() * 1000)
        headers = list(message.headers)
        if message.key is None and message.value is None:
            future = await _send_nothing(producer, topic)
        elif any(ODD in name for name, _ in headers):
            future = await _send_odd_header(producer, topic, message)
        else:
            future = await producer.send(topic, message.value, key=message.key, timestamp_ms=at, headers=headers)
        waiting.append((message, future))
        if len(waiting) >= _UNACKNOWLEDGED:
            await settle()
    await settle()
    return sent


async def _send_odd_header(producer: AIOKafkaProducer, topic: str, message: Hostile) -> Any:
    """A header whose name is not UTF-8: other clients send it, no broker refuses it."""
    batch = producer.create_batch()
    batch.append(timestamp=None, key=message.key, value=message.value, headers=[(PLACEHOLDER, b"v")])
    batch._builder = _Patched(batch._builder)
    return await producer.send_batch(batch, topic, partition=0)


class _Patched:
    """A builder of a batch that spells the placeholder in bytes that are no text."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._builder, name)

    def build(self) -> bytearray:
        """The batch with its checksum."""
        data = bytearray(bytes(self._builder.build())).replace(PLACEHOLDER.encode(), b"\xff" * len(PLACEHOLDER))
        data[17:21] = struct.pack(">I", calc_crc32c(bytes(data[21:])))
        return data


async def _send_nothing(producer: AIOKafkaProducer, topic: str) -> Any:
    """Neither key nor value: the protocol allows it, the client's own ``send`` does not."""
    batch = producer.create_batch()
    batch.append(timestamp=None, key=None, value=None)
    return await producer.send_batch(batch, topic, partition=0)


def is_read(address: str, topic: str, sent: Sequence[Sent]) -> bool:
    """True once ingest has committed everything that was sent."""
    return read_share(address, topic, sent) >= 1


def read_share(address: str, topic: str, sent: Sequence[Sent]) -> float:
    """How much of what was sent ingest has committed, 0 to 1."""
    ends: dict[int, int] = {}
    for one in sent:
        ends[one.partition] = max(ends.get(one.partition, 0), one.offset + 1)

    async def committed() -> int:
        consumer = AIOKafkaConsumer(bootstrap_servers=address, group_id=GROUP, enable_auto_commit=False)
        await consumer.start()
        try:
            places = [TopicPartition(topic, partition) for partition in ends]
            consumer.assign(places)
            offsets = [await consumer.committed(place) for place in places]
        finally:
            await consumer.stop()
        return sum(min(offset or 0, ends[place.partition]) for place, offset in zip(places, offsets, strict=True))

    return asyncio.run(committed()) / max(sum(ends.values()), 1)


@dataclass(slots=True)
class Found:
    """Where messages were found again."""

    letters: dict[tuple[int, int], str] = field(default_factory=dict)
    """Reason by partition and offset."""
    traces: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Row by trace id: position and flags."""
    outcomes: dict[str, str] = field(default_factory=dict)
    expired: frozenset[str] = frozenset()


def find(data_dir: Path, letters: Sequence[ConsumerRecord]) -> Found:
    """Read the store of a stopped process; ``letters`` is what ``gw.deadletter`` held."""
    store = Store.open(f"chdb://{data_dir / 'store'}", read_only=True)
    try:
        rows = store._connection.query("SELECT trace_id, source_partition, source_offset, flags FROM traces FINAL")
        verdicts = store._connection.query("SELECT trace_id, outcome FROM verdicts FINAL")
        expired = store._connection.query("SELECT trace_id FROM expired FINAL")
    finally:
        store.close()
    return Found(
        letters={_position(letter): dict(letter.headers)["gw-reason"].decode() for letter in letters},
        traces={row["trace_id"]: row for row in rows},
        outcomes={row["trace_id"]: row["outcome"] for row in verdicts},
        expired=frozenset(row["trace_id"] for row in expired),
    )


def _position(letter: ConsumerRecord) -> tuple[int, int]:
    headers = dict(letter.headers)
    return int(headers["gw-partition"]), int(headers["gw-offset"])


def astray(sent: Sequence[Sent], found: Found) -> list[str]:
    """One line for each message that met another fate than the one expected; empty when all is accounted for."""
    fates = zip(sent, fates_of(sent, found), strict=True)
    return [
        f"{one.message.kind} at {one.partition}/{one.offset}: {fate}" for one, fate in fates if _is_wrong(one, fate)
    ]


def fates_of(sent: Sequence[Sent], found: Found) -> list[str]:
    """What became of each message, in order."""
    values = {(one.partition, one.offset): one.message.value for one in sent}
    return [_fate(one, found, values) for one in sent]


def _fate(one: Sent, found: Found, values: Mapping[tuple[int, int], bytes | None]) -> str:
    """By position; where the same bytes came twice, the store holds the position of either."""
    message = one.message
    reason = found.letters.get((one.partition, one.offset))
    if reason is not None:
        return f"letter {reason}"
    trace_id = message.trace_id or _id_of(message)
    row = found.traces.get(trace_id)
    if row is None:
        return "expired" if trace_id in found.expired else "lost"
    if values.get((row["source_partition"], row["source_offset"])) != message.value:
        # too old to be stored, so that a later message could take the id
        return "expired" if trace_id in found.expired else "lost, and another message has its id"
    if message.flag and message.flag not in row["flags"]:
        return f"stored without the flag {message.flag}"
    outcome = found.outcomes.get(trace_id, "")
    if message.outcome and outcome and outcome != message.outcome:
        return f"stored as {outcome}"
    return "stored"


def _is_wrong(one: Sent, fate: str) -> bool:
    message = one.message
    if message.fate is Fate.EITHER:
        return fate.startswith("lost")
    expected = {
        Fate.STORED: "stored",
        Fate.REPEATED: "stored",
        Fate.LETTER: f"letter {message.reason}",
        Fate.EXPIRED: "expired",
    }
    return fate != expected[message.fate]


def _id_of(message: Hostile) -> str:
    """The id that random bytes happen to carry."""
    try:
        return decode_native(Message("", 0, 0, None, message.value, (), NOW)).trace_id
    except InvalidMessage:
        return ""
