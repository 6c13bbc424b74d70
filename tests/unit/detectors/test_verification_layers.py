"""Answers on their way through the layers above L1, and the table that says what became of each layer."""

from typing import Any

import pytest

from detectors.allowance import Allowance
from detectors.detector import Detector
from detectors.layers import ConsistencyResult, JudgeResult, Layers, Spent
from detectors.verification import verify
from schemas.draw import DrawnTrace
from schemas.labels import ClaimLabel, Containment, FailureLabel, Layer, Outcome, RiskTier
from schemas.layers import LayerReason
from schemas.routes import ConsistencyCause, ConsistencyRule, JudgeRule, Route
from schemas.verdict import ClaimJudgement, Evidence, Verdict
from tests.builders import NOW, drawn_trace, evidence, passage, policy, screening, trace
from tests.fakes_detectors import ScriptedDetector
from tests.fakes_layers import DOLLARS, FakeConsistency, FakeJudge, FakeStacked

UNSURE = ClaimJudgement(support=0.5, contradiction=0.1)
WEAK = ClaimJudgement(support=0.2, contradiction=0.0)
SURE = ClaimJudgement(support=0.9, contradiction=0.0)
FRESH = screening(fingerprint="")
ALWAYS = ConsistencyRule(causes=(ConsistencyCause.ALWAYS,))
JUDGED = Route(judge=JudgeRule())
FULL = Route(judge=JudgeRule(), consistency=ALWAYS)
DETECTOR = ScriptedDetector({"It is blue.": UNSURE, "It is grey.": UNSURE, "It is weak.": WEAK})


def drawn(answer: str, trace_id: str = "t-1", **fields: Any) -> DrawnTrace:
    """A drawn trace that ingest has not judged."""
    return drawn_trace(trace=trace(trace_id, answer=answer, **fields), screening=FRESH)


def verified(answer: str, route: Route = JUDGED, *, detector: Detector = DETECTOR, **layers: Any) -> Verdict:
    """The verdict on one answer."""
    rules = policy(routes=(route,))
    return verify([drawn(answer)], [rules], detector, NOW, above=Layers(**layers), clock=lambda: 0.0)[0]


def table(found: Verdict) -> dict[Layer, tuple[bool, LayerReason, int]]:
    """By layer: whether it ran, why, on how many claims."""
    return {line.layer: (line.ran, line.why, line.claims) for line in found.routing}


def test_the_judges_label_holds_over_the_thresholds_and_scores_stay_those_below() -> None:
    """A claim inside the band is the judge's, one outside it the detector's."""
    judge = FakeJudge({"It is blue.": ClaimLabel.CONTRADICTED})

    found = verified("It is blue. It is grey. It is red.", judge=judge)

    assert [["It is blue.", "It is grey."]] == judge.asked
    assert [
        (ClaimLabel.CONTRADICTED, 0.5, Layer.L3, 0.8),
        (ClaimLabel.SUPPORTED, 0.5, Layer.L3, 0.8),
        (ClaimLabel.SUPPORTED, 1.0, Layer.L1, None),
    ] == [(one.label, one.support, one.decided_by, one.confidence) for one in found.claims]
    assert [(Layer.L0, Layer.L1, Layer.L3)] * 2 + [(Layer.L0, Layer.L1)] == [one.layers for one in found.claims]
    assert (Outcome.HALLUCINATED, 0.5, (FailureLabel.CONTRADICTED_CLAIM,)) == (
        found.outcome,
        found.score,
        found.failures,
    )
    assert (True, LayerReason.IN_BAND, 2) == table(found)[Layer.L3]
    assert (Layer.L0, Layer.L1, Layer.L3) == found.layers
    assert pytest.approx(2 * DOLLARS) == found.cost_usd


def test_what_a_judge_calls_unverifiable_is_unclear() -> None:
    """And goes to review, without a failure and without an error."""
    found = verified("It is blue.", judge=FakeJudge({"It is blue.": ClaimLabel.UNCLEAR}))

    assert (Outcome.UNCLEAR, (), Containment.HOLD_FOR_REVIEW) == (found.outcome, found.failures, found.containment)
    assert Layer.L3 is found.claims[0].decided_by


@pytest.mark.parametrize(
    ("error", "why", "layers"),
    [
        (Outcome.ERROR_BUDGET, LayerReason.OVER_BUDGET, (Layer.L0, Layer.L1)),
        (Outcome.ERROR_TIMEOUT, LayerReason.OUT_OF_TIME, (Layer.L0, Layer.L1, Layer.L3)),
        (Outcome.ERROR_MODEL, LayerReason.AWAY, (Layer.L0, Layer.L1, Layer.L3)),
        (Outcome.ERROR_JUDGE_PARSE, LayerReason.FAILED, (Layer.L0, Layer.L1, Layer.L3)),
        (Outcome.ERROR_TOO_LONG, LayerReason.FAILED, (Layer.L0, Layer.L1)),
    ],
)
def test_a_wanted_claim_that_goes_unjudged_is_an_error(
    error: Outcome, why: LayerReason, layers: tuple[Layer, ...]
) -> None:
    """With the reason, without scores, and never as the word of the layer below."""
    found = verified("It is blue.", judge=FakeJudge({"It is blue.": error}))

    (claim,) = found.claims
    assert (error, error, ClaimLabel.UNCLEAR, None, None) == (
        found.outcome,
        claim.error,
        claim.label,
        claim.support,
        claim.decided_by,
    )
    assert (why, 0) == table(found)[Layer.L3][1:]
    assert layers == claim.layers


def test_claims_beyond_the_cap_are_errors_and_say_why() -> None:
    """The cap is of the route, not of the hour."""
    found = verified("It is blue. It is grey.", Route(judge=JudgeRule(max_claims=1)), judge=FakeJudge())

    assert [None, Outcome.ERROR_BUDGET] == [claim.error for claim in found.claims]
    assert "max_claims" in found.claims[1].why
    assert (True, LayerReason.CAPPED, 1) == table(found)[Layer.L3]


def test_models_answer_in_the_place_of_l1() -> None:
    """They are told what L1 said, and the band is one of their scores."""
    models, judge = FakeStacked({"It is red.": UNSURE, "It is blue.": SURE}), FakeJudge()

    found = verified("It is red. It is blue. Hello!", models=models, judge=judge)

    assert [[1.0, 0.5, None]] == [[one.support for one in known or ()] for known in models.below[0]]
    assert [["It is red."]] == judge.asked
    assert [Layer.L3, Layer.L2, Layer.L0] == [claim.decided_by for claim in found.claims]
    assert {Layer.L1: (True, LayerReason.ALWAYS, 2), Layer.L2: (True, LayerReason.ROUTED, 2)}.items() <= table(
        found
    ).items()
    assert {"L1", "L2", "L3", "second_looks"} <= found.timings_ms.keys()


def test_an_answer_that_breaks_the_models_is_an_error_of_its_own() -> None:
    """Never L1's verdict in disguise; neighbours are judged, and nobody asks a judge about it."""
    models, judge = FakeStacked(poison="poison"), FakeJudge()
    items = [drawn("It is poison.", "a"), drawn("It is red.", "b")]

    bad, good = verify(items, [policy(routes=(JUDGED,))] * 2, DETECTOR, NOW, above=Layers(models, judge))

    assert (Outcome.ERROR_MODEL, Outcome.GROUNDED) == (bad.outcome, good.outcome)
    assert (True, LayerReason.FAILED, 0) == table(bad)[Layer.L2]
    assert (LayerReason.NOT_IN_BAND, LayerReason.ROUTED) == (table(bad)[Layer.L3][1], table(good)[Layer.L2][1])


def test_what_does_not_run_says_why() -> None:
    """Not in the route, not in the process, nothing in the band, no cause, or settled by the structure."""
    rule = ConsistencyRule(causes=(ConsistencyCause.WEAK_EVIDENCE,))
    quiet = Route(models=False, judge=JudgeRule(), consistency=rule)
    layers: dict[str, Any] = {"judge": FakeJudge(), "consistency": FakeConsistency()}

    assert [LayerReason.ALWAYS] * 2 + [LayerReason.NOT_ROUTED, LayerReason.NOT_IN_BAND, LayerReason.NO_CAUSE] == [
        line.why for line in verified("It is red.", quiet, **layers).routing
    ]
    assert [LayerReason.NOT_ROUTED, LayerReason.NOT_CONFIGURED, LayerReason.NOT_CONFIGURED] == [
        line.why for line in verified("It is red.", quiet).routing[2:]
    ]
    settled = verified("I don't know. Please contact support.", FULL, models=FakeStacked(), **layers)
    assert [LayerReason.ALWAYS] + [LayerReason.SETTLED] * 4 == [line.why for line in settled.routing]
    assert (Layer.L0,) == settled.layers
    assert list(Layer) == [line.layer for line in settled.routing]


def test_an_unstable_answer_goes_to_the_judge_whole() -> None:
    """Self-consistency routes and is noted; the labels are the judge's."""
    judge = FakeJudge({"It is red.": ClaimLabel.UNSUPPORTED})
    check = FakeConsistency(flagged=["red"])

    found = verified("It is red. It is weak.", FULL, judge=judge, consistency=check)

    assert [["It is red.", "It is weak."]] == judge.asked
    assert found.consistency is not None
    assert found.consistency.is_flagged
    assert [ClaimLabel.UNSUPPORTED, ClaimLabel.SUPPORTED] == [claim.label for claim in found.claims]
    assert (True, LayerReason.SUSPECT, 2) == table(found)[Layer.L3]
    assert (True, LayerReason.ALWAYS, 2) == table(found)[Layer.L4]
    assert pytest.approx(6 * DOLLARS) == found.cost_usd


@pytest.mark.parametrize("flagged", [(), ("It",)])
def test_self_consistency_changes_no_label_of_its_own(flagged: tuple[str, ...]) -> None:
    """Neither a stable answer nor an unstable one is cleared or condemned by it."""
    route = Route(consistency=ALWAYS)
    alone = verified("It is red. It is weak.", route)

    found = verified("It is red. It is weak.", route, consistency=FakeConsistency(flagged))

    assert [claim.label for claim in alone.claims] == [claim.label for claim in found.claims]
    assert (alone.outcome, alone.score, alone.containment) == (found.outcome, found.score, found.containment)


@pytest.mark.parametrize("stopped", [LayerReason.NO_SAMPLES, LayerReason.OVER_BUDGET, LayerReason.AWAY])
def test_what_cannot_be_compared_says_why(stopped: LayerReason) -> None:
    """And the answer is judged as without it."""
    found = verified("It is red.", FULL, judge=FakeJudge(), consistency=FakeConsistency(stopped=stopped))

    assert (None, (False, stopped, 0)) == (found.consistency, table(found)[Layer.L4])
    assert (Outcome.GROUNDED, LayerReason.NOT_IN_BAND) == (found.outcome, table(found)[Layer.L3][1])


class Odd:
    """A judge and a check that give ``answer`` for anything."""

    name = "odd"
    fingerprint = "odd-1"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def judge(self, _tasks: Any, _deadline: float | None = None) -> Any:
        """As told."""
        return self.answer

    check = judge


ODD = [
    None,
    [],
    [None],
    ["?"],
    [JudgeResult({}, Spent(cost_usd=-1.0))],
    [JudgeResult({}, Spent(took_ms=float("nan")))],
    [JudgeResult({0: ClaimJudgement()})],
    [JudgeResult({0: ClaimJudgement(label=ClaimLabel.NOT_FACTUAL)})],
    [JudgeResult({0: ClaimJudgement(error=Outcome.GROUNDED)})],
    [JudgeResult({0: ClaimJudgement(label=ClaimLabel.SUPPORTED, evidence=evidence(passage=9))})],
    [JudgeResult({0: "?"})],  # type: ignore[dict-item]  # what it must not be
    [JudgeResult({7: ClaimJudgement(label=ClaimLabel.SUPPORTED)})],
]


@pytest.mark.parametrize("answer", ODD, ids=range(len(ODD)))
def test_a_judge_that_answers_nonsense_is_an_error_of_the_claims_it_was_asked(answer: Any) -> None:
    """It clears nothing, ends nothing, and the row says that it failed."""
    found = verified("It is blue. It is red.", judge=Odd(answer))

    assert [Outcome.ERROR_INTERNAL, None] == [claim.error for claim in found.claims]
    assert (LayerReason.FAILED, 0) == table(found)[Layer.L3][1:]


@pytest.mark.parametrize("answer", [None, [], [None], ["?"], [ConsistencyResult(None)]], ids=range(5))
def test_a_check_that_answers_nonsense_changes_nothing(answer: Any) -> None:
    """The row says that it failed."""
    found = verified("It is red.", FULL, judge=FakeJudge(), consistency=Odd(answer))

    assert (Outcome.GROUNDED, (True, LayerReason.FAILED, 0)) == (found.outcome, table(found)[Layer.L4])


class Picky(FakeJudge):
    """Fails on every call that asks about ``It is grey.``."""

    def judge(self, tasks: Any, deadline: float | None = None) -> list[JudgeResult]:
        """As a fake that raises."""
        if any(claim.text == "It is grey." for task in tasks for claim in task.item.claims):
            raise ValueError
        return super().judge(tasks, deadline)


def test_an_answer_that_breaks_the_judge_costs_no_other_its_verdict() -> None:
    """The batch that failed is asked one by one."""
    items = [drawn("It is grey.", "a"), drawn("It is blue.", "b")]

    bad, good = verify(items, [policy(routes=(JUDGED,))] * 2, DETECTOR, NOW, above=Layers(judge=Picky()))

    assert (Outcome.ERROR_INTERNAL, Outcome.GROUNDED) == (bad.outcome, good.outcome)


def test_each_layer_takes_one_call_for_a_batch() -> None:
    """Answers of several routes together; each by its own route."""
    models, judge, check = FakeStacked(), FakeJudge(), FakeConsistency()
    rules = policy(routes=(Route(tier=RiskTier.LOW, models=False), FULL))
    items = [drawn(f"It is blue. It is {number}.", f"t-{number}") for number in range(3)]
    items.append(drawn("It is blue.", "low", tier=RiskTier.LOW))

    found = verify(items, [rules] * 4, DETECTOR, NOW, above=Layers(models, judge, check))

    assert ([3], 1, [["t-0", "t-1", "t-2"]]) == (models.batches[:1], len(judge.asked), check.asked)
    assert (Layer.L0, Layer.L1) == found[3].layers
    assert 2 == len({verdict.fingerprint for verdict in found})


def test_a_verdict_without_layers_above_l1_keeps_its_series() -> None:
    """Pinned beside ``test_fingerprint``: a route that the process cannot follow starts none."""
    plain = verify([drawn("It is red.")], [policy()], DETECTOR, NOW)[0]

    assert plain.fingerprint == verified("It is red.", FULL).fingerprint
    assert {"detector", "layers", "splitter", "l0", "phrases"} == {
        name for name in plain.fingerprint_parts if not name.startswith("threshold_")
    }


def test_outdated_versions_are_not_shown_to_the_judge() -> None:
    """The newest one decides; evidence counts in the whole context, and a finding that no longer holds is dropped."""
    old = passage("Old red.", version="1", updated_at=NOW.replace(year=2020))
    new = passage("New red.", version="2", updated_at=NOW.replace(year=2025))
    seen: list[list[str]] = []

    class Reader(FakeJudge):
        """Names its last passage."""

        def judge(self, tasks: Any, deadline: float | None = None) -> list[JudgeResult]:
            """Remembers what it was shown."""
            seen.extend([passage.text for passage in task.item.passages] for task in tasks)
            (result,) = super().judge(tasks, deadline)
            said = {
                index: one.model_copy(update={"evidence": evidence("red", passage=0)})
                for index, one in result.judgements.items()
            }
            return [JudgeResult(said, result.spent)]

    class Rests:
        """Sure by the old passage, unsure without it."""

        name = fingerprint = "rests"

        def judge(self, items: Any) -> list[list[ClaimJudgement]]:
            """By what the first passage says."""
            return [[self._judge(item.passages) for _ in item.claims] for item in items]

        def _judge(self, passages: Any) -> ClaimJudgement:
            found: Evidence = evidence("red", passage=0)
            is_old = passages[0].text == "Old red."
            return (SURE if is_old else UNSURE).model_copy(update={"evidence": found})

    item = drawn("It is red.", passages=(old, new))
    with_judge = verify([item], [policy(routes=(JUDGED,))], Rests(), NOW, above=Layers(judge=Reader()))[0]
    without = verify([item], [policy()], Rests(), NOW)[0]

    assert [["New red."]] == seen
    assert with_judge.claims[0].evidence is not None
    assert (ClaimLabel.SUPPORTED, 1) == (with_judge.claims[0].label, with_judge.claims[0].evidence.passage)
    assert FailureLabel.STALE_SOURCE in without.failures
    assert FailureLabel.STALE_SOURCE not in with_judge.failures


def test_a_claim_that_only_a_judge_found_supported_has_no_citation_mismatch() -> None:
    """The detector was unsure of it against all passages, so it says nothing about one of them."""
    found = verified("It is blue [1].", detector=ScriptedDetector({"It is blue [1].": UNSURE}), judge=FakeJudge())

    assert (Outcome.GROUNDED, ()) == (found.outcome, found.failures)


class Clock:
    """Stands still at ``at``."""

    def __init__(self, at: float) -> None:
        self.at = at

    def __call__(self) -> float:
        """Seconds."""
        return self.at


def test_an_answer_that_somebody_waits_for_goes_on_without_layers_that_have_no_time() -> None:
    """The dearest are left out first; claims keep the word of the layer below, and the table says so."""
    needs = {Layer.L2: 1.0, Layer.L3: 5.0, Layer.L4: 20.0}
    allowance = Allowance(deadline=102.0, needs_seconds=needs, clock=Clock(100.0))
    models, judge, check = FakeStacked(), FakeJudge(), FakeConsistency()

    (found,) = verify(
        [drawn("It is blue.")],
        [policy(routes=(FULL,))],
        DETECTOR,
        NOW,
        above=Layers(models, judge, check),
        allowance=allowance,
    )

    assert ([], []) == (judge.asked, check.asked)
    assert [True, LayerReason.OUT_OF_TIME, LayerReason.OUT_OF_TIME] == [
        table(found)[Layer.L2][0],
        table(found)[Layer.L3][1],
        table(found)[Layer.L4][1],
    ]
    assert (ClaimLabel.UNSUPPORTED, Layer.L2) == (found.claims[0].label, found.claims[0].decided_by)


def test_a_judge_that_runs_out_of_time_leaves_the_word_below_only_where_somebody_waits() -> None:
    """Drawn traces are verified without a limit: there the claim is an error."""
    judge = FakeJudge({"It is blue.": Outcome.ERROR_TIMEOUT})
    allowance = Allowance(deadline=102.0, clock=Clock(100.0))
    above, rules = Layers(judge=judge), [policy(routes=(JUDGED,))]

    (inline,) = verify([drawn("It is blue.")], rules, DETECTOR, NOW, above=above, allowance=allowance)

    assert (Outcome.HALLUCINATED, Layer.L1) == (inline.outcome, inline.claims[0].decided_by)
    assert LayerReason.OUT_OF_TIME is table(inline)[Layer.L3][1]
    assert [102.0] == judge.deadlines
    assert Outcome.ERROR_TIMEOUT is verify([drawn("It is blue.")], rules, DETECTOR, NOW, above=above)[0].outcome
