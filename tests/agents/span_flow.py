"""Bytes of a source topic through ingest and assemble to verdicts, over fakes, with the time in the test's hands."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from schemas.labels import Outcome
from schemas.trace import Trace
from streams.agents.assemble import Assemble
from streams.agents.ingest import Ingest
from streams.agents.watermarks import Watermarks
from streams.assembly import ClosingRules, OpenTraces
from streams.broker.topics import SPANS
from streams.settings import SourceSettings
from streams.sources.decode import SourceDecoder
from streams.store import ALL_TENANTS, StoredTrace
from tests.agents.flow import Flow
from tests.builders import NOW
from tests.openinference import hex_id, message

AT = NOW - timedelta(minutes=10)
PARTITION = (SPANS, 0)
QUIET, GRACE = 61.0, 6.0
"""Seconds after which a trace without, and one with the end of its root closes by the default rules."""


@dataclass
class SpanFlow:
    """A source topic, ingest and assemble; what was sent to ``gw.spans`` is read once, at its record time."""

    flow: Flow = field(default_factory=Flow)
    rules: ClosingRules = field(default_factory=ClosingRules)
    max_message_bytes: int = 16_000_000
    seconds: float = 0.0
    read: int = 0

    def __post_init__(self) -> None:
        decoder = SourceDecoder.of([SourceSettings(topic="traces")], max_message_bytes=self.max_message_bytes)
        self.ingest = Ingest(self.flow.admission, decoder.decode, Watermarks())
        self.assemble = Assemble(
            self.flow.admission, OpenTraces(self.rules), decoder.rules, lambda trace, _: trace, Watermarks()
        )

    async def send(self, *values: bytes | Sequence[dict[str, Any]]) -> None:
        """Messages on the source topic, each some spans or any bytes, all the way into the open traces."""
        encoded = [value if isinstance(value, bytes) else message(value) for value in values]
        await self.ingest.handle([self.flow.message(value, recorded_at=NOW) for value in encoded])
        waiting = self.flow.publisher.messages(SPANS)[self.read :]
        self.read += len(waiting)
        if waiting:
            await self.assemble.handle(waiting)

    async def after(self, seconds: float) -> None:
        """So much time passes while nothing comes."""
        self.seconds += seconds
        await self.assemble.tick([PARTITION], NOW + timedelta(seconds=self.seconds))

    def stored(self, trace: str) -> StoredTrace | None:
        """What is stored of a trace."""
        return self.flow.store.trace(hex_id(trace, 16), tenants=ALL_TENANTS)

    def trace(self, trace: str) -> Trace:
        """The trace as it now is."""
        found = self.stored(trace)
        assert found is not None
        return found.drawn.trace

    async def outcomes(self, trace: str) -> list[tuple[int, Outcome]]:
        """Its verdicts by revision."""
        await self.flow.verify_and_sink()
        found = self.stored(trace)
        return [(verdict.revision, verdict.outcome) for verdict in found.verdicts] if found else []
