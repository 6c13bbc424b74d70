"""Reads a model's reply against the sentences that it was sent: every claim must stand in its sentence, word for word.

What is left out counts as much as what is wrong: a reply that drops a fact would make an answer look better than it is.
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from detectors.claims.parts import Part
from detectors.replies import ReplyRefused, first_fault, without_fence

PROMPT_FILE = "prompt_1.md"
BY = "llm"
"""The rule that parts made here name."""
_WORD = re.compile(r"\w+")
_MOST_CLAIMS = 400
_SHOWN_CHARS = 80
_LINKS = frozenset(
    {"and", "or", "nor", "as", "well", "which", "who", "that", "while", "whereas", "und", "et", "y", "e"}
)


class _Claim(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    sentence: int = Field(ge=1)
    quote: str = Field(min_length=1)
    subject: str


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    claims: list[_Claim] = Field(max_length=_MOST_CLAIMS)


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a reply, without what strict structured output does not take (bounds, titles)."""
    claim = {"sentence": {"type": "integer"}, "quote": {"type": "string"}, "subject": {"type": "string"}}
    item = {"type": "object", "properties": claim, "required": list(claim), "additionalProperties": False}
    claims = {"type": "array", "items": item}
    return {"type": "object", "properties": {"claims": claims}, "required": ["claims"], "additionalProperties": False}


@cache
def prompt() -> str:
    """The instructions, from the versioned file."""
    return (resources.files(__package__) / PROMPT_FILE).read_text("utf-8")


def question(sentences: Sequence[str]) -> str:
    """The sentences as the model is given them: numbered, one a line, delimited as data."""
    lines = [f"{number}. {' '.join(text.split())}" for number, text in enumerate(sentences, 1)]
    return "\n".join(["BEGIN", *lines, "END"])


def read_reply(reply: str, sentences: Sequence[str]) -> list[list[Part]]:
    """For each sentence its parts, in order. Raises ReplyRefused, naming the first thing that is wrong.

    Refused: what is not this JSON and nothing else (a code fence around it is taken off), a quote or subject that is
    not in its sentence, overlapping quotes, a sentence without a claim, and any word but a joint in no quote.
    White space may differ.
    """
    parts: list[list[Part]] = [[] for _ in sentences]
    for claim in _parsed(reply).claims:
        if claim.sentence > len(sentences):
            raise ReplyRefused("parse", f"there is no sentence {claim.sentence}; the last one is {len(sentences)}")
        sentence, own = sentences[claim.sentence - 1], parts[claim.sentence - 1]
        span = _find(claim.quote, sentence, own[-1].end if own else 0)
        if span is None:
            where = "overlaps the one before it in" if _find(claim.quote, sentence, 0) else "is not, word for word, in"
            raise ReplyRefused("span", f"the quote {_shown(claim.quote)} {where} sentence {claim.sentence}")
        if claim.subject.strip() and _find(claim.subject, sentence, 0) is None:
            raise ReplyRefused("span", f"the subject {_shown(claim.subject)} is not in sentence {claim.sentence}")
        own.append(Part(*span, " ".join(claim.subject.split()), BY))
    for number, (sentence, own) in enumerate(zip(sentences, parts, strict=True), 1):
        _require_whole(number, sentence, own)
    return parts


def _parsed(reply: str) -> _Reply:
    try:
        return _Reply.model_validate_json(without_fence(reply))
    except ValidationError as error:
        raise ReplyRefused("parse", first_fault(error)) from error


def _find(quote: str, sentence: str, start: int) -> tuple[int, int] | None:
    """Where the quote stands from ``start`` on, whatever white space is between its words."""
    words = quote.split()
    if not words:
        return None
    match = re.compile(r"\s+".join(map(re.escape, words))).search(sentence, start)
    return match.span() if match else None


def _require_whole(number: int, sentence: str, parts: Sequence[Part]) -> None:
    if not parts:
        raise ReplyRefused("coverage", f"sentence {number} has no claim")
    position = 0
    for start, end in [*((part.start, part.end) for part in parts), (len(sentence), len(sentence))]:
        lost = next((word for word in _WORD.findall(sentence[position:start]) if word.lower() not in _LINKS), None)
        if lost is not None:
            raise ReplyRefused("coverage", f"the word {_shown(lost)} of sentence {number} is in no quote")
        position = end


def _shown(text: str) -> str:
    return f"{text[:_SHOWN_CHARS]!r}"
