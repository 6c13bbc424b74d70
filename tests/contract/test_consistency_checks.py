"""What every self-consistency check promises, real or fake: one result a task, in order, and never an exception."""

import copy
from collections.abc import Callable

import pytest

from detectors.claims import split_claims
from detectors.consistency import ResamplingFailed, SelfConsistency
from detectors.layers import ConsistencyCheck, ConsistencyTask, Payer
from schemas.claim import CheckItem
from schemas.layers import LayerReason
from schemas.routes import ConsistencyRule, Route
from tests.builders import trace
from tests.fakes_consistency import CountingPurse, ScriptedResampler
from tests.fakes_detectors import BrokenDetector, WordDetector
from tests.fakes_layers import FakeConsistency

ANSWERS = (
    "The pass costs 12 euros for adults. It is valid for two whole days.",
    "30 days",
    "Hello!",
    "",
    "a " * 5_000,
    "\ud83d \x00 \u202e",
)


def real(resampler: ScriptedResampler) -> Callable[[], ConsistencyCheck]:
    """The check over a model with prepared answers."""
    return lambda: SelfConsistency(WordDetector(), CountingPurse(), resampler)


CHECKS: dict[str, Callable[[], ConsistencyCheck]] = {
    "fake": FakeConsistency,
    "fake without samples": lambda: FakeConsistency(stopped=LayerReason.NO_SAMPLES),
    "agreeing": real(ScriptedResampler([ANSWERS[0]] * 4)),
    "odd": real(ScriptedResampler(["", "\ud83d", "\x00" * 1000, "a " * 10_000])),
    "away": real(ScriptedResampler(error=ResamplingFailed(LayerReason.AWAY))),
    "buggy": real(ScriptedResampler(error=RuntimeError())),
    "broken detector": lambda: SelfConsistency(
        BrokenDetector("", ValueError()), CountingPurse(), ScriptedResampler(ANSWERS)
    ),
    "empty purse": lambda: SelfConsistency(WordDetector(), CountingPurse(0), ScriptedResampler(ANSWERS)),
}


@pytest.fixture(params=CHECKS)
def check(request: pytest.FixtureRequest) -> ConsistencyCheck:
    """Each check in turn."""
    return CHECKS[request.param]()


def task(answer: str, number: int = 0, **rule: int) -> ConsistencyTask:
    """An answer with a prompt."""
    asked = trace(f"t-{number}", answer=answer, packed_prompt="What does it cost?")
    item = CheckItem(asked.question, (), answer, split_claims(answer))
    return ConsistencyTask(
        Payer(asked.trace_id, asked.intent, asked.tier, Route()), asked, item, ConsistencyRule(**rule)
    )


def test_one_result_a_task_with_something_found_or_a_reason(check: ConsistencyCheck) -> None:
    """Whatever answers hold; claims that are named exist, and nobody is paid less than nothing."""
    tasks = [task(answer, number) for number, answer in enumerate(ANSWERS)]
    before = copy.deepcopy(tasks)
    results = check.check(tasks)

    assert before == tasks
    assert len(tasks) == len(results)
    for one, result in zip(tasks, results, strict=True):
        assert (result.found is None) == (result.stopped is not None)
        if result.found is not None:
            assert {*result.found.unstable_claims} <= {claim.index for claim in one.item.claims}
        assert min(result.spent.calls, result.spent.tokens_in, result.spent.tokens_out, result.spent.cost_usd) >= 0


def test_results_do_not_depend_on_neighbours(check: ConsistencyCheck) -> None:
    """Alone or in a batch, in any order."""
    tasks = [task(answer, number) for number, answer in enumerate(ANSWERS)]
    alone = [check.check([one])[0] for one in tasks]

    assert [one.found for one in alone] == [one.found for one in check.check(tasks)]
    assert [one.found for one in reversed(alone)] == [one.found for one in check.check(tasks[::-1])]


def test_name_and_fingerprint_are_constant_and_nothing_gives_nothing(check: ConsistencyCheck) -> None:
    """They label metrics and verdicts."""
    before = (check.name, check.fingerprint)
    assert [] == check.check([])
    assert before == (check.name, check.fingerprint)
    assert all(before)
