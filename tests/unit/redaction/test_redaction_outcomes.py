"""Verdicts on redacted text are those on raw text: right values stay right, wrong ones stay wrong."""

from collections.abc import Sequence
from functools import cache

import pytest

from demo.corpus import AnswerKind, load_corpus
from detectors.evidence import load_evidence_detector
from detectors.structural.snapshot import Snapshot, annotate
from detectors.verification import verify
from schemas.draw import DrawnTrace, Screening
from schemas.labels import ClaimLabel, Outcome
from schemas.policy import PolicyDocument
from schemas.trace import Trace
from schemas.verdict import Verdict
from streams.redaction.redactor import redactor_of
from streams.settings.privacy import Privacy
from tests.builders import NOW, draw, passage, policy, trace
from tests.fixtures_traces import load_fixtures

KEYS = (b"0123456789abcdef" * 2, b"another salt of some length, here")
CONTACTS = [
    ("Questions about it go to {}.", "You can send questions about it to {}.", "hilfe@lindmoor.de", "info@lindmoor.de"),
    ("Write to {} within 14 days.", "You can write to {} within 14 days.", "ada@lind.example", "ben@lind.example"),
    ("The service line is {}.", "The service line is {}.", "+49 30 5551234", "+49 30 5554321"),
    ("Call {} on weekdays.", "You can call {} on weekdays.", "020 7946 0958", "020 7946 0859"),
    ("Reach the repair team by phone at {}.", "Reach the repair team at {}.", "(415) 555-2671", "(415) 555-2176"),
    (
        "The deposit goes to {}.",
        "Please send the deposit to {}.",
        "DE89 3704 0044 0532 0130 00",
        "GB82WEST12345698765432",
    ),
    ("The refund goes to card {}.", "Your refund goes to card {}.", "4111 1111 1111 1111", "5555 5555 5555 4444"),
]
"""A sentence of a passage, one of an answer, the value that stands in the passage, and a wrong one."""
FIXTURES = [fixture for _, fixture in load_fixtures()]


def judged(traces: Sequence[Trace], policies: Sequence[PolicyDocument] | None = None) -> list[Verdict]:
    """The verdicts of the shipped detector."""
    drawn = [DrawnTrace(trace=one, draw=draw(), screening=Screening()) for one in traces]
    own = policies or [policy()] * len(drawn)
    found = verify(drawn, own, load_evidence_detector(), NOW, clock=lambda: 0.0)
    by_id = {verdict.trace_id: verdict for verdict in found}
    return [by_id[one.trace_id] for one in traces]


def good(verdict: Verdict) -> list[bool]:
    """Claim by claim, whether it passes."""
    return [claim.label in {ClaimLabel.SUPPORTED, ClaimLabel.NOT_FACTUAL} for claim in verdict.claims]


def demo_answers() -> list[Trace]:
    """The good answers of the demo product, each with its passages."""
    corpus = load_corpus()
    return [
        trace(
            answer_record.id,
            question=answer_record.question,
            answer=answer_record.answer,
            passages=tuple(
                passage(chunk.text, doc_id=chunk.document.doc_id) for chunk in corpus.passages_of(answer_record)
            ),
        )
        for answer_record in corpus.answers
        if answer_record.kind is AnswerKind.GOOD and answer_record.passages
    ]


def with_contact(seen: Trace, number: int, *, is_right: bool) -> Trace:
    """The trace with one more sentence in its first passage and in its answer."""
    says, tells, right, wrong = CONTACTS[number]
    first, *others = seen.passages or ()
    return seen.model_copy(
        update={
            "trace_id": f"{seen.trace_id}/{number}/{is_right}",
            "answer": f"{seen.answer} {tells.format(right if is_right else wrong)}",
            "passages": (first.model_copy(update={"text": f"{first.text} {says.format(right)}"}), *others),
        }
    )


@cache
def pairs() -> tuple[list[Trace], list[Verdict]]:
    """Every fourth demo answer with right and wrong contacts, and the verdicts on them as they are."""
    answers = demo_answers()[::4]
    traces = [
        with_contact(seen, number, is_right=is_right)
        for at, seen in enumerate(answers)
        for number in range(at % 3, len(CONTACTS), 3)
        for is_right in (True, False)
    ]
    return traces, judged(traces)


@cache
def redacted_pairs(key: bytes) -> list[Verdict]:
    """The verdicts on the same answers, redacted under this key."""
    redactor = redactor_of(Privacy(), key)
    return judged([redactor.redact_trace(seen) for seen in pairs()[0]])


@pytest.mark.parametrize("key", KEYS)
def test_right_contacts_are_judged_as_on_raw_text(key: bytes) -> None:
    """Outcome by outcome and claim by claim, over demo answers of all kinds."""
    others = [
        (seen.trace_id, one.outcome.value, other.outcome.value)
        for seen, one, other in zip(*pairs(), redacted_pairs(key), strict=True)
        if seen.trace_id.endswith("True") and (one.outcome, good(one)) != (other.outcome, good(other))
    ]
    assert [] == others


@pytest.mark.parametrize("key", KEYS)
def test_a_wrong_contact_never_passes_once_it_is_redacted(key: bytes) -> None:
    """On raw text a few do: a number in a long claim weighs little there."""
    passed = [
        seen.trace_id
        for seen, found in zip(pairs()[0], redacted_pairs(key), strict=True)
        if seen.trace_id.endswith("False") and found.outcome is Outcome.GROUNDED
    ]
    assert [] == passed


@pytest.mark.parametrize("key", KEYS)
def test_wrong_contacts_are_judged_as_on_raw_text_in_99_of_100(key: bytes) -> None:
    """The rest is one of unclear and hallucinated, or caught on redacted text alone."""
    traces, raw = pairs()
    others = [
        seen.trace_id
        for seen, one, other in zip(traces, raw, redacted_pairs(key), strict=True)
        if one.outcome != other.outcome
    ]
    assert len(others) <= len(traces) / 100


def test_every_fixture_is_judged_the_same_when_redacted() -> None:
    """Whatever their texts hold, in any script: outcome, labels and findings."""
    redactor = redactor_of(Privacy(), KEYS[0])
    policies = [fixture.policy for fixture in FIXTURES]
    raw = [annotate(fixture.trace, Snapshot.of(fixture.documents)) for fixture in FIXTURES]
    redacted = [redactor.redact_trace(seen) for seen in raw]
    for seen, one, other in zip(raw, judged(raw, policies), judged(redacted, policies), strict=True):
        assert (seen.trace_id, one.outcome, good(one)) == (seen.trace_id, other.outcome, good(other))
        assert [finding.rule for finding in one.findings] == [finding.rule for finding in other.findings]


def test_claims_are_split_at_the_same_places() -> None:
    """A placeholder neither ends a sentence nor joins two."""
    redactor = redactor_of(Privacy(), KEYS[0])
    raw = [redactor.redact_text(claim.claim.text) for one in pairs()[1] for claim in one.claims]
    assert raw == [claim.claim.text for other in redacted_pairs(KEYS[0]) for claim in other.claims]
