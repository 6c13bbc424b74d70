"""Drawn traces to verdicts."""

from collections.abc import Sequence
from typing import Any

import pytest

from detectors.detector import Detector
from detectors.fingerprint import fingerprint
from detectors.screening import Screener
from detectors.verification import verify
from schemas.claim import CheckItem
from schemas.draw import DrawnTrace, Screening
from schemas.errors import Retryable
from schemas.labels import ClaimLabel, Containment, FailureLabel, Layer, Outcome, RiskTier
from schemas.policy import CriticalRule, IntentRules, PolicyDocument, Thresholds
from schemas.trace import Passage, Trace
from schemas.verdict import ClaimJudgement, Verdict
from tests.builders import NOW, drawn_trace, evidence, passage, policy, screening, trace
from tests.fakes_detectors import BrokenDetector, ScriptedDetector, WordDetector

WEAK = ClaimJudgement(support=0.2, contradiction=0.0, why="no word of it")
STRONG = ClaimJudgement(support=0.9, contradiction=0.1)
FRESH = screening(fingerprint="")


def drawn(screened: Screening = FRESH, **fields: Any) -> DrawnTrace:
    """A drawn trace that differs from the default one by ``fields``."""
    return drawn_trace(trace=trace(**fields), screening=screened)


def verified(item: DrawnTrace, detector: Detector | None = None, **fields: Any) -> Verdict:
    """The verdict by a detector that doubts ``It is blue.``."""
    judge = detector or ScriptedDetector({"It is blue.": WEAK, "It is red.": STRONG})
    return verify([item], [policy(**fields)], judge, NOW)[0]


def test_a_verdict_names_everything_that_decided_it() -> None:
    """Trace, outcome, labels, scores, layers, fingerprint and time."""
    found = verified(drawn(answer="It is red. It is blue. Hello!", revision=3))

    assert ("t-1", NOW, 3, "refunds", RiskTier.MEDIUM) == (
        found.trace_id,
        found.ts,
        found.revision,
        found.intent,
        found.tier,
    )
    assert [ClaimLabel.SUPPORTED, ClaimLabel.UNSUPPORTED, ClaimLabel.NOT_FACTUAL] == [c.label for c in found.claims]
    assert [0.9, 0.2, None] == [claim.support for claim in found.claims]
    assert ["", "no word of it", ""] == [claim.why for claim in found.claims]
    assert (Outcome.HALLUCINATED, (FailureLabel.UNSUPPORTED_CLAIM,), 0.2) == (
        found.outcome,
        found.failures,
        found.score,
    )
    assert (Layer.L0, Layer.L1) == found.layers
    assert fingerprint("scripted-1", Thresholds(), (Layer.L0, Layer.L1)) == found.fingerprint
    assert (Containment.DELIVER_TRIMMED, False, NOW) == (found.containment, found.passed, found.verified_at)


def test_the_screenings_judgements_are_taken_over_at_an_equal_fingerprint() -> None:
    """The detector is not asked again, and the verdict is the same."""
    detector = WordDetector()
    item = trace()
    (screened,) = Screener(detector).screen([item], [policy()])

    reused = verified(drawn_trace(trace=item, screening=screened), detector)
    again = verified(drawn_trace(trace=item, screening=FRESH), WordDetector())

    assert [1] == detector.batches
    assert again.claims == reused.claims


@pytest.mark.parametrize(
    "changes",
    [
        {"fingerprint": "words-0/1/1"},
        {"judgements": ()},
        {"judgements": (ClaimJudgement(error=Outcome.ERROR_INTERNAL),)},
        {"claims": (), "judgements": ()},
    ],
)
def test_other_judgements_are_made_anew(changes: dict[str, Any]) -> None:
    """Those of another detector, incomplete ones, and errors."""
    item = trace()
    (screened,) = Screener(WordDetector()).screen([item], [policy()])
    detector = WordDetector()

    verified(drawn_trace(trace=item, screening=screened.model_copy(update=changes)), detector)

    assert [1] == detector.batches


def test_one_call_judges_all_traces_of_a_batch() -> None:
    """Verdicts come in order, and do not depend on batch mates."""
    detector = WordDetector()
    items = [drawn(trace_id=f"t-{number}", answer=f"It is {number}.") for number in range(3)]

    together = verify(items, [policy()] * 3, detector, NOW, clock=lambda: 0.0)
    alone = [verify([item], [policy()], WordDetector(), NOW, clock=lambda: 0.0)[0] for item in items]

    assert [3] == detector.batches
    assert alone == together


def test_a_trace_that_breaks_the_detector_is_an_error_of_its_own() -> None:
    """Its neighbours are judged."""
    detector = BrokenDetector(poison="poison", error=ValueError())
    items = [drawn(trace_id="a", answer="It is poison."), drawn(trace_id="b", answer="It is red.")]

    first, second = verify(items, [policy()] * 2, detector, NOW)

    assert (Outcome.ERROR_INTERNAL, Containment.HOLD_FOR_REVIEW, None) == (
        first.outcome,
        first.containment,
        first.score,
    )
    assert Outcome.GROUNDED == second.outcome


def test_a_detector_that_is_away_is_waited_for() -> None:
    """Retryable is the caller's business."""
    with pytest.raises(Retryable):
        verified(drawn(), BrokenDetector(poison="", error=Retryable("away")))


SETTLED = [
    ({"answer": None}, Outcome.UNRESOLVED_NO_ANSWER, [], Containment.HOLD_FOR_REVIEW),
    (
        {"answer": "It is red.", "passages": None},
        Outcome.UNRESOLVED_NO_CONTEXT,
        [ClaimLabel.UNCLEAR],
        Containment.HOLD_FOR_REVIEW,
    ),
    ({"answer": "It is red.", "passages": ()}, Outcome.HALLUCINATED, [ClaimLabel.UNSUPPORTED], Containment.ABSTAIN),
    (
        {"answer": "I don't know. Please contact support."},
        Outcome.ABSTAINED,
        [ClaimLabel.NOT_FACTUAL] * 2,
        Containment.DELIVER,
    ),
    ({"answer": "Hi!"}, Outcome.NO_CLAIMS, [ClaimLabel.NOT_FACTUAL], Containment.DELIVER),
    ({"flags": ("truncated",)}, Outcome.UNRESOLVED_TRUNCATED, [], Containment.HOLD_FOR_REVIEW),
]


@pytest.mark.parametrize(("fields", "outcome", "labels", "containment"), SETTLED)
def test_what_the_structure_settles_has_no_score(
    fields: dict[str, Any], outcome: Outcome, labels: list[ClaimLabel], containment: Containment
) -> None:
    """Only L0 is named, nothing passes, and the detector is not asked."""
    detector = WordDetector()

    found = verified(drawn(**fields), detector)

    assert (outcome, labels, containment) == (found.outcome, [claim.label for claim in found.claims], found.containment)
    assert (None, False, (Layer.L0,), []) == (found.score, found.passed, found.layers, detector.batches)


def test_an_assertion_out_of_nothing_names_both_failures() -> None:
    """The claim is unsupported, and the answer should have abstained."""
    found = verified(drawn(answer="It is red.", passages=()))

    assert (FailureLabel.UNSUPPORTED_CLAIM, FailureLabel.SHOULD_HAVE_ABSTAINED) == found.failures


@pytest.mark.parametrize(("bar", "expected"), [(None, True), (0.9, True), (0.91, False)])
def test_passed_means_grounded_and_at_the_tiers_bar(bar: float | None, expected: bool) -> None:
    """The bar moves no outcome."""
    bars = {} if bar is None else {RiskTier.MEDIUM: bar, RiskTier.LOW: 0.0}

    found = verified(drawn(answer="It is red."), bars=bars)

    assert (Outcome.GROUNDED, expected) == (found.outcome, found.passed)


def test_a_bad_critical_claim_holds_the_whole_answer_back() -> None:
    """The rule in force at the event time decides, not the one that ingest knew."""
    rules = IntentRules(critical=(CriticalRule(name="colour", pattern="blue"),))

    found = verified(drawn(answer="It is red. It is blue."), intents={"refunds": rules})

    assert (Containment.ABSTAIN, "colour") == (found.containment, found.claims[1].claim.critical_rule)


def test_sources_in_conflict_are_unclear() -> None:
    """Support and contradiction both high."""
    both = ClaimJudgement(support=0.9, contradiction=0.9)

    found = verified(drawn(answer="It is red."), ScriptedDetector({"It is red.": both}))

    assert (Outcome.UNCLEAR, (FailureLabel.CONFLICTING_SOURCES,)) == (found.outcome, found.failures)


@pytest.mark.parametrize(("other", "expected"), [("Other text.", True), ("It is red, they say.", False)])
def test_a_claim_that_only_an_archived_passage_supports_names_it(other: str, expected: bool) -> None:
    """Not so when a passage in force says the same words."""
    passages = (passage("It is red.", archived=True), passage(other, doc_id="other"))

    found = verified(drawn(answer="It is red.", passages=passages), OneWord())

    assert (Outcome.GROUNDED, expected) == (found.outcome, FailureLabel.STALE_SOURCE in found.failures)


@pytest.mark.parametrize(
    ("newer", "outcome", "failures"),
    [
        ("It is blue.", Outcome.HALLUCINATED, (FailureLabel.UNSUPPORTED_CLAIM, FailureLabel.STALE_SOURCE)),
        ("It is red too.", Outcome.GROUNDED, ()),
    ],
)
def test_the_newest_version_decides(newer: str, outcome: Outcome, failures: tuple[FailureLabel, ...]) -> None:
    """A claim that rests on an outdated version is judged again without it; an id means the version in force."""
    passages = (passage("It is red.", version="1"), passage(newer, version="2"))

    found = verified(drawn(answer="It is red [refunds].", passages=passages), OneWord())

    assert (outcome, failures) == (found.outcome, found.failures)
    assert [1] == [claim.evidence.passage for claim in found.claims if claim.evidence] or outcome != Outcome.GROUNDED


def test_thresholds_come_from_the_policy() -> None:
    """And they are part of the fingerprint."""
    strict: PolicyDocument = policy(thresholds=Thresholds(supported=0.95, unsupported=0.1))
    item: Trace = trace(answer="It is red.")

    found = verify([drawn_trace(trace=item, screening=FRESH)], [strict], ScriptedDetector({"It is red.": STRONG}), NOW)[
        0
    ]

    assert Outcome.UNCLEAR == found.outcome
    assert fingerprint("scripted-1", strict.thresholds, (Layer.L0, Layer.L1)) == found.fingerprint


class OneWord:
    """Supports a claim where a passage holds the word ``red``, and points at that passage."""

    name = "one-word"
    fingerprint = "one-word-1"

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One judgement per claim."""
        return [[self._judge(item.passages) for _ in item.claims] for item in items]

    def _judge(self, passages: Sequence[Passage]) -> ClaimJudgement:
        found = next((number for number, text in enumerate(passages) if "red" in text.text), None)
        if found is None:
            return WEAK
        return ClaimJudgement(support=0.9, contradiction=0.0, evidence=evidence("red", passage=found))


@pytest.mark.parametrize(
    ("citation", "expected"), [("[1]", False), ("[2]", True), ("[1, 2]", False), ("[3]", False), ("", False)]
)
def test_a_supported_claim_that_cites_the_wrong_passage_is_a_mismatch(citation: str, expected: bool) -> None:
    """The outcome stays grounded; a cited passage that supports it too is fine."""
    passages = (passage("It is red."), passage("It is round."), passage("Red, red."))

    found = verified(drawn(answer=f"It is red {citation}.", passages=passages), OneWord())

    assert (Outcome.GROUNDED, expected) == (found.outcome, FailureLabel.CITATION_MISMATCH in found.failures)
