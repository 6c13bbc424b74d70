"""Deploys seen in version tags, or marked."""

from datetime import datetime, timedelta

from alerts.buckets import DeployMark
from alerts.deploys import SliceTraffic, mark, observe
from schemas.tally import BUCKET, Tally
from schemas.trace import Versions
from tests.unit.alerts.worlds import NEW, OLD, START, rows

BUDGET = 0.01


def traffic(at: datetime, **shares: int) -> list[Tally]:
    """Traffic rows of models named by the keywords."""
    return [
        row
        for model, count in shares.items()
        for row in rows(at, count, 0, versions=Versions(model=model))
        if not row.fingerprint
    ]


def watched(*buckets: dict[str, int], step: timedelta = BUCKET) -> SliceTraffic:
    """A slice after the buckets, given as traces by model."""
    state = SliceTraffic(START, START)
    for number, shares in enumerate(buckets):
        at = START + number * step
        state = observe(state, traffic(at, **shares), at, BUDGET, 6)
    return state


def test_first_values_are_no_deploy() -> None:
    """What was there while the slice was first seen is its baseline."""
    assert () == watched({"a": 10}, {"b": 10}, {"a": 5, "b": 5}).events


def test_new_value_is_a_deploy_after_two_buckets_and_dates_from_the_first() -> None:
    """Confirmed in its second bucket, at the first one, with the value before it."""
    once = watched({"a": 30}, {"a": 20, "b": 10})
    assert [False] == [event.is_confirmed for event in once.events]
    (event,) = watched({"a": 30}, {"a": 20, "b": 10}, {"b": 30}).events
    assert event.is_confirmed
    assert (START + BUCKET, (("model", "b"),), ("a",)) == (event.at, event.tags, event.before)


def test_deploy_brings_half_the_budget_divided_by_deploys_a_month() -> None:
    """Seen for less than a day, one deploy counts as thirty a month."""
    (event,) = watched({"a": 30}, {"b": 30}, {"b": 30}).events
    assert BUDGET / 2 / 30 == event.lump


def test_value_below_five_per_cent_is_no_deploy() -> None:
    """A canary of 2 % is not enough."""
    state = watched({"a": 100}, *[{"a": 98, "b": 2}] * 10)
    assert [False] == [event.is_confirmed for event in state.events]


def test_widened_canary_dates_from_its_widening() -> None:
    """When a 2 % canary goes to everyone, the deploy is then, not when the canary began."""
    state = watched({"a": 100}, *[{"a": 98, "b": 2}] * 10, {"b": 100}, {"b": 100})
    assert [(START + 11 * BUCKET, True)] == [(event.at, event.is_confirmed) for event in state.events]


def test_thin_slice_needs_three_traces() -> None:
    """Two traces of a new value are no deploy yet, the third makes it one."""
    quiet = [{"a": 30}, {"b": 1}, {"b": 1}]
    assert not watched(*quiet, step=timedelta(hours=1)).events[0].is_confirmed
    assert watched(*quiet, {"b": 1}, step=timedelta(hours=1)).events[0].is_confirmed


def test_values_that_name_nothing_are_no_deploy() -> None:
    """An empty tag, and the catch-all of the tallies, are passed over."""
    assert () == watched({"a": 30}, {"": 30}, {"other": 30}, {"other": 30}).events


def test_restless_field_is_passed_over() -> None:
    """A field with more than six new values in a day stops being a signal."""
    changing = [{f"v{number // 2}": 30} for number in range(30)]
    assert 6 == len(watched({"a": 30}, *changing).events)


def test_mark_is_an_event_at_once_and_counts_once_with_its_tag() -> None:
    """The same value seen in traffic later adds no second event."""
    state = mark(watched({"a": 30}), [DeployMark(START + BUCKET, "model", "b")], START + BUCKET, BUDGET)
    assert [True] == [event.is_confirmed for event in state.events]
    for number in (1, 2, 3):
        at = START + number * BUCKET
        state = observe(state, traffic(at, b=30), at, BUDGET, 6)
    assert 1 == len(state.events)


def test_release_of_two_fields_is_one_event() -> None:
    """Tags that appear in the same bucket belong together."""
    state = SliceTraffic(START, START)
    both = Versions(model="m-2", prompt="p-2")
    for number, versions in enumerate((OLD, both, both)):
        at = START + number * BUCKET
        state = observe(state, rows(at, 30, 0, versions=versions)[:1], at, BUDGET, 6)
    assert [(("model", "m-2"), ("prompt", "p-2"))] == [event.tags for event in state.events]
    assert ("m-1", "p-1") == state.events[0].before
    assert NEW.model == both.model
