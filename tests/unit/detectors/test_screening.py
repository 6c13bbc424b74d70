"""L0 and L1 on every trace before the draw."""

from detectors.fingerprint import screening_fingerprint
from detectors.screening import Screener
from schemas.draw import Screening
from schemas.labels import FailureLabel, Outcome
from schemas.policy import CriticalRule, IntentRules
from schemas.trace import Trace
from schemas.verdict import ClaimJudgement
from tests.builders import policy, trace
from tests.fakes_detectors import BrokenDetector, ScriptedDetector, WordDetector

WEAK = ClaimJudgement(support=0.2, contradiction=0.0)


def screened(*traces: Trace, **rules: object) -> list[Screening]:
    """Screenings with a detector that doubts ``It is blue.``, under the rules of the intent ``refunds``."""
    document = policy(intents={"refunds": IntentRules.model_validate(rules)})
    return Screener(ScriptedDetector({"It is blue.": WEAK})).screen(traces, [document] * len(traces))


def test_a_screening_holds_claims_judgements_and_the_weakest_support() -> None:
    """And says which detector, splitter and L0 made it."""
    (found,) = screened(trace(answer="It is red. It is blue. Hello!"))

    assert ["It is red.", "It is blue.", "Hello!"] == [claim.text for claim in found.claims]
    assert [1.0, 0.2, None] == [judgement.support for judgement in found.judgements]
    assert (0.2, None, screening_fingerprint("scripted-1")) == (found.score, found.outcome, found.fingerprint)


def test_claims_name_what_they_cite_by_a_known_id() -> None:
    """An id without a digit is a citation when a passage bears it; so strata see it."""
    (found,) = screened(trace(answer="It is red [Refunds] (really). It is green [1] [other]."))

    assert [("Refunds",), ("1",)] == [claim.citations for claim in found.claims]


def test_rules_of_the_intent_apply() -> None:
    """Required citations and critical claims; ``*`` is the default of intents that are not listed."""
    rule = CriticalRule(name="colour", pattern="blue")
    rules = IntentRules(citations_required=True, critical=(rule,))
    other = trace(answer="It is blue.", intent="other")

    (own,) = screened(trace(answer="It is blue."), citations_required=True, critical=(rule,))
    (default,) = Screener(None).screen([other], [policy(intents={"*": rules})])
    (without,) = Screener(None).screen([other], [policy(intents={"refunds": rules})])

    assert ("colour", (FailureLabel.CITATION_MISSING,)) == (own.claims[0].critical_rule, own.failures)
    assert ("colour", (FailureLabel.CITATION_MISSING,)) == (default.claims[0].critical_rule, default.failures)
    assert ("", ()) == (without.claims[0].critical_rule, without.failures)


def test_settled_answers_are_not_sent_to_the_detector() -> None:
    """One call for the batch, with the open ones only."""
    detector = WordDetector()
    traces = [trace("a"), trace("b", answer=None), trace("c", answer="I don't know."), trace("d")]

    found = Screener(detector).screen(traces, [policy()] * 4)

    assert [2] == detector.batches
    assert [None, Outcome.UNRESOLVED_NO_ANSWER, Outcome.ABSTAINED, None] == [screening.outcome for screening in found]
    assert () == found[2].judgements


def test_an_answer_over_the_limit_is_neither_split_nor_judged() -> None:
    """It is too long, not cut."""
    (found,) = Screener(WordDetector(), max_answer_bytes=10).screen([trace(answer="It is blue.")], [policy()])

    assert (Outcome.ERROR_TOO_LONG, ()) == (found.outcome, found.claims)


def test_without_a_detector_there_are_claims_and_findings_only() -> None:
    """No judgement, no score, no fingerprint."""
    (found,) = Screener(None).screen([trace()], [policy()])

    assert (1, (), None, "") == (len(found.claims), found.judgements, found.score, found.fingerprint)


def test_a_failing_detector_leaves_an_error_in_the_screening() -> None:
    """Ingest goes on."""
    (found,) = Screener(BrokenDetector(poison="", error=ValueError())).screen([trace()], [policy()])

    assert [Outcome.ERROR_INTERNAL] == [judgement.error for judgement in found.judgements]
    assert found.score is None


def test_time_is_shared_among_the_traces_of_a_batch() -> None:
    """Three seconds for two traces are 1,500 ms each."""
    ticks = iter([10.0, *[11.0] * 7, 13.0])

    found = Screener(None, clock=lambda: next(ticks)).screen([trace("a"), trace("b")], [policy()] * 2)

    assert [1500.0, 1500.0] == [screening.took_ms for screening in found]


def test_no_traces_give_no_screenings() -> None:
    """An empty batch is fine."""
    assert [] == Screener(WordDetector()).screen([], [])
