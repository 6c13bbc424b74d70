"""The verify step with layers above L1: what is stored, what a redelivery costs, and that we never judge ourselves."""

from typing import cast

from detectors.layers import Layers
from schemas.codec import decode
from schemas.labels import ClaimLabel, Layer, Outcome
from schemas.layers import LayerReason
from schemas.routes import ConsistencyCause, ConsistencyRule, JudgeRule, Route
from schemas.verdict import Verdict
from streams.agents.ingest import Ingest
from streams.agents.layer_counts import LayerCounts
from streams.agents.verify import Verify
from streams.agents.watermarks import Watermarks
from streams.broker.publisher import Publisher
from streams.broker.topics import DRAWN, VERDICTS
from streams.store import ALL_TENANTS
from tests.agents.flow import EVERYTHING, Flow, native, policies
from tests.builders import NOW
from tests.fakes import FakeDetector
from tests.fakes_layers import DOLLARS, FakeConsistency, FakeJudge, FakeStacked
from tests.source_messages import decoder

ANSWER = "You can return a lamp within 90 days."
JUDGED = EVERYTHING.model_copy(
    update={"routes": (Route(judge=JudgeRule(), consistency=ConsistencyRule(causes=(ConsistencyCause.ALWAYS,))),)}
)


def flow() -> Flow:
    """A detector that is unsure of ``90``, and everything above it."""
    return Flow(
        detector=FakeDetector({"90": (0.5, 0.1)}),
        known=policies(JUDGED),
        layers=Layers(FakeStacked(), FakeJudge({ANSWER: ClaimLabel.CONTRADICTED}), FakeConsistency()),
    )


async def test_a_drawn_answer_goes_through_its_layers_and_its_table_is_stored() -> None:
    """The judge decides; the row says what it cost."""
    running = flow()

    await running.ingest.handle([running.message(native("t-1", answer=ANSWER))])
    await running.verify_and_sink()

    found = running.store.trace("t-1", tenants=ALL_TENANTS)
    assert found is not None
    (verdict,) = found.verdicts
    assert (Outcome.HALLUCINATED, tuple(Layer)) == (verdict.outcome, verdict.layers)
    assert [LayerReason.ALWAYS] * 2 + [LayerReason.ROUTED, LayerReason.IN_BAND, LayerReason.ALWAYS] == [
        line.why for line in verdict.routing
    ]
    assert verdict.consistency is not None


async def test_a_redelivered_answer_gets_the_same_verdict_and_no_judge_is_paid_twice() -> None:
    """The whole of ``gw.drawn`` is read once more, as after a kill."""
    running = flow()
    await running.ingest.handle([running.message(native("t-1", answer=ANSWER))])
    publisher, counts = cast("Publisher", running.publisher), LayerCounts()
    step = Verify(
        publisher,
        running.known,
        running.detector,
        lambda: NOW,
        262_144,
        16_000_000,
        layers=running.layers,
        counts=counts,
    )

    for _ in range(2):
        await step.handle(running.publisher.messages(DRAWN))

    first, again = (decode(Verdict, message.value) for message in running.publisher.messages(VERDICTS))
    kept = {"outcome", "claims", "failures", "score", "layers", "fingerprint", "consistency", "containment"}
    assert first.model_dump(include=kept) == again.model_dump(include=kept)
    assert (1, 1, 2) == (counts.calls[Layer.L3], counts.cached[Layer.L3], counts.claims[Layer.L3])
    assert DOLLARS == counts.dollars[Layer.L3]
    assert 2 == counts.answers[Layer.L2, True, LayerReason.ROUTED]


async def test_a_call_of_our_own_is_never_drawn_or_judged() -> None:
    """A gateway that traces everything sends the judge's calls into the topic that we watch; a neighbour is judged."""
    running = flow()
    ingest = Ingest(running.admission, decoder().decode, Watermarks())
    ours = native("ours", answer=ANSWER, metadata={"headers": {"x-groundwatch": "judge"}})

    await ingest.handle([running.message(ours), running.message(native("theirs", answer=ANSWER))])
    await running.verify_and_sink()

    assert 1 == len(running.publisher.messages(DRAWN)) == len(running.publisher.messages(VERDICTS))
    assert running.store.trace("ours", tenants=ALL_TENANTS) is None
    judge = running.layers.judge
    assert isinstance(judge, FakeJudge)
    assert [[ANSWER]] == judge.asked
