"""The one door for messages of source topics: whatever they hold becomes spans to be assembled, or whole traces.

A topic's setting says what its messages are; ``auto`` looks at each message, so a topic may hold several formats.
"""

import asyncio
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from schemas.errors import InvalidMessage
from streams.assembly import AssemblyRules
from streams.messages import Message
from streams.settings.sources import SourceSettings
from streams.sources.native import decode_native
from streams.sources.raw import Decoded, Json
from streams.sources.reader import Reader
from streams.sources.topic import Topic
from streams.sources.wire import Framed, unwrap

LARGE_BYTES = 200_000
"""Messages from this size on are read and redacted in a thread: heartbeats and probes go on meanwhile."""
_TOPICS = 1_000
"""Topics whose counts are kept; beyond that the counts of new ones are not."""


@dataclass(slots=True)
class SourceDecoder:
    """Decodes the messages of all source topics. Made once, at start."""

    _sources: tuple[tuple[SourceSettings, Topic], ...]
    _default: Topic
    _max_message_bytes: int
    _stack: AsyncExitStack
    _topics: dict[str, Topic] = field(default_factory=dict)
    seen: dict[str, Counter[str]] = field(default_factory=dict)
    """By topic, how many messages of each encoding were read."""

    @classmethod
    def of(cls, sources: Sequence[SourceSettings], *, max_message_bytes: int) -> "SourceDecoder":
        """Reads mapping files and prepares registries; nothing is asked yet.

        Raises ConfigError for a mapping file that is wrong, and for a registry whose packages are not installed.
        """
        stack = AsyncExitStack()
        topics = tuple((settings, Topic.of(settings, stack)) for settings in sources)
        return cls(topics, Topic.of(SourceSettings(topic="default"), stack), max_message_bytes, stack)

    async def decode(self, message: Message) -> Decoded:
        """What a message holds; what cannot be read is among ``problems``, never raised.

        Raises Retryable alone: the schema registry is away.
        """
        topic = self._topic(message.topic)
        reader = Reader(topic, message)
        try:
            found = await self._read(reader, message.value)
        except InvalidMessage as error:
            found = Decoded(problems=(error,))
        else:
            self._count(message.topic, reader.encoding)
        for problem in found.problems:
            problem.decoder = _tried(topic, reader)
            _let_go(problem)
        return found if found != Decoded() else Decoded(ignored=1)  # an empty batch: no message goes uncounted

    async def _read(self, reader: Reader, whole: bytes | None) -> Decoded:
        if whole is None:
            return Decoded(traces=(decode_native(reader.message),))
        if len(whole) < LARGE_BYTES:
            found = self._unwrap_and_read(reader, whole)
        else:
            found = await asyncio.to_thread(self._unwrap_and_read, reader, whole)
        if isinstance(found, Framed):
            return reader.read_document(await _document(found, reader.topic, reader.message))
        return found

    def _unwrap_and_read(self, reader: Reader, whole: bytes) -> Decoded | Framed:
        value = unwrap(whole, self._max_message_bytes)
        if isinstance(value, Framed):
            return value
        if whole.removeprefix(BOM_UTF8) != value:  # the native decoder flags the mark
            reader.message = replace(reader.message, value=value)
        return reader.read(value)

    def rules(self, topic: str) -> AssemblyRules:
        """How traces are assembled whose spans came from a source topic."""
        return self._topic(topic).assembly

    async def close(self) -> None:
        """Close the connections to registries."""
        await self._stack.aclose()

    def _topic(self, name: str) -> Topic:
        found = self._topics.get(name)
        if found is None:
            found = next((topic for settings, topic in self._sources if settings.fits(name)), self._default)
            self._topics[name] = found
        return found

    def _count(self, topic: str, encoding: str) -> None:
        if topic in self.seen or len(self.seen) < _TOPICS:
            self.seen.setdefault(topic, Counter())[encoding] += 1


def _let_go(problem: InvalidMessage) -> None:
    """An error holds on to the frames that it went through, and they to the message, in a circle.

    A row of bad messages of some megabytes would fill the memory before the collector comes along.
    """
    problem.__traceback__ = problem.__cause__ = problem.__context__ = None


def _tried(topic: Topic, reader: Reader) -> str:
    """What tried to read a message: the topic's format, and the encoding that it was taken for."""
    names = (topic.format, reader.encoding)
    return "/".join(dict.fromkeys(name for name in names if name))


async def _document(framed: Framed, topic: Topic, message: Message) -> Json:
    if topic.registry is not None:
        return await topic.registry.document(framed)
    try:
        decode_native(message)
    except InvalidMessage as error:
        raise InvalidMessage(error.reason, f"{error.detail}; give its topic a registry_url under sources") from error
    raise InvalidMessage("not_json", "(message): a value behind a schema id; give its topic a registry_url")
