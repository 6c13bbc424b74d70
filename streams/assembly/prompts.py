"""Passages and question out of a packed prompt, for formats without documents; the delimiters are configuration."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_NUMBERED = re.compile(r"(?:^|(?<=\s))(?:\[\d{1,3}\]|\(\d{1,3}\)|\d{1,3}[.):])\s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PromptLayout:
    """Where contexts stand in a prompt: after ``start`` and before ``end``, case ignored.

    ``separator`` parts them; empty: numbers such as ``[1]`` do, and without numbers blank lines. What follows ``end``
    up to the end of the prompt is the question.
    """

    start: str = "Context:"
    end: str = "Question:"
    separator: str = ""


@dataclass(frozen=True, slots=True)
class ReadPrompt:
    """What one layout found; ``question`` is empty where the prompt ends with the contexts."""

    contexts: tuple[str, ...]
    question: str = ""


def read_prompt(prompt: str, layouts: Sequence[PromptLayout]) -> ReadPrompt | None:
    """The contexts by the first layout that fits, None when none does. Time is linear in the prompt."""
    folded = prompt.lower()
    if len(folded) != len(prompt):  # a few letters change length with case: positions must stay true
        folded = prompt
    for layout in layouts:
        begin = folded.find(layout.start.lower())
        if begin < 0:
            continue
        begin += len(layout.start)
        end = folded.rfind(layout.end.lower(), begin) if layout.end else -1
        body = prompt[begin:end] if end >= 0 else prompt[begin:]
        contexts = _parts(body, layout.separator)
        if contexts:
            return ReadPrompt(contexts, prompt[end + len(layout.end) :].strip() if end >= 0 else "")
    return None


def _parts(body: str, separator: str) -> tuple[str, ...]:
    if separator:
        parts = body.split(separator)
    elif _NUMBERED.search(body):
        parts = _NUMBERED.split(body)
    else:
        parts = re.split(r"\n[ \t]*\n", body)
    return tuple(stripped for part in parts if (stripped := part.strip()))
