"""Ingest, verify, sink and alert over fakes: the steps as the agents call them, without a broker or an engine."""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

from detectors.detector import Detector
from detectors.layers import Layers
from detectors.screening import Screener
from sampling.policy_log import heartbeat
from schemas.errors import BrokerUnavailable, InvalidMessage, RowRejected
from schemas.policy import PolicyDocument, PolicyRecord, Sampling
from schemas.trace import Trace
from streams.agents.admission import Admission
from streams.agents.assemble import Assemble
from streams.agents.ingest import Ingest
from streams.agents.policies import KnownPolicies
from streams.agents.sink import Sink
from streams.agents.verify import Verify
from streams.agents.watermarks import Watermarks
from streams.assembly import AssemblyRules, ClosingRules, OpenTraces
from streams.broker.publisher import Outgoing, Publisher
from streams.broker.topics import DRAWN, VERDICTS
from streams.messages import Message
from streams.sources.native import decode_native
from streams.sources.raw import Decoded
from streams.store import Store
from tests.builders import NOW
from tests.fakes import FakeDetector
from tests.fakes_store import MemoryStore

SALT = b"a salt for tests that is long enough"
EVERYTHING = PolicyDocument(name="all", sampling=Sampling(default_probability=1.0))


@dataclass
class FakePublisher:
    """Keeps what was sent by topic; ``failures`` sends raise first, and so does a value above ``max_value_bytes``."""

    sent: dict[str, list[Outgoing]] = field(default_factory=lambda: defaultdict(list))
    failures: int = 0
    max_value_bytes: int = 100_000_000

    async def send(self, topic: str, messages: Sequence[Outgoing]) -> None:
        """Keep the messages."""
        if self.failures and messages:
            self.failures -= 1
            raise BrokerUnavailable("the fake broker is away")
        if any(len(message.value or b"") > self.max_value_bytes for message in messages):
            raise RowRejected("a message exceeds the fake broker's limit")
        self.sent[topic].extend(messages)

    def messages(self, topic: str) -> list[Message]:
        """What was sent to ``topic`` as a consumer reads it."""
        return [Message(topic, 0, n, o.key, o.value, o.headers, NOW) for n, o in enumerate(self.sent[topic])]


def policies(document: PolicyDocument = EVERYTHING, now: datetime = NOW) -> KnownPolicies:
    """A log with one policy since ever, complete until a little after ``now``."""
    return KnownPolicies([PolicyRecord(policy_id="p1", published_at=NOW, document=document), heartbeat(now)])


@dataclass
class Flow:
    """The three steps on one memory store and one fake publisher."""

    store: MemoryStore = field(default_factory=MemoryStore)
    publisher: FakePublisher = field(default_factory=FakePublisher)
    detector: Detector = field(default_factory=lambda: FakeDetector({"90": (0.05, 0.9)}))
    known: KnownPolicies = field(default_factory=policies)
    now: Callable[[], datetime] = lambda: NOW
    offset: int = 0
    layers: Layers = field(default_factory=Layers)
    """What verify has above the detector."""

    @property
    def admission(self) -> Admission:
        """What ingest and assemble share."""
        return Admission(
            store=cast("Store", self.store),
            publisher=cast("Publisher", self.publisher),
            policies=self.known,
            screener=Screener(self.detector),
            salt=SALT,
            now=self.now,
        )

    @property
    def ingest(self) -> Ingest:
        """A fresh ingest step, as after a restart."""
        return Ingest(self.admission, decode, Watermarks())

    @property
    def assemble(self) -> Assemble:
        """A fresh assemble step, as after a restart."""
        return Assemble(
            self.admission, OpenTraces(ClosingRules()), lambda _topic: AssemblyRules(), _as_is, Watermarks()
        )

    async def verify_and_sink(self) -> None:
        """Judge everything drawn and store every verdict; both read their topic from its beginning, as after a kill."""
        publisher = cast("Publisher", self.publisher)
        self.publisher.sent[VERDICTS].clear()
        verify = Verify(publisher, self.known, self.detector, self.now, 262_144, 16_000_000, layers=self.layers)
        await verify.handle(self.publisher.messages(DRAWN))
        await Sink(cast("Store", self.store), publisher).handle(self.publisher.messages(VERDICTS))

    def message(self, value: bytes | None, **fields: Any) -> Message:
        """A source message at the next offset."""
        self.offset += 1
        plain = {"topic": "traces", "partition": 0, "offset": self.offset, "key": None, "headers": ()}
        return Message(**{**plain, "recorded_at": NOW, **fields, "value": value})


async def decode(message: Message) -> Decoded:
    """Native traces alone."""
    try:
        return Decoded(traces=(decode_native(message),))
    except InvalidMessage as error:
        return Decoded(problems=(error,))


def _as_is(trace: Trace, _recorded_at: datetime) -> Trace:
    return trace


def native(trace_id: str, **fields: Any) -> bytes:
    """A good native trace of a moment ago."""
    plain = {
        "trace_id": trace_id,
        "ts": (NOW - timedelta(minutes=10)).isoformat(),
        "question": "How long can I return a lamp?",
        "answer": "You can return a lamp within 30 days of delivery [returns].",
        "passages": [{"doc_id": "returns", "text": "Lamps may be returned within 30 days of delivery."}],
        "intent": "returns",
        "tier": "high",
    }
    return json.dumps({**plain, **fields}).encode()
