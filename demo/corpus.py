"""The demo product's documents and answers, read from JSON lines; a wrong reference is refused when they are loaded."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from schemas.base import Record
from schemas.errors import ConfigError
from schemas.labels import RiskTier

CORPUS_AS_OF = date(2026, 7, 25)
"""The day on which the documents are current; the stream moves their dates by the distance from here to its now.

It lies more than the demo's window after the newest document, so that no trace shows a passage from its own future.
"""


class AnswerKind(StrEnum):
    """How an answer was written: sound (the first four) or with one named fault."""

    GOOD = "good"
    ABSTENTION = "abstention"
    CLARIFICATION = "clarification"
    GREETING = "greeting"
    WRONG_FIGURE = "wrong_figure"
    WRONG_NAME = "wrong_name"
    REVERSED = "reversed"
    ADDED_CLAIM = "added_claim"
    STALE_SOURCE = "stale_source"
    MIXED = "mixed"
    SHOULD_HAVE_ABSTAINED = "should_have_abstained"
    MISSING_CITATION = "missing_citation"
    WRONG_CITATION = "wrong_citation"
    OVER_REFUSAL = "over_refusal"

    @property
    def is_hallucinated(self) -> bool:
        """The human label by construction: the answer says something that the current passages do not."""
        return self in _HALLUCINATED

    @property
    def is_judged(self) -> bool:
        """True when the answer asserts facts, so that it counts in hallucinated / (hallucinated + grounded)."""
        return self not in _WITHOUT_FACTS


_HALLUCINATED = frozenset(
    {
        AnswerKind.WRONG_FIGURE,
        AnswerKind.WRONG_NAME,
        AnswerKind.REVERSED,
        AnswerKind.ADDED_CLAIM,
        AnswerKind.STALE_SOURCE,
        AnswerKind.MIXED,
        AnswerKind.SHOULD_HAVE_ABSTAINED,
    },
)
_WITHOUT_FACTS = frozenset(
    {AnswerKind.ABSTENTION, AnswerKind.CLARIFICATION, AnswerKind.GREETING, AnswerKind.OVER_REFUSAL},
)


class Document(Record):
    """One version of a help article; ``superseded_by`` is ``doc_id@version`` of the newer one, empty when current."""

    doc_id: str = Field(pattern=r"^[a-z]+(-[a-z]+)*$")
    version: str = Field(pattern=r"^[1-9][0-9]*$")
    title: str = Field(min_length=1)
    language: Literal["en", "de", "es"]
    updated_at: date
    effective_from: date
    superseded_by: str
    allowed_roles: tuple[str, ...] = Field(min_length=1)
    trust: Literal["trusted", "untrusted"]
    chunks: tuple[str, ...] = Field(min_length=1, max_length=3)

    @property
    def key(self) -> str:
        """``doc_id@version``, unique in the corpus."""
        return f"{self.doc_id}@{self.version}"


class DemoAnswer(Record):
    """A question with one answer; ``passages`` are references ``doc_id@version#chunk``, chunks counted from 1.

    No passages means that the search gave nothing; a greeting is answered without a search.
    ``faulty_spans`` are the pieces of ``answer`` that are wrong; empty unless ``is_hallucinated``.
    """

    id: str = Field(min_length=1)
    intent: str = Field(min_length=1)
    tier: RiskTier
    locale: str
    question: str = Field(min_length=1)
    passages: tuple[str, ...]
    answer: str = Field(min_length=1)
    kind: AnswerKind
    is_hallucinated: bool
    faulty_spans: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a document, the unit that a retriever returns; ``number`` counts from 1."""

    document: Document
    number: int

    @property
    def text(self) -> str:
        """The text as the model sees it."""
        return self.document.chunks[self.number - 1]


@dataclass(frozen=True, slots=True)
class Corpus:
    """All documents and answers; ``chunks`` by reference ``doc_id@version#chunk``."""

    documents: tuple[Document, ...]
    answers: tuple[DemoAnswer, ...]
    chunks: Mapping[str, Chunk]

    def passages_of(self, answer: DemoAnswer) -> tuple[Chunk, ...]:
        """The passages that stood before the model when it gave this answer, in retrieval order."""
        return tuple(self.chunks[reference] for reference in answer.passages)


@cache
def load_corpus() -> Corpus:
    """The corpus that ships with the package. Raises ConfigError naming the file, line and field of a fault."""
    return build_corpus(
        tuple(_read("documents", TypeAdapter(Document))),
        tuple(_read("answers", TypeAdapter(DemoAnswer))),
    )


def build_corpus(documents: tuple[Document, ...], answers: tuple[DemoAnswer, ...]) -> Corpus:
    """These parts, checked. Raises ConfigError on a repeated id, a dangling reference or a label unlike its kind."""
    keys = [document.key for document in documents]
    _refuse_repeats("document", keys)
    _refuse_repeats("answer", [answer.id for answer in answers])
    known = set(keys)
    for document in documents:
        if document.superseded_by and document.superseded_by not in known:
            raise ConfigError(f"document {document.key}: superseded_by {document.superseded_by!r} does not exist")
    chunks = {
        f"{document.key}#{number}": Chunk(document, number)
        for document in documents
        for number in range(1, len(document.chunks) + 1)
    }
    for answer in answers:
        _check_answer(answer, chunks)
    return Corpus(documents, answers, chunks)


def _check_answer(answer: DemoAnswer, chunks: Mapping[str, Chunk]) -> None:
    for reference in answer.passages:
        if reference not in chunks:
            raise ConfigError(f"answer {answer.id}: passage {reference!r} does not exist; write doc_id@version#chunk")
    if answer.is_hallucinated != answer.kind.is_hallucinated:
        raise ConfigError(f"answer {answer.id}: is_hallucinated does not fit the kind {answer.kind.value}")
    if bool(answer.faulty_spans) != answer.is_hallucinated:
        raise ConfigError(f"answer {answer.id}: exactly the hallucinated answers name their faulty spans")
    for span in answer.faulty_spans:
        if span not in answer.answer:
            raise ConfigError(f"answer {answer.id}: faulty span {span!r} is not in the answer; copy it from there")


def _refuse_repeats(what: str, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ConfigError(f"{what} {repeated[0]}: the id is used more than once; make it unique")


def _read(folder: str, shape: TypeAdapter[Any]) -> Iterator[Any]:
    for file in sorted(files("demo").joinpath(folder).iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".jsonl"):
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                yield shape.validate_python(json.loads(line), strict=False)
            except (ValueError, ValidationError) as error:
                raise ConfigError(f"demo/{folder}/{file.name}, line {number}: {error}") from error
