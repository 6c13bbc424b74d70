"""Worked examples in front of every prompt: ours, or labelled claims of a customer's golden set.

A hold-out case is never one, since the judge would be measured on what it was shown.
"""

from collections.abc import Sequence
from functools import cache
from importlib import resources

import yaml
from pydantic import Field

from detectors.completion import Message, tokens_of
from detectors.golden.sets import GoldenSet
from detectors.judge.rendering import Shown, escaped, id_of, task_text
from detectors.judge.reply import JudgeLabel
from schemas.base import Record
from schemas.errors import ConfigError
from schemas.golden import GoldenCase, GoldenClaim, Split
from schemas.labels import ClaimLabel

EXAMPLES_FILE = "examples_1.yaml"
MOST_TOKENS = 400
"""Longest example that is taken from a golden set."""
_CONFIDENCE = 0.95
_BY_LABEL = {label.claim_label: label for label in JudgeLabel}


class Example(Record):
    """A claim with the verdict that a good judge gives; ``evidence`` are places of its passages, from 1."""

    question: str = ""
    before: str = ""
    claim: str
    passages: tuple[str, ...]
    label: JudgeLabel
    evidence: tuple[int, ...] = ()
    reason: str = ""
    confidence: float = Field(default=_CONFIDENCE, ge=0, le=1)

    def messages(self) -> tuple[Message, Message]:
        """As a conversation: what was asked, and the reply in the form that is wanted."""
        shown = [Shown(place, 0, len(text), text) for place, text in enumerate(self.passages)]
        reply = {
            "claim": self.claim,
            "evidence": [id_of(place - 1) for place in self.evidence],
            "reason": self.reason,
            "label": self.label.value,
            "confidence": self.confidence,
        }
        asked = task_text(self.claim, shown, question=self.question, before=self.before)
        return {"role": "user", "content": asked}, {"role": "assistant", "content": escaped(reply)}


@cache
def shipped_examples() -> tuple[Example, ...]:
    """Those in the package."""
    text = (resources.files(__package__) / EXAMPLES_FILE).read_text("utf-8")
    return tuple(Example.model_validate(entry) for entry in yaml.safe_load(text))


def golden_examples(golden: GoldenSet, most: int) -> tuple[Example, ...]:
    """Up to ``most`` labelled claims of a golden set with the passages that they were judged by, in a fixed order.

    Labels take turns, rarest first, and the shortest example of each comes first. Left out are the hold-out, claims
    without a passage or without a label that a judge may give, and those of more than 400 tokens. Raises ConfigError
    when none is left.
    """
    by_label: dict[JudgeLabel, list[Example]] = {}
    for case, claim in golden.part(Split.TRAIN, Split.DEV).labelled_claims():
        example = _example(case, claim)
        if example is not None and _length(example) <= MOST_TOKENS:
            by_label.setdefault(example.label, []).append(example)
    if not by_label:
        raise ConfigError(
            "the golden set has no labelled claim with passages outside its hold-out that is short enough for an "
            "example; label some, or leave judge.examples_file empty"
        )
    rows = [
        sorted(found, key=lambda one: (_length(one), one.claim)) for _, found in sorted(by_label.items(), key=_rare)
    ]
    turns = (row[turn] for turn in range(max(map(len, rows))) for row in rows if turn < len(row))
    return tuple(example for example, _ in zip(turns, range(most), strict=False))


def _example(case: GoldenCase, claim: GoldenClaim) -> Example | None:
    label = None if claim.label in {None, ClaimLabel.NOT_FACTUAL} else _BY_LABEL[claim.label or ClaimLabel.UNCLEAR]
    places = [place for place, passage in enumerate(case.seen, 1) if passage.doc_id in claim.evidence]
    needs = label in {JudgeLabel.SUPPORTED, JudgeLabel.CONTRADICTED}
    if label is None or not case.seen or (needs and not places):
        return None
    return Example(
        question=case.question,
        claim=claim.text,
        passages=tuple(passage.text for passage in case.seen),
        label=label,
        evidence=tuple(places),
        reason=claim.labels[-1].note,
    )


def _length(example: Example) -> int:
    return sum(tokens_of(message["content"]) for message in example.messages())


def _rare(entry: tuple[JudgeLabel, Sequence[Example]]) -> tuple[int, str]:
    return len(entry[1]), entry[0].value
