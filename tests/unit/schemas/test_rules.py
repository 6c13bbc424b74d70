"""Rules that the schemas themselves enforce."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.labels import Outcome
from schemas.policy import Overlay, OverlayReason, PolicyRecord, Sampling, StratumRule, Thresholds
from schemas.slice import Slice
from schemas.tally import Tally
from tests.builders import NOW, policy, tally


def test_order_of_outcomes_is_the_stores_format() -> None:
    """Tally arrays are read by position: outcomes may be added at the end, never moved."""
    assert [
        "grounded", "hallucinated", "unclear", "abstained", "clarified", "no_claims",
        "unresolved:no_answer", "unresolved:no_context", "unresolved:redacted", "unresolved:truncated",
        "unresolved:no_content", "unresolved:expired",
        "error:judge_parse", "error:timeout", "error:too_long", "error:model", "error:budget", "error:internal",
    ] == [outcome.value for outcome in Outcome][:18]  # fmt: skip


def test_every_outcome_is_of_at_most_one_kind() -> None:
    """Judged, error and unresolved exclude each other."""
    assert [o for o in Outcome if o.is_error + o.is_unresolved + o.is_judged > 1] == []


def test_only_grounded_and_hallucinated_make_up_the_rate() -> None:
    """A failure is never a score."""
    assert {Outcome.GROUNDED, Outcome.HALLUCINATED} == {outcome for outcome in Outcome if outcome.is_judged}


def test_tally_knows_its_slice() -> None:
    """The alert cell is intent and tier, not the stratum."""
    assert tally(stratum="weak_evidence").slice == tally(stratum="rest").slice
    assert Slice(intent="refunds", tier=tally().tier).slice_key == "refunds/medium"


def test_pending_cannot_be_negative() -> None:
    """A tally that counts wrong is refused."""
    with pytest.raises(ValidationError):
        Tally(bucket=NOW, intent="x", tier=tally().tier, pending=-1)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Sampling(strata=(StratumRule(name="rest"),)),
        lambda: Sampling(strata=(StratumRule(name="a"), StratumRule(name="a"))),
        lambda: Sampling(strata=tuple(StratumRule(name=f"s{number}") for number in range(8))),
        lambda: Thresholds(supported=0.4, unsupported=0.6),
        lambda: Overlay(reason=OverlayReason.SURGE, until=NOW),
        lambda: Overlay(reason=OverlayReason.SURGE, until=NOW, at_least=1, times=0.5),
        lambda: PolicyRecord(policy_id="p", published_at=NOW),
        lambda: PolicyRecord(policy_id="p", published_at=NOW, document=policy(), complete_until=NOW),
        lambda: PolicyRecord(policy_id="p", published_at=NOW.replace(tzinfo=None), document=policy()),
    ],
)
def test_policy_that_contradicts_itself_is_refused(build: Any) -> None:
    """Found when it is made, not when a trace is drawn."""
    with pytest.raises(ValidationError):
        build()


def test_overlay_that_changes_one_thing_is_fine() -> None:
    """A surge raises, a budget lowers."""
    until = NOW + timedelta(hours=1)
    assert Overlay(reason=OverlayReason.SURGE, until=until, at_least=1).times is None
    assert Overlay(reason=OverlayReason.BUDGET, until=until, times=0.5).at_least is None
