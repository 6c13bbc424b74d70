"""A detector that fails in any way costs its claims a judgement, never a message its row or the stream its life."""

from collections.abc import Callable, Sequence

import pytest

from schemas.claim import CheckItem
from schemas.errors import StoreUnavailable
from schemas.labels import Outcome
from schemas.verdict import ClaimJudgement
from streams.broker.topics import DEADLETTER
from streams.store import ALL_TENANTS
from tests.agents.flow import Flow, native
from tests.fakes import FakeDetector

ATTEMPTS = 3


def endless(depth: int = 0) -> int:
    """Recursion without an end."""
    return endless(depth + 1)


def out_of_memory() -> None:
    """What an allocation that fails raises."""
    raise MemoryError


def plain_bug() -> None:
    """The most common one."""
    raise IndexError


class Failing(FakeDetector):
    """Fails whenever an item holds the word; ``asked`` counts how often it was given that item alone."""

    def __init__(self, fail: Callable[[], object]) -> None:
        super().__init__({"90": (0.05, 0.9)})
        self.fail = fail
        self.asked = 0

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """Fail, or score."""
        if any("cursed" in claim.text for item in items for claim in item.claims):
            self.asked += len(items) == 1
            self.fail()
        return super().judge(items)


@pytest.mark.parametrize("fail", [endless, out_of_memory, plain_bug])
async def test_scoring_that_raises_again_and_again_is_an_outcome(fail: Callable[[], object]) -> None:
    """``error:internal`` after three tries, beside good verdicts of the same batch; no dead letter, nobody waits."""
    flow = Flow(detector=Failing(fail))
    cursed = native("t-1", answer="The cursed lamp may be returned within 30 days of delivery [returns].")
    await flow.ingest.handle([flow.message(native("t-0")), flow.message(cursed), flow.message(native("t-2"))])
    flow.detector.asked = 0  # type: ignore[attr-defined]
    await flow.verify_and_sink()
    found = [flow.store.trace(f"t-{n}", tenants=ALL_TENANTS) for n in range(3)]
    outcomes = [one.verdicts[0].outcome for one in found if one is not None]
    assert [Outcome.GROUNDED, Outcome.ERROR_INTERNAL, Outcome.GROUNDED] == outcomes
    assert (3, []) == (flow.store.counts().traces, flow.publisher.sent[DEADLETTER])
    assert flow.detector.asked >= ATTEMPTS  # type: ignore[attr-defined]


async def test_a_detector_that_is_away_is_waited_for() -> None:
    """That is no failure of an answer: the batch comes again."""

    def away() -> None:
        raise StoreUnavailable("the judge does not answer")

    flow = Flow(detector=Failing(away))
    cursed = native("t-1", answer="The cursed lamp may be returned within 30 days of delivery [returns].")
    with pytest.raises(StoreUnavailable):
        await flow.ingest.handle([flow.message(cursed)])
