"""Traces for tests of delivery: native messages, and requests whose spans come in several messages."""

import asyncio
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from aiokafka import AIOKafkaProducer

from tests.openinference import call, hex_id, message, retriever, root

WORDS = """
refund order delivery parcel lamp invoice account payment voucher return warranty repair shop customer address
instalment balance fee transfer statement limit insurance claim policy letter week month notice contract
""".split()  # noqa: SIM905  a list of words reads better without forty quotation marks
SPANS = 3
"""Messages of a request: a retriever, a model call, the root."""
PASSAGES = 400
IN_FLIGHT = 20
"""Requests whose messages are interleaved, as those of a busy product are."""


@dataclass(frozen=True, slots=True)
class Request:
    """One trace with what carries it, in the order in which it is sent."""

    trace_id: str
    messages: tuple[bytes, ...]

    @property
    def is_spans(self) -> bool:
        """Whether it comes as spans."""
        return len(self.messages) > 1


def requests(
    numbers: Iterable[int], at: datetime, seed: int, *, low: int = 2_000, high: int = 20_000
) -> Iterator[Request]:
    """Traces of ``low`` to ``high`` bytes, every second one as spans; the same numbers and seed give the same texts.

    Passages recur, as those of a product do. Event times are ``at`` and up to some minutes before.
    """
    dice = random.Random(seed)
    passages = [_text(dice, dice.randint(300, 1500)) for _ in range(PASSAGES)]
    for number in numbers:
        one = random.Random(f"{seed} {number}")
        size = one.randint(low, high)
        texts: list[str] = []
        while size > 500 + sum(map(len, texts)):
            texts.append(one.choice(passages)[: size - sum(map(len, texts))])
        ts = at - timedelta(seconds=one.uniform(0, 240))
        answer = f"{texts[0].split('.')[0]}." if texts else "I do not know."
        yield _spans(number, ts, texts, answer) if number % 2 else _native(number, ts, texts, answer)


def _text(dice: random.Random, length: int) -> str:
    sentences: list[str] = []
    while sum(map(len, sentences)) < length:
        words = [dice.choice(WORDS) for _ in range(dice.randint(6, 14))]
        sentences.append(f"The {' '.join(words)} takes {dice.randint(2, 90)} days. ")
    return "".join(sentences)


def _native(number: int, ts: datetime, texts: Sequence[str], answer: str) -> Request:
    trace_id = f"w{number:07}"
    body = {
        "trace_id": trace_id,
        "ts": ts.isoformat(),
        "question": "How long does it take?",
        "answer": answer,
        "passages": [{"doc_id": f"d{place}", "text": text} for place, text in enumerate(texts)],
        "intent": "returns",
        "tier": "high" if number % 4 else "low",
    }
    return Request(trace_id, (json.dumps(body).encode(),))


def _spans(number: int, ts: datetime, texts: Sequence[str], answer: str) -> Request:
    name = f"s{number:07}"
    facts = json.dumps({"intent": "returns", "risk_tier": "high" if number % 3 else "low"})
    millisecond = timedelta(milliseconds=1)
    parts = [
        retriever(name, ts + 10 * millisecond, *texts),
        call(name, ts + 60 * millisecond, answer),
        root(name, ts, output__value=answer, metadata=facts),
    ]
    return Request(hex_id(name, 16), tuple(message([part]) for part in parts))


def in_order(wanted: Iterable[Request], seed: int) -> Iterator[tuple[str, bytes]]:
    """Trace id and message, those of up to ``IN_FLIGHT`` requests mixed; within one request the order stays."""
    dice = random.Random(seed)
    open_requests: list[tuple[str, list[bytes]]] = []
    source = iter(wanted)
    while True:
        while len(open_requests) < IN_FLIGHT and (found := next(source, None)) is not None:
            open_requests.append((found.trace_id, list(found.messages)))
        if not open_requests:
            return
        place = dice.randrange(len(open_requests))
        trace_id, messages = open_requests[place]
        yield trace_id, messages.pop(0)
        if not messages:
            open_requests.pop(place)


async def send(address: str, topic: str, messages: Iterable[tuple[str, bytes]], *, at_once: int = 500) -> int:
    """Send everything, without keys, and wait until the broker has it; the number of messages."""
    producer = AIOKafkaProducer(bootstrap_servers=address, linger_ms=5, acks="all", enable_idempotence=True)
    await producer.start()
    count = 0
    try:
        waiting = []
        for _, value in messages:
            waiting.append(await producer.send(topic, value))
            count += 1
            if len(waiting) >= at_once:
                await asyncio.gather(*waiting)
                waiting.clear()
        await asyncio.gather(*waiting)
    finally:
        await producer.stop()
    return count
