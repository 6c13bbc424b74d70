"""What the replay of labelled answers promises about its traffic, and how its threshold is chosen."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from bench.benchkit.operating import Jump, Scored, answers_needed, best_threshold
from bench.benchkit.ragtruth import PLANS, TIERS, human_rate, traffic, weak_share
from schemas.errors import ConfigError

DEPLOYED = datetime(2026, 3, 1, tzinfo=UTC)


def record(intent: str, number: int, model: str, *, is_bad: bool) -> dict[str, Any]:
    """A labelled answer."""
    return {
        "id": f"{intent}-{model}-{number}",
        "task": intent,
        "model": model,
        "hallucinated": is_bad,
        "question": "",
        "answer": f"Answer {number}.",
        "passages": [{"doc_id": "d", "text": "Text."}],
    }


RECORDS = [
    record(intent, number, model, is_bad=number % 100 < bad)
    for intent in TIERS
    for model, bad in (("gpt-4-0613", 6), ("llama-2-7b-chat", 60))
    for number in range(100)
]


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_human_rate_is_multiplied_in_the_intents_of_the_plan_alone(plan: Any) -> None:
    """Over the traffic as sent, and with the volumes that baselines need."""
    sent = traffic(RECORDS, plan, DEPLOYED, 1)
    for intent in TIERS:
        own = [one for one in sent if one.intent == intent]
        before = [one.is_bad for one in own if one.ts < DEPLOYED]
        after = [one.is_bad for one in own if one.ts >= DEPLOYED]
        expected = plan.multiples.get(intent, 1.0)
        assert expected == pytest.approx(np.mean(after) / np.mean(before), rel=0.15)
        if intent in plan.multiples:
            assert len(before) / plan.days_before >= 300
            assert len(after) >= 1000


def test_ids_are_fresh_times_ascend_and_each_record_is_first_once() -> None:
    """Records recur, traces do not."""
    sent = traffic(RECORDS, PLANS["x2"], DEPLOYED, 1)
    assert len(sent) == len({one.trace["trace_id"] for one in sent})
    assert sorted(one.ts for one in sent) == [one.ts for one in sent]
    assert len({one.record_id for one in sent}) == sum(one.is_first for one in sent)


def test_a_rate_that_no_mix_reaches_is_refused() -> None:
    """Weak answers bound the rate from above."""
    strong = [one for one in RECORDS if one["model"] == "gpt-4-0613"]
    weak = [one for one in RECORDS if one["model"] != "gpt-4-0613"]
    assert pytest.approx(2 * human_rate(strong)) == (
        weak_share(strong, weak, 2) * human_rate(weak) + (1 - weak_share(strong, weak, 2)) * human_rate(strong)
    )
    with pytest.raises(ConfigError, match="cannot be mixed"):
        weak_share(strong, weak, 40)


def test_a_perfect_detector_needs_the_answers_of_the_theory_and_a_useless_one_never_pages() -> None:
    """Ten nats over KL(0.1 ‖ 0.05) = 0.0207."""
    assert 483 == pytest.approx(answers_needed(Jump(0.05, 0.1), 1.0, 0.0), abs=2)
    assert answers_needed(Jump(0.05, 0.1), 0.3, 0.3) > 50_000


def test_the_threshold_is_chosen_without_the_held_out_fold() -> None:
    """Labels of the held-out fold, turned round, change nothing."""
    rng = np.random.default_rng(1)
    is_bad, fold = rng.random(600) < 0.3, np.arange(600) % 5
    score = np.where(is_bad, rng.beta(2, 4, 600), rng.beta(6, 2, 600))
    jumps = {"qa": Jump(0.05, 0.2)}
    honest = best_threshold({"qa": Scored(score, is_bad, fold)}, jumps, 3)
    turned = best_threshold({"qa": Scored(score, np.where(fold == 3, ~is_bad, is_bad), fold)}, jumps, 3)
    assert honest == turned
    assert 0.1 < honest < 0.7
