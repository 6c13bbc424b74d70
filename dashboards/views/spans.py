"""Texts cut at spans, so that a template can mark parts of an untrusted text without ever building HTML from it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, in code points; ``number`` and ``label`` say what it is marked as."""

    start: int
    end: int
    number: int
    label: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; ``span`` is None where nothing is marked."""

    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text in pieces; ``hidden`` counts the code points beyond what a page shows."""

    pieces: tuple[Piece, ...]
    hidden: int = 0


def mark(text: str, spans: Sequence[Span], *, limit: int) -> MarkedText:
    """``text`` up to ``limit`` code points, cut at ``spans``; the earlier of two overlapping spans keeps its part."""
    shown = text[:limit]
    pieces: list[Piece] = []
    position = 0
    for span in sorted(spans, key=lambda span: (span.start, span.number)):
        start, end = max(span.start, position), min(span.end, len(shown))
        if start >= end:
            continue
        if start > position:
            pieces.append(Piece(shown[position:start]))
        pieces.append(Piece(shown[start:end], span))
        position = end
    if position < len(shown):
        pieces.append(Piece(shown[position:]))
    return MarkedText(tuple(pieces), len(text) - len(shown))
