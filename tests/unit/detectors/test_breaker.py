"""The circuit breaker: open after failures in a row, half open after a pause, and one call finds out."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.breaker import LONGEST_PAUSE_SECONDS, Breaker, BreakerRule, BreakerState, admit, after, paused, withdrawn

RULE = BreakerRule(failures=3, pause_seconds=10.0)


def failed(times: int, now: float = 0.0, state: BreakerState | None = None) -> BreakerState:
    """So many failures one after the other."""
    found = state or BreakerState()
    for _ in range(times):
        found = after(found, now, RULE, was_answered=False)
    return found


def test_it_opens_after_failures_in_a_row_and_for_a_while() -> None:
    """Two are not enough for three; then nothing is sent until the pause is over."""
    assert admit(failed(2), 0.0)[1]
    assert [False, False, True] == [admit(failed(3), now)[1] for now in (0.0, 9.9, 10.0)]


def test_an_answer_between_failures_starts_the_count_anew() -> None:
    """Only failures in a row say that an endpoint is away."""
    state = after(failed(2), 0.0, RULE, was_answered=True)

    assert admit(failed(2, state=state), 0.0)[1]


@pytest.mark.parametrize(("was_answered", "admitted"), [(True, [True, True]), (False, [False, False])])
def test_one_call_finds_out_for_all(was_answered: bool, admitted: Sequence[bool]) -> None:
    """While it is under way the others wait; its end closes the breaker, or opens it for another pause."""
    probing, is_probe = admit(failed(3), 10.0)
    assert is_probe
    assert not admit(probing, 10.0)[1]

    state = after(probing, 11.0, RULE, was_answered=was_answered)

    assert admitted == [admit(state, now)[1] for now in (11.0, 20.9)]
    assert admit(state, 21.0)[1]


def test_a_probe_that_is_not_made_leaves_its_place_to_the_next() -> None:
    """A budget that refuses the call must not keep the breaker open for ever."""
    probing, _ = admit(failed(3), 10.0)

    assert admit(withdrawn(probing), 10.0)[1]


def test_failures_that_were_under_way_do_not_lengthen_the_pause() -> None:
    """Twenty calls at a time would push the probe away."""
    assert admit(failed(20, now=5.0, state=failed(3)), 10.0)[1]


def test_an_endpoint_that_asks_for_a_pause_gets_it() -> None:
    """At once, for as long as it says and never for a day; a shorter wish does not shorten a pause that holds."""
    state = paused(BreakerState(), 0.0, 40.0)

    assert [False, True] == [admit(state, now)[1] for now in (39.9, 40.0)]
    assert [False, True] == [admit(paused(state, 5.0, 1.0), now)[1] for now in (39.9, 40.0)]
    assert admit(paused(BreakerState(), 0.0, 1e6), LONGEST_PAUSE_SECONDS)[1]
    breaker = Breaker(RULE, lambda: 0.0)
    breaker.pause(1.0)
    assert (True, False) == (breaker.is_open, breaker.admit())


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 30)), max_size=60))
def test_an_endpoint_that_answers_again_is_found(steps: list[tuple[bool, float]]) -> None:
    """Whatever happened before, after a pause a call is admitted, and its answer closes the breaker."""
    now = 0.0
    breaker = Breaker(RULE, lambda: now)
    for was_answered, wait in steps:
        now += wait
        if breaker.admit():
            breaker.ended(was_answered=was_answered)
    now += RULE.pause_seconds

    assert breaker.admit()
    breaker.ended(was_answered=True)
    assert breaker.admit()
    assert not breaker.is_open
    breaker.withdraw()
