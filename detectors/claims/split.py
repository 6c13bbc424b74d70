"""Splits an answer into claims: spans of the answer, in order, that never overlap."""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from detectors.claims.atomic import atomic_parts
from detectors.claims.blocks import Block, BlockKind, find_blocks
from detectors.claims.citations import find_citations
from detectors.claims.kinds import is_question, states_fact
from detectors.claims.parts import numbered, part_claims
from detectors.claims.references import source_list_spans
from detectors.claims.sentences import sentence_spans
from schemas.claim import Claim
from schemas.policy import ClaimSplitting

SPLITTER_VERSION = "3"
"""Part of the fingerprint: raise it whenever the same answer could be split or marked differently."""

_CASE_SAMPLE_CHARS = 2000
_MARKER = re.compile(r"\(?\d{1,2}[.)]")
_TAGS = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|&#?[a-zA-Z0-9]{1,8};")


def splitter_name(split: ClaimSplitting = ClaimSplitting.SENTENCES) -> str:
    """What the fingerprint calls the rules: their version, and whether sentences are parted further."""
    return SPLITTER_VERSION if split is ClaimSplitting.SENTENCES else f"{SPLITTER_VERSION}-{split.value}"


def split_claims(answer: str, split: ClaimSplitting = ClaimSplitting.SENTENCES) -> tuple[Claim, ...]:
    """Claims of the answer; ``answer[start:end] == text``, and with the gaps between they give back the answer.

    Stretches that state nothing (questions, greetings, headings, bare citations, …) are kept with
    ``is_factual=False``; gaps hold list markers, code fences, HTML tags, white space and signs only. With ``split``
    ``atomic``, sentences of running text that state several things are parted, and joints ("and", ", which") are gaps
    too. Never raises for content, time is linear.
    """
    is_uncapitalised = not any(char.isupper() for char in answer[:_CASE_SAMPLE_CHARS])
    claims: list[Claim] = []
    sources = sorted(source_list_spans(answer))
    for block in find_blocks(answer):
        for start, end in _spans(answer, block, is_uncapitalised=is_uncapitalised):
            is_silent = (
                block.kind is BlockKind.HEADING
                or (_is_within(start, sources) and _is_within(end - 1, sources))
                or (start > block.start and _is_marker(answer[start:end], claims))
            )
            claims.append(_claim(len(claims), start, answer[start:end], block.kind, is_silent=is_silent))
            if split is ClaimSplitting.ATOMIC and claims[-1].is_factual and block.kind is BlockKind.TEXT:
                claims += part_claims(whole := claims.pop(), atomic_parts(whole.text))
    return tuple(claims) if split is ClaimSplitting.SENTENCES else numbered(claims)


def _is_within(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    place = bisect_right(spans, (position, sys.maxsize)) - 1
    return place >= 0 and position < spans[place][1]


def _is_marker(text: str, before: Sequence[Claim]) -> bool:
    """A number of a list that breaks off: ``It is free. 2.``; behind a question it is the answer."""
    return _MARKER.fullmatch(text) is not None and bool(before) and not is_question(before[-1].text)


def _spans(answer: str, block: Block, *, is_uncapitalised: bool) -> Iterator[tuple[int, int]]:
    spans = (
        sentence_spans(answer, block.start, block.end, is_uncapitalised=is_uncapitalised)
        if block.kind is BlockKind.TEXT
        else [(block.start, block.end)]
    )
    return ((start, end) for start, end in spans if _has_words(answer[start:end]))


def _has_words(text: str) -> bool:
    if "<" in text or "&" in text:
        text = _TAGS.sub("", text)
    return any(map(str.isalnum, text))


def _claim(index: int, start: int, text: str, kind: BlockKind, *, is_silent: bool) -> Claim:
    return Claim(
        index=index,
        start=start,
        end=start + len(text),
        text=text,
        is_factual=not is_silent and states_fact(text),
        citations=() if kind is BlockKind.CODE else find_citations(text),  # in code, [1] is an index
    )
