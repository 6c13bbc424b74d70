"""What layers above L1 conclude on an answer depends on nothing but the answer, its route and the layers."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.layers import Layers
from detectors.verification import verify
from schemas.draw import DrawnTrace
from schemas.labels import ClaimLabel, Layer, Outcome, RiskTier
from schemas.layers import LayerReason
from schemas.routes import ConsistencyCause, ConsistencyRule, JudgeRule, Route
from schemas.verdict import ClaimJudgement, Verdict
from tests.builders import NOW, drawn_trace, policy, screening, trace
from tests.fakes_detectors import ScriptedDetector
from tests.fakes_layers import FakeConsistency, FakeJudge, FakeStacked

CLAIMS = ("It is red.", "It is blue.", "It is grey.", "It is weak.", "It is odd.", "It is wrong.", "Hello!")
SCORES = {
    "It is blue.": ClaimJudgement(support=0.5, contradiction=0.1),
    "It is grey.": ClaimJudgement(support=0.4, contradiction=0.1),
    "It is odd.": ClaimJudgement(support=0.6, contradiction=0.1),
    "It is weak.": ClaimJudgement(support=0.1, contradiction=0.0),
    "It is wrong.": ClaimJudgement(support=0.1, contradiction=0.9),
}
SAID: dict[str, ClaimLabel | Outcome] = {
    "It is blue.": ClaimLabel.CONTRADICTED,
    "It is grey.": ClaimLabel.UNCLEAR,
    "It is odd.": Outcome.ERROR_JUDGE_PARSE,
    "It is weak.": Outcome.ERROR_BUDGET,
}
RULES = policy(
    routes=(
        Route(tier=RiskTier.LOW, models=False),
        Route(
            tier=RiskTier.MEDIUM,
            judge=JudgeRule(max_claims=2),
            consistency=ConsistencyRule(causes=(ConsistencyCause.WEAK_EVIDENCE,), score_below=0.2),
        ),
        Route(judge=JudgeRule(band_low=0.0), consistency=ConsistencyRule(causes=(ConsistencyCause.ALWAYS,))),
    )
)
ANSWERS = st.tuples(st.lists(st.sampled_from(CLAIMS), min_size=1, max_size=5), st.sampled_from(RiskTier))
BATCHES = st.lists(ANSWERS, min_size=1, max_size=6)


def drawn(batch: Sequence[tuple[list[str], RiskTier]]) -> list[DrawnTrace]:
    """Traces that ingest has not judged."""
    return [
        drawn_trace(trace=trace(f"t-{number}", answer=" ".join(words), tier=tier), screening=screening(fingerprint=""))
        for number, (words, tier) in enumerate(batch)
    ]


def layers() -> Layers:
    """Models that fail on one answer, a judge that errs on some claims, a check that flags some answers."""
    stacked = FakeStacked({"It is red.": ClaimJudgement(support=0.55, contradiction=0.0)}, poison="wrong. It is wrong")
    return Layers(stacked, FakeJudge(SAID), FakeConsistency(flagged=["grey", "odd"]))


def verified(items: Sequence[DrawnTrace], above: Layers | None = None) -> list[Verdict]:
    """The verdicts by ``above``, by layers of their own where it is left out."""
    found = above or layers()
    return verify(items, [RULES] * len(items), ScriptedDetector(SCORES), NOW, above=found, clock=lambda: 0.0)


def free(verdict: Verdict) -> dict[str, Any]:
    """A verdict without what it cost."""
    found = verdict.model_dump(exclude={"cost_usd", "timings_ms", "took_ms"})
    spent = {"calls", "cached", "tokens_in", "tokens_out", "cost_usd", "took_ms"}
    found["routing"] = [{name: value for name, value in row.items() if name not in spent} for row in found["routing"]]
    return found


@settings(max_examples=25)
@given(BATCHES, st.randoms(use_true_random=False))
def test_a_verdict_does_not_depend_on_its_batch_or_its_order(
    batch: list[tuple[list[str], RiskTier]], chance: Any
) -> None:
    """Alone, together, and in any order: the same, but for who paid."""
    items = drawn(batch)
    places = list(range(len(items)))
    chance.shuffle(places)

    together = [free(one) for one in verified(items)]
    shuffled = [free(one) for one in verified([items[place] for place in places])]

    assert together == [free(one) for item in items for one in verified([item])]
    assert [together[place] for place in places] == shuffled


@settings(max_examples=25)
@given(BATCHES)
def test_a_redelivered_answer_gets_its_verdict_again_and_no_judge_is_paid(
    batch: list[tuple[list[str], RiskTier]],
) -> None:
    """What the judge said is remembered by claim and passages; what failed is asked again."""
    items, above = drawn(batch), layers()

    first, again = verified(items, above), verified(items, above)

    assert [free(one) for one in first] == [free(one) for one in again]
    paid = [(row.calls, one) for one in again for row in one.routing if row.layer is Layer.L3]
    assert all(calls == 0 or any(claim.error for claim in one.claims) for calls, one in paid)


@settings(max_examples=25)
@given(BATCHES)
def test_a_judges_word_is_never_hidden_and_never_made_up(batch: list[tuple[list[str], RiskTier]]) -> None:
    """A claim has the label of a layer that ran, or an error; only a layer that ran costs and counts."""
    for verdict in verified(drawn(batch)):
        rows = {row.layer: row for row in verdict.routing}
        assert list(Layer) == list(rows)
        assert verdict.layers == tuple(layer for layer, row in rows.items() if row.ran)
        for claim in verdict.claims:
            assert (claim.error is None) == (claim.decided_by is not None)
            assert claim.decided_by in {None, *verdict.layers} - {Layer.L4}
            assert set(claim.layers) <= set(verdict.layers)
            assert (claim.confidence is not None) == (claim.decided_by is Layer.L3)
        decided = sum(claim.decided_by is Layer.L3 for claim in verdict.claims)
        assert decided == rows[Layer.L3].claims
        if rows[Layer.L3].why is LayerReason.NOT_IN_BAND:
            assert not decided
        assert all(row.ran or row.cost_usd == 0 for row in rows.values())
