"""The judge inside verification: its label holds over the thresholds, and what it could not judge is an error."""

from detectors.layers import Layers
from detectors.verification import verify
from schemas.codec import encode
from schemas.labels import ClaimLabel, Layer, Outcome
from schemas.layers import LayerReason
from schemas.routes import JudgeRule, Route
from schemas.verdict import Verdict
from tests.builders import NOW, drawn_trace, policy, trace
from tests.fakes import FakeDetector
from tests.fakes_completion import AnsweringCompletion, ScriptedCompletion
from tests.judge_parts import CLAIM, FakePurse, asked_about, honest, judge, reply

UNSURE = FakeDetector({"30": (0.5, 0.1)})
ROUTED = policy(routes=(Route(judge=JudgeRule()),))


def verdict_by(*replies: str, purse: FakePurse | None = None) -> Verdict:
    """The verdict on one answer of which the layer below is unsure."""
    drawn = drawn_trace(trace=trace(answer=CLAIM))
    above = Layers(judge=judge(ScriptedCompletion(list(replies)), purse))
    return verify([drawn], [ROUTED], UNSURE, NOW, above=above)[0]


def test_what_the_judge_says_decides() -> None:
    """The scores stay those of the layer below, and the row says what it took."""
    found = verdict_by(reply("contradicted"))

    (claim,) = (one for one in found.claims if one.claim.is_factual)
    assert (Outcome.HALLUCINATED, ClaimLabel.CONTRADICTED, Layer.L3) == (found.outcome, claim.label, claim.decided_by)
    assert (0.5, 0.9) == (claim.support, claim.confidence)
    row = next(line for line in found.routing if line.layer is Layer.L3)
    assert (True, LayerReason.IN_BAND, 1, 1) == (row.ran, row.why, row.claims, row.calls)
    assert found.cost_usd == row.cost_usd > 0
    assert "m-1" in found.fingerprint_parts["judge"]


def test_half_characters_in_a_reason_do_not_keep_a_verdict_from_being_sent() -> None:
    """JSON may hold them, UTF-8 may not."""
    found = verdict_by(reply(reason="so \ud83d it \x00 is"))

    assert "so \ufffd it \ufffd is" in next(one.why for one in found.claims if one.claim.is_factual)
    encode(found)


def test_what_it_could_not_judge_is_an_error() -> None:
    """Never the word of the layer below."""
    parsed, unpaid = verdict_by("prose"), verdict_by(reply(), purse=FakePurse(calls=0))

    assert (Outcome.ERROR_JUDGE_PARSE, Outcome.ERROR_BUDGET) == (parsed.outcome, unpaid.outcome)
    assert LayerReason.OVER_BUDGET is next(line.why for line in unpaid.routing if line.layer is Layer.L3)


def test_a_redelivered_answer_gets_the_same_verdict_and_costs_nothing() -> None:
    """From the cache, in the same words."""
    completion = AnsweringCompletion(honest)
    above = Layers(judge=judge(completion))
    drawn = drawn_trace(trace=trace(answer=CLAIM))

    first, again = (verify([drawn], [ROUTED], UNSURE, NOW, above=above)[0] for _ in range(2))

    assert first.claims == again.claims
    assert (1, [CLAIM]) == (len(completion.asked), [asked_about(completion.asked[0].messages)["claim"]])
    assert 0 == again.cost_usd < first.cost_usd + 1
