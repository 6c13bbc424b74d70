"""What a verdict says beside its labels: faithfulness, passing, bars, and the time of each step."""

import pytest

from detectors.containment import contain
from detectors.outcome import answer_outcome
from detectors.screening import Screener
from detectors.verification import verify
from schemas.draw import DrawnTrace, Screening
from schemas.finding import StructuralRule
from schemas.labels import ClaimLabel, Containment, Layer, Outcome, RiskTier, Severity
from schemas.policy import ClaimRules, ClaimSplitting, PolicyDocument
from schemas.verdict import ClaimJudgement, Verdict
from tests.builders import NOW, claim_verdict, draw, policy, trace
from tests.fakes_detectors import ScriptedDetector, WordDetector

S, U, C, X, N = (
    ClaimLabel.SUPPORTED,
    ClaimLabel.UNSUPPORTED,
    ClaimLabel.CONTRADICTED,
    ClaimLabel.UNCLEAR,
    ClaimLabel.NOT_FACTUAL,
)
WRONG = ClaimJudgement(support=0.0, contradiction=0.95)


def verdict_on(answer: str, rules: PolicyDocument, *, is_screened: bool = False) -> Verdict:
    """The verdict of a detector that finds "It is wrong." contradicted."""
    detector = ScriptedDetector({"It is wrong.": WRONG, "It is weak.": ClaimJudgement(support=0.72, contradiction=0.0)})
    item = trace(answer=answer)
    screened = Screener(detector).screen([item], [rules])[0] if is_screened else Screening()
    return verify([DrawnTrace(trace=item, draw=draw(), screening=screened)], [rules], detector, NOW)[0]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([S, S], 1.0),
        ([S, U], 0.5),
        ([S, C, U, S], 0.5),
        ([U, C], 0.0),
        ([S, X, N], 1.0),
        ([X, X], None),
        ([N], None),
        ([], None),
    ],
)
def test_faithfulness_is_supported_over_scorable_claims(labels: list[ClaimLabel], expected: float | None) -> None:
    """Unclear ones count in neither; nothing to score is no score, and never 100 %."""
    assert expected == answer_outcome([claim_verdict(label) for label in labels]).faithfulness


@pytest.mark.parametrize("bar", [None, 0.0, 0.5, 1.0])
def test_a_contradicted_claim_never_passes(bar: float | None) -> None:
    """Whatever the bar; severity says how bad it is."""
    found = verdict_on("It is red. It is wrong.", policy(bars={} if bar is None else {RiskTier.MEDIUM: bar}))

    assert (False, Outcome.HALLUCINATED, 0.5) == (found.passed, found.outcome, found.faithfulness)
    assert Severity.HIGH is found.severity


@pytest.mark.parametrize(
    ("bars", "passed", "containment"),
    [
        ({}, True, Containment.DELIVER),
        ({RiskTier.MEDIUM: 0.72}, True, Containment.DELIVER),
        ({RiskTier.MEDIUM: 0.8}, False, Containment.HOLD_FOR_REVIEW),
        ({RiskTier.HIGH: 0.8}, True, Containment.DELIVER),
    ],
)
def test_a_bar_decides_whether_an_answer_passes_and_is_delivered(
    bars: dict[RiskTier, float], passed: bool, containment: Containment
) -> None:
    """It moves neither label nor outcome nor fingerprint, so it starts no new series."""
    found = verdict_on("It is red. It is weak.", policy(bars=bars))

    assert (passed, containment) == (found.passed, found.containment)
    assert (Outcome.GROUNDED, 1.0, verdict_on("It is red.", policy()).fingerprint) == (
        found.outcome,
        found.faithfulness,
        found.fingerprint,
    )


def test_a_claim_below_the_bar_is_held_before_a_bad_one_is_cut() -> None:
    """Critical and bad still goes first."""
    weak, bad = claim_verdict(S, support=0.72), claim_verdict(U)
    critical = bad.model_copy(update={"claim": bad.claim.model_copy(update={"critical_rule": "amount"})})

    assert Containment.HOLD_FOR_REVIEW is contain(Outcome.HALLUCINATED, [weak, bad], "x", 0.8)
    assert Containment.ABSTAIN is contain(Outcome.HALLUCINATED, [weak, critical], "x", 0.8)


def test_each_step_has_its_time() -> None:
    """Also where ingest has judged already: the time was spent there, and is told here."""
    fresh, taken_over = (verdict_on("It is red.", policy(), is_screened=is_screened) for is_screened in (False, True))

    for found in (fresh, taken_over):
        assert {"split", "L0", "L1", "second_looks"} == set(found.timings_ms)
        assert all(ms >= 0 for ms in found.timings_ms.values())


def test_the_policy_says_how_far_answers_are_split() -> None:
    """Screening and verification split alike, under a fingerprint of their own."""
    answer = "It is red and has two doors."
    rules = policy(claims=ClaimRules(split=ClaimSplitting.ATOMIC))

    found, plain = verdict_on(answer, rules, is_screened=True), verdict_on(answer, policy(), is_screened=True)

    assert (["It is red", "has two doors."], [answer]) == (
        [judged.claim.text for judged in found.claims],
        [judged.claim.text for judged in plain.claims],
    )
    assert ("3-atomic", "3") == (found.splitter, plain.splitter)
    assert found.fingerprint != plain.fingerprint


def test_judgements_of_whole_sentences_are_not_taken_over_for_parts() -> None:
    """A policy may change between ingest and a second verification."""
    item = trace(answer="It is red and has two doors.")
    (screened,) = Screener(WordDetector()).screen([item], [policy()])
    detector = WordDetector()
    rules = policy(claims=ClaimRules(split=ClaimSplitting.ATOMIC))

    (found,) = verify([DrawnTrace(trace=item, draw=draw(), screening=screened)], [rules], detector, NOW)

    assert 2 == len(found.claims)
    assert 1 == detector.batches[0]


def test_the_parts_of_the_fingerprint_stand_in_the_verdict() -> None:
    """So that two series can be told apart when the versions are long gone."""
    found = verdict_on("It is red.", policy())

    assert ("scripted-1", "L0,L1", "3") == (
        found.fingerprint_parts["detector"],
        found.fingerprint_parts["layers"],
        found.fingerprint_parts["splitter"],
    )
    assert Layer.L1 in found.layers


def test_a_truncated_context_is_a_finding_of_the_verdict() -> None:
    """The model was shown less than was retrieved, and the verdict says so."""
    item = trace(answer="It is red.", packed_prompt="Answer. It is red.")

    (found,) = verify([DrawnTrace(trace=item, draw=draw(), screening=Screening())], [policy()], ScriptedDetector(), NOW)

    assert StructuralRule.CONTEXT_TRUNCATED in [finding.rule for finding in found.findings]
