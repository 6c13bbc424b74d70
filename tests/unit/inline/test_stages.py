"""Stages: the decision is the stream's, what has ended by then counts, and nothing is judged twice."""

import pytest

from detectors.allowance import Allowance
from detectors.evidence import load_evidence_detector
from detectors.layers import Layers
from detectors.verification import verify
from schemas.draw import DrawnTrace, Screening
from schemas.labels import ClaimLabel, Layer, Outcome
from schemas.layers import LayerReason
from schemas.policy import PolicyDocument
from schemas.routes import ConsistencyCause, ConsistencyRule, JudgeRule, OnFailure, Route
from schemas.verdict import ClaimJudgement, Verdict
from streams.inline.remembering import Remembering
from streams.inline.request import CheckPassage, CheckRequest
from streams.inline.stages import Above, Below, Judges, judge_below, layers_in_use
from tests.builders import NOW, check_item, draw, judgement
from tests.fakes import FakeDetector
from tests.fakes_inline import policy_with, request
from tests.fakes_layers import FakeConsistency, FakeJudge, FakeStacked
from tests.fixtures_traces import Fixture, load_fixtures

FIXTURES = [fixture for _, fixture in load_fixtures() if fixture.trace.answer is not None and not fixture.documents]
EVERYTHING = Route(
    judge=JudgeRule(band_low=0.0, band_high=1.0), consistency=ConsistencyRule(causes=(ConsistencyCause.ALWAYS,))
)
IN_TIME = Allowance()


def judges(layers: Layers, detector: FakeDetector | None = None) -> Judges:
    """What judges in these tests."""
    return Judges(detector or FakeDetector({"90": (0.5, 0.1)}), layers, 100_000, lambda trace: trace)


def below(of: Judges, answer: str, policy: PolicyDocument) -> Below:
    """The first stage."""
    return judge_below(of, request(answer).to_trace(NOW, "t"), policy, NOW)


def whole(of: Judges, answer: str, policy: PolicyDocument) -> tuple[Verdict, ...]:
    """The verdicts of all stages."""
    first = below(of, answer, policy)
    return (first.verdict, *ran(of, first).verdicts)


def ran(of: Judges, first: Below, allowance: Allowance = IN_TIME) -> Above:
    """All stages, one after the other."""
    above = Above(of, first, layers_in_use(first, of.above))
    if Layer.L2 in above.in_use:
        above.run_models()
    if {Layer.L3, Layer.L4} & {*above.in_use}:
        above.run_all(allowance)
    return above


@pytest.mark.parametrize("layers", [Layers(), Layers(models=FakeStacked(), judge=FakeJudge())], ids=["L1", "L3"])
def test_decision_is_that_of_the_stream_for_the_same_trace(layers: Layers) -> None:
    """For every fixture, sent as a request: the same claims, labels, outcome, containment and fingerprint."""
    detector = load_evidence_detector()
    of = Judges(detector, layers, 1_000_000, lambda trace: trace)
    for fixture in FIXTURES:
        policy = fixture.policy.model_copy(update={"routes": (EVERYTHING,)})
        drawn = DrawnTrace(trace=fixture.trace, draw=draw(), screening=Screening())
        expected = verify([drawn], [policy], detector, NOW, above=layers)[0]
        first = judge_below(of, as_request(fixture).to_trace(fixture.trace.ts, "t"), policy, NOW)
        found = (first.verdict, *ran(of, first).verdicts)[-1]
        for name in ("outcome", "containment", "claims", "failures", "severity", "passed", "fingerprint", "findings"):
            assert getattr(expected, name) == getattr(found, name), (fixture.name, name)


def as_request(fixture: Fixture) -> CheckRequest:
    """What a product would have sent before the answer of a fixture."""
    trace = fixture.trace
    shared = {name: getattr(trace, name) for name in CheckRequest.model_fields if hasattr(trace, name)}
    passages = None if trace.passages is None else [CheckPassage(**dict(passage)) for passage in trace.passages]
    return CheckRequest(**{**shared, "passages": passages})


def test_each_stage_is_a_whole_verdict() -> None:
    """L0 and L1, then L2, then all."""
    layers = Layers(models=FakeStacked(), judge=FakeJudge(), consistency=FakeConsistency())
    verdicts = whole(judges(layers), "It takes 90 days.", policy_with(EVERYTHING))
    assert [
        (Layer.L0, Layer.L1),
        (Layer.L0, Layer.L1, Layer.L2),
        tuple(Layer),
    ] == [verdict.layers for verdict in verdicts]


def test_no_layer_judges_the_same_twice() -> None:
    """L1 and L2 once, though three verdicts rest on them."""
    models, detector = FakeStacked(), FakeDetector()
    layers = Layers(models=models, judge=FakeJudge())
    whole(judges(layers, detector), "It takes 90 days.", policy_with(EVERYTHING))
    assert ([1], 1) == (models.batches, detector.judged)


def test_what_the_structure_settles_needs_no_layer() -> None:
    """Not even the threads for them."""
    of = judges(Layers(models=FakeStacked()))
    first = judge_below(of, request("", passages=[]).to_trace(NOW, "t"), policy_with(EVERYTHING), NOW)
    assert (Outcome.UNRESOLVED_NO_ANSWER, ()) == (first.verdict.outcome, layers_in_use(first, of.above))


def test_layers_that_are_not_routed_are_not_used() -> None:
    """Whatever the process has."""
    of = judges(Layers(models=FakeStacked(), judge=FakeJudge()))
    first = below(of, "It takes 90 days.", policy_with(Route(models=False)))
    assert () == layers_in_use(first, of.above)


def test_a_stage_that_never_ended_is_in_the_routing_table() -> None:
    """The verdict is that of L0 and L1, and the rows of the others say why."""
    of = judges(Layers(models=FakeStacked(), judge=FakeJudge()))
    first = below(of, "It takes 90 days.", policy_with(EVERYTHING))
    found = Above(of, first, layers_in_use(first, of.above)).best(OnFailure.CLOSED, LayerReason.OUT_OF_TIME)
    assert first.verdict.claims == found.claims
    assert [
        (Layer.L0, True, LayerReason.ALWAYS),
        (Layer.L1, True, LayerReason.ALWAYS),
        (Layer.L2, False, LayerReason.OUT_OF_TIME),
        (Layer.L3, False, LayerReason.OUT_OF_TIME),
        (Layer.L4, False, LayerReason.NOT_CONFIGURED),
    ] == [(row.layer, row.ran, row.why) for row in found.routing]


@pytest.mark.parametrize(
    ("needs", "dropped"),
    [
        ({}, []),
        ({Layer.L4: 2.0, Layer.L3: 0.5}, [Layer.L4]),
        ({Layer.L4: 2.0, Layer.L3: 1.5}, [Layer.L3, Layer.L4]),
    ],
    ids=["none", "L4", "L3-too"],
)
def test_the_dearest_layers_are_left_out_first(needs: dict[Layer, float], dropped: list[Layer]) -> None:
    """With one second left; L2 is left out by not being begun."""
    of = judges(Layers(models=FakeStacked(), judge=FakeJudge(), consistency=FakeConsistency()))
    first = below(of, "It takes 90 days.", policy_with(EVERYTHING))
    found = ran(of, first, Allowance(1.0, needs, clock=lambda: 0.0)).best(OnFailure.OPEN, LayerReason.OUT_OF_TIME)
    assert dropped == [row.layer for row in found.routing if row.why is LayerReason.OUT_OF_TIME]


@pytest.mark.parametrize(
    ("on_failure", "outcome", "layer"),
    [(OnFailure.OPEN, Outcome.GROUNDED, Layer.L2), (OnFailure.CLOSED, Outcome.ERROR_MODEL, None)],
    ids=["open", "closed"],
)
def test_a_judge_that_fails_is_passed_over_where_failures_are_open(
    on_failure: OnFailure, outcome: Outcome, layer: Layer | None
) -> None:
    """The layers below decide; closed, its failure stands. The routing table says the same of it."""
    text = "It takes 30 days."
    of = judges(Layers(models=FakeStacked(), judge=FakeJudge({text: Outcome.ERROR_MODEL})))
    first = below(of, text, policy_with(EVERYTHING))
    found = ran(of, first).best(on_failure, LayerReason.OUT_OF_TIME)
    assert (outcome, layer) == (found.outcome, found.claims[0].decided_by)
    assert LayerReason.AWAY is next(row.why for row in found.routing if row.layer is Layer.L3)


def test_a_judge_that_answers_decides() -> None:
    """Over the classifier below it."""
    text = "It takes 90 days."
    layers = Layers(judge=FakeJudge({text: ClaimLabel.CONTRADICTED}))
    found = whole(judges(layers), text, policy_with(EVERYTHING))[-1]
    assert (ClaimLabel.CONTRADICTED, Layer.L3) == (found.claims[0].label, found.claims[0].decided_by)


def test_models_are_asked_for_what_is_new_alone() -> None:
    """An item with other judgements below it is another one."""
    models = FakeStacked(by_text={"a": ClaimJudgement(support=0.1, contradiction=0.0)})
    remembering = Remembering(models)
    first, second = check_item("One thing."), check_item("Another thing.")
    assert remembering.judge([first]) == [remembering.judge([first, second])[0]]
    remembering.judge_after([second], [[judgement(0.3)]])
    assert ([1, 1, 1], models.fingerprint, models.name) == (models.batches, remembering.fingerprint, remembering.name)
