"""A compiled mapping: from a parsed document to spans, item by item, so that a bad item costs no neighbour."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from pydantic import ValidationError

from schemas.codec import invalid_message
from schemas.errors import InvalidMessage
from schemas.span import Span, SpanKind
from streams.sources.envelopes.otlp_values import MAX_PROBLEMS, MAX_SPANS
from streams.sources.fields import FieldRules
from streams.sources.json_text import clean
from streams.sources.mapping.expressions import Expression
from streams.sources.mapping.item import Item
from streams.sources.mapping.moments import Zone
from streams.sources.mapping.spans import span_of
from streams.sources.mapping.traces import spans_of
from streams.sources.raw import Json


@dataclass(frozen=True, slots=True)
class Group:
    """Items that are read alike."""

    items: tuple[Expression, ...]
    when: Expression | None
    is_ignored: bool
    fields: Mapping[str, Expression]


@dataclass(frozen=True, slots=True)
class Member:
    """A place in the document where items are, and the groups that may mean them, in order."""

    items: Expression
    groups: tuple[Group, ...]


@dataclass(slots=True)
class Mapped:
    """What a document holds: spans on their own, and the spans of whole traces, one tuple a trace."""

    spans: list[Span] = field(default_factory=list)
    wholes: list[tuple[Span, ...]] = field(default_factory=list)
    problems: list[InvalidMessage] = field(default_factory=list)
    ignored: int = 0

    def refuse(self, problem: InvalidMessage) -> None:
        """Note a problem; beyond a hundred they are only counted in the last one."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        elif len(self.problems) == MAX_PROBLEMS:
            self.problems.append(InvalidMessage("more_problems", f"more than {MAX_PROBLEMS} items cannot be read"))


@dataclass(frozen=True, slots=True)
class Mapper:
    """Reads documents by one mapping file. Holds no state."""

    name: str
    is_trace: bool
    whole: bool | Expression
    zone: Zone
    kinds: Mapping[str, SpanKind]
    members: tuple[Member, ...]
    fixes: Mapping[str, str]

    def read(self, document: Json, rules: FieldRules, recorded_at: datetime, *, is_dirty: bool = False) -> Mapped:
        """All items of a document; each element of a list is a document.

        At most 50,000 items are read. Never raises.
        """
        found = Mapped()
        reader = _Reader(self, rules, recorded_at, is_dirty, found)
        for part in document if isinstance(document, list) else [document]:
            reader.read(part)
        return found


@dataclass(slots=True)
class _Reader:
    """One message while it is read."""

    mapper: Mapper
    rules: FieldRules
    recorded_at: datetime
    is_dirty: bool
    found: Mapped
    room: int = MAX_SPANS
    read_items: int = 0

    def read(self, document: Json) -> None:
        """One document."""
        spans: list[Span] = []
        try:
            items = list(islice(self._items(document), self.room + 1))
            is_whole = self._is_whole(document)
        except InvalidMessage as error:
            self.found.refuse(error)
            return
        if len(items) > self.room:
            self.found.refuse(InvalidMessage("too_large", f"more than {MAX_SPANS} items; send smaller batches"))
        for content, groups in items[: self.room]:
            try:
                spans += self._item(content, groups)
            except InvalidMessage as error:
                self.found.refuse(error)
            except ValidationError as error:
                self.found.refuse(invalid_message(error))
        self.room = max(0, self.room - len(items))
        if is_whole:
            self.found.wholes += _by_trace(spans)
        else:
            self.found.spans += spans

    def _items(self, document: Json) -> Iterator[tuple[Json, Sequence[Group]]]:
        """Raises InvalidMessage where a document holds no items of this mapping at all."""
        has_any = False
        for member in self.mapper.members:
            found = self._evaluated(member.items, document, "items")
            if found is None or found is False:
                continue
            has_any = True
            for content in found if isinstance(found, list) else [found]:
                yield content, member.groups
        if not has_any:
            looked = ", ".join(member.items.source for member in self.mapper.members)[:300]
            kind = type(document).__name__
            raise InvalidMessage(
                "no_items", f"nothing of mapping {self.mapper.name} in this {kind}: it looks at {looked}"
            )

    def _item(self, content: Json, groups: Sequence[Group]) -> Sequence[Span]:
        if not isinstance(content, dict):
            raise InvalidMessage("wrong_type", f"an item is {type(content).__name__}, where it is a JSON object")
        for group in groups:
            if group.when is not None and not self._evaluated(group.when, content, "when"):
                continue
            if group.is_ignored:
                self.found.ignored += 1
                return ()
            return self._spans(content, group)
        raise InvalidMessage("unknown_item", f"no group of mapping {self.mapper.name} takes this item; add one for it")

    def _spans(self, content: dict[str, Json], group: Group) -> Sequence[Span]:
        mapper = self.mapper
        was_mended = False
        if self.is_dirty:
            content, was_mended = clean(content)
        flags = {"repaired_text"} if was_mended else set()
        self.read_items += 1
        at = self.recorded_at + timedelta(microseconds=self.read_items)  # items of a message keep their order
        item = Item(content, group.fields, mapper.fixes, mapper.zone, at, flags)
        if mapper.is_trace:
            return spans_of(item, mapper.name, self.rules)
        return (span_of(item, mapper.name, mapper.kinds, self.rules),)

    def _is_whole(self, document: Json) -> bool:
        whole = self.mapper.whole
        if isinstance(whole, bool):
            return whole or self.mapper.is_trace
        return bool(self._evaluated(whole, document, "whole"))

    def _evaluated(self, expression: Expression, content: Json, key: str) -> Json:
        try:
            return expression.of(content)
        except ValueError as error:
            raise InvalidMessage("wrong_type", f"{key}: {error} in {expression.source!r}") from error


def _by_trace(spans: Sequence[Span]) -> list[tuple[Span, ...]]:
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    return [tuple(group) for group in traces.values()]
