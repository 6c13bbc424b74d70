"""The prompt for one claim: rules and examples that never change, then the claim with its evidence within a budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import resources
from typing import Any

from detectors.completion import Message, prompt_tokens, tokens_of
from detectors.evidence.passages import PassageCache
from detectors.judge.evidence import Selection, Wanted, best_piece, select
from detectors.judge.examples import Example, shipped_examples
from detectors.judge.rendering import Shown, escaped, task_text
from schemas.claim import CheckItem
from schemas.verdict import ClaimJudgement, Evidence

PROMPT_FILE = "prompt_1.md"
_LEAST_EVIDENCE_TOKENS = 60
_QUESTION_PART, _BEFORE_PART = 4, 8
"""The question and the words before the claim take so much of the room at most, or are left out whole."""
_CACHED_CHARACTERS = 4_000_000


class TooLong(Exception):
    """The claim does not fit beside the rules with any evidence."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is asked about one claim; ``messages`` hold all that decides the verdict."""

    claim: str
    messages: tuple[Message, ...]
    shown: tuple[Shown, ...]
    note: str = ""
    """What was not shown, for people; empty when all was."""


class JudgePrompt:
    """Makes prompts of at most ``max_tokens``, as ``tokens_of`` estimates; safe to share across threads."""

    def __init__(self, max_tokens: int, examples: Sequence[Example] | None = None) -> None:
        chosen = shipped_examples() if examples is None else examples
        told = [message for example in chosen for message in example.messages()]
        self._fixed: tuple[Message, ...] = ({"role": "system", "content": instructions()}, *told)
        self._max_tokens = max_tokens
        self._cache = PassageCache(_CACHED_CHARACTERS)

    @property
    def fingerprint(self) -> str:
        """Eight hex digits over rules, examples and budget."""
        content = blake2b(str(self._max_tokens).encode(), digest_size=4)
        for message in self._fixed:
            content.update(b"\0" + message["content"].encode("utf-8", "replace"))
        return content.hexdigest()

    def inquiry(self, item: CheckItem, index: int, below: ClaimJudgement) -> Inquiry:
        """What is asked about the claim at ``index``. Raises TooLong."""
        claim = item.claims[index].statement
        room = self._max_tokens - prompt_tokens([*self._fixed, _user(task_text(claim, ()))])
        least = _LEAST_EVIDENCE_TOKENS if item.passages else 0
        if room < least:
            raise TooLong
        question, question_fits = _fitting(item.question, room // _QUESTION_PART)
        before, _ = _fitting(_before(item, index), room // _BEFORE_PART)
        room -= tokens_of(escaped(question)) + tokens_of(escaped(before)) + least
        wanted = Wanted(claim, item.question, below.evidence)
        selection = select(wanted, item.passages, max(room, 0) + least, self._cache)
        if item.passages and not selection.shown:
            raise TooLong
        not_shown = _not_shown(selection, question_fits=question_fits)
        text = task_text(claim, selection.shown, question=question, before=before, not_shown=not_shown)
        return Inquiry(claim, (*self._fixed, _user(text)), selection.shown, _note(selection, len(item.passages)))

    def evidence(self, item: CheckItem, index: int, below: ClaimJudgement, shown: Shown) -> Evidence:
        """What people are shown of the passage that a verdict names."""
        wanted = Wanted(item.claims[index].statement, item.question, below.evidence)
        return best_piece(wanted, shown, item.passages, self._cache)


@cache
def instructions() -> str:
    """The rules, from the versioned file."""
    return (resources.files(__package__) / PROMPT_FILE).read_text("utf-8")


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _fitting(text: str, room: int) -> tuple[str, bool]:
    return (text, True) if tokens_of(escaped(text)) <= room else ("", False)


def _before(item: CheckItem, index: int) -> str:
    """The answer from the last but one claim up to this one."""
    start = item.claims[max(0, index - 2)].start
    return item.answer[start : item.claims[index].start].strip()


def _not_shown(selection: Selection, *, question_fits: bool) -> dict[str, Any]:
    named: dict[str, Any] = {"passages": selection.left_out, "question": not question_fits}
    return {name: value for name, value in named.items() if value}


def _note(selection: Selection, passages: int) -> str:
    parts = sum(shown.is_part for shown in selection.shown)
    if not parts and not selection.left_out:
        return ""
    return f"seen: {passages - selection.left_out} of {passages} passages, {parts} in part"
