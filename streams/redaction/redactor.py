"""The redactor: what a deployment's settings make of a text, a span, a trace or a dead letter.

A trace is read as a whole before anything is replaced: a number that one text shows to be a phone number is one in the
others too, or answer and passage would differ where they agree.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from schemas.errors import ConfigError
from schemas.span import Span
from schemas.trace import Trace
from streams.redaction.fields import TextRule, redacted_span, redacted_trace, texts_of_span, texts_of_trace
from streams.redaction.finder import Finder, Read, echoes, settled
from streams.redaction.hits import Hit
from streams.redaction.kinds import Handling, Kind
from streams.redaction.phones import is_region
from streams.redaction.placeholders import hashed, placeholder, privacy_key
from streams.settings.privacy import Privacy, PrivacyFields
from streams.sources.raw import Decoded

MAX_EXAMINED_CHARS = 2_000_000
"""Characters of texts with numbers in one trace that are looked at closely; it is too long to be judged beyond."""
_MOST_LOOKS = 8


@dataclass(frozen=True, slots=True)
class Redactor:
    """Made by ``redactor_of``; pure, never raises for content, and safe to share between threads."""

    finder: Finder
    fields: PrivacyFields
    key: bytes = field(repr=False)
    kept_values: frozenset[tuple[Kind, str]] = frozenset()
    kept_domains: frozenset[str] = frozenset()

    def redact_text(self, text: str) -> str:
        """The text with a placeholder for each find; the same text when nothing is found. Doing it twice is once."""
        return _Reading(self, (text,)).redacted(text)

    def redact_trace(self, trace: Trace) -> Trace:
        """The trace as it may be written; flags name what was dropped. Doing it twice is once."""
        reading = _Reading(self, texts_of_trace(trace, self.fields))
        return redacted_trace(trace, self.fields, self._rule(reading))

    def redact_span(self, span: Span) -> Span:
        """The span as it may be written; flags name what was dropped. Doing it twice is once."""
        reading = _Reading(self, texts_of_span(span, self.fields))
        return redacted_span(span, self.fields, self._rule(reading))

    def redact_decoded(self, decoded: Decoded) -> Decoded:
        """All spans and traces of a message as they may be written; its problems quote no content."""
        return replace(
            decoded,
            spans=tuple(self.redact_span(span) for span in decoded.spans),
            traces=tuple(self.redact_trace(trace) for trace in decoded.traces),
        )

    def _rule(self, reading: "_Reading") -> TextRule:
        def handle(text: str, handling: Handling, opening: str) -> str:
            match handling:
                case Handling.KEEP:
                    return text
                case Handling.REDACT:
                    return reading.redacted(text)
                case Handling.HASH:
                    return hashed(opening, text, self.key)
                case Handling.DROP:
                    return ""

        return handle

    def is_kept(self, hit: Hit) -> bool:
        """Whether the settings name this value as one that is nobody's secret."""
        domain = hit.value.rpartition("@")[2] if hit.kind is Kind.EMAIL else ""
        return (hit.kind, hit.value) in self.kept_values or (domain != "" and domain in self.kept_domains)


class _Reading:
    """The finds in all texts of one trace or span; each text is looked through once."""

    def __init__(self, redactor: Redactor, texts: Iterable[str]) -> None:
        self._redactor = redactor
        self._clean = dict.fromkeys(texts)
        """Texts that hold nothing worth a closer look."""
        self._read: dict[str, Read] = {}
        self._known: dict[Kind, frozenset[str]] = {}
        if not redactor.finder.has_nothing_in(self._clean):
            self._look_closer()

    def _look_closer(self) -> None:
        finder = self._redactor.finder
        examined = 0
        for text in list(self._clean):
            read = finder.read(text) if examined < MAX_EXAMINED_CHARS else finder.read_roughly(text)
            if read.hits or read.recognisers:
                self._read[text] = read
                del self._clean[text]
            examined += len(text) if read.recognisers else 0
        known: dict[Kind, set[str]] = {}
        for hit in (hit for read in self._read.values() for hit in read.hits):
            known.setdefault(hit.kind, set()).add(hit.value)
        self._known = {kind: frozenset(values) for kind, values in known.items()}

    def redacted(self, text: str) -> str:
        """The text with placeholders; the same one when nothing is found.

        It is looked at again after a find: what stood directly behind one may now be seen for what it is.
        """
        if text in self._clean:
            return text
        finder = self._redactor.finder
        read = self._read.get(text) or finder.read(text)
        for _ in range(_MOST_LOOKS):
            replaced = self._replaced(read)
            if replaced == read.text:
                break
            read = finder.read(replaced) if read.recognisers else Read(replaced)
        return read.text

    def _replaced(self, read: Read) -> str:
        parts: list[str] = []
        done = 0
        for hit in settled((*read.hits, *echoes(read, self._known))):
            if not self._redactor.is_kept(hit):
                parts += (read.text[done : hit.start], placeholder(hit.kind, hit.value, self._redactor.key))
                done = hit.end
        return "".join((*parts, read.text[done:])) if parts else read.text


def redactor_of(privacy: Privacy, salt: bytes) -> Redactor:
    """The redactor of a deployment. Raises ConfigError for a value to keep that is none, and for an unknown region."""
    unknown = [region for region in privacy.phone_regions if not is_region(region)]
    if unknown:
        raise ConfigError(
            f"privacy.phone_regions: no phone numbers are known for {unknown[0]!r}; write letters like DE"
        )
    finder = Finder.of(privacy.kinds, privacy.phone_regions, privacy.national_ids)
    domains = frozenset(value[1:].lower() for value in privacy.keep if value.startswith("@"))
    values = frozenset(pair for value in privacy.keep if value[:1] != "@" for pair in _values(value, finder))
    key = privacy.key.get_secret_value().encode() or salt
    return Redactor(finder, privacy.fields, privacy_key(key), values, domains)


def _values(text: str, finder: Finder) -> set[tuple[Kind, str]]:
    hits = finder.read(text).hits
    if not hits:
        raise ConfigError(
            f"privacy.keep: {text!r} is not found as personal data anyway; remove it, or write it in full"
        )
    return {(hit.kind, hit.value) for hit in hits}
