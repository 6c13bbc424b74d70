"""Splits an answer into claims: spans of the answer, in order, that never overlap."""

from detectors.claims.blocks import Block, BlockKind, find_blocks
from detectors.claims.citations import find_citations
from detectors.claims.kinds import states_fact
from detectors.claims.sentences import sentence_spans
from schemas.claim import Claim

SPLITTER_VERSION = "1"
"""Part of the fingerprint: raise it whenever the same answer could be split or marked differently."""

_CASE_SAMPLE_CHARS = 2000


def split_claims(answer: str) -> tuple[Claim, ...]:
    """Claims of the answer; ``answer[start:end] == text``, and with the gaps between they give back the answer.

    Stretches that state nothing (questions, greetings, headings, bare citations, …) are kept with
    ``is_factual=False``; gaps hold list markers, code fences, white space and signs only. Never raises for
    content, time is linear.
    """
    is_uncapitalised = not any(char.isupper() for char in answer[:_CASE_SAMPLE_CHARS])
    claims: list[Claim] = []
    for block in find_blocks(answer):
        for start, end in _spans(answer, block, is_uncapitalised=is_uncapitalised):
            text = answer[start:end]
            if any(char.isalnum() for char in text):
                claims.append(_claim(len(claims), start, text, block.kind))
    return tuple(claims)


def _spans(answer: str, block: Block, *, is_uncapitalised: bool) -> list[tuple[int, int]]:
    if block.kind is BlockKind.TEXT:
        return list(sentence_spans(answer, block.start, block.end, is_uncapitalised=is_uncapitalised))
    return [(block.start, block.end)]


def _claim(index: int, start: int, text: str, kind: BlockKind) -> Claim:
    return Claim(
        index=index,
        start=start,
        end=start + len(text),
        text=text,
        is_factual=kind is not BlockKind.HEADING and states_fact(text),
        citations=find_citations(text),
    )
