"""When too many traces have no intent: once an episode, with a second limit for its end, the same in every replay."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from alerts.buckets import ClosedBucket
from alerts.folder import Folder
from alerts.rules import unmapped_rule
from alerts.unmapped import LEARNING, RULE, WINDOW, UnmappedConfig, UnmappedState, fold_unmapped
from schemas.alert import Alert
from schemas.labels import AlertState, RiskTier
from schemas.tally import BUCKET, Tally
from tests.unit.alerts.worlds import DAY, HOUR, START

CONFIG = UnmappedConfig(share=0.2, least_traces=200)
MINUTE = timedelta(minutes=1)


def bucket(number: int, traffic: int, unmapped: int) -> ClosedBucket:
    """The ``number``-th bucket: so many traces, so many of them without an intent, in two tiers."""
    start = START + number * BUCKET
    parts = ((traffic - unmapped, "refunds", RiskTier.HIGH), (unmapped // 2, "unmapped", RiskTier.MEDIUM))
    rows = [Tally(bucket=start, intent=intent, tier=tier, traffic=count) for count, intent, tier in parts]
    rest = Tally(bucket=start, intent="unmapped", tier=RiskTier.HIGH, traffic=unmapped - unmapped // 2)
    verdicts = Tally(bucket=start, intent="unmapped", tier=RiskTier.HIGH, fingerprint="f", judged=500)
    return ClosedBucket(start, [*rows, rest, verdicts])


def hours(*shares: float, first: float = 0.0, traffic: int = 50) -> Iterator[ClosedBucket]:
    """A learning day with the share ``first``, then an hour with each share."""
    every = [first] * int(LEARNING / HOUR) + list(shares)
    for number in range(12 * len(every)):
        yield bucket(number, traffic, round(traffic * every[number // 12]))


def folded(*buckets: ClosedBucket) -> list[Alert]:
    """All alerts, in order."""
    state, alerts = UnmappedState(), list[Alert]()
    for one in buckets:
        state, told = fold_unmapped(state, one, CONFIG)
        alerts += told
    return alerts


def states(*buckets: ClosedBucket) -> list[AlertState]:
    """The states that were told, in order."""
    return [alert.state for alert in folded(*buckets)]


def test_a_share_above_the_limit_is_told_once_with_share_limit_and_traces() -> None:
    """However long it lasts."""
    (alert,) = folded(*hours(0.0, *[0.5] * 30))
    assert (RULE, "unmapped/medium", AlertState.FIRING) == (alert.rule, alert.slice.slice_key, alert.state)
    assert (0.2, 600, 600) == (alert.reference.rate, alert.rate.n, alert.samples)
    assert alert.rate.rate is not None
    assert 0.2 < alert.rate.rate < 0.26
    assert START + LEARNING + HOUR == alert.since


def test_a_share_at_the_limit_is_not_above_it() -> None:
    """And verdict rows are no traffic."""
    assert [] == states(*hours(*[0.2] * 30))


def test_a_swinging_share_is_one_episode_until_it_falls_to_half_the_limit() -> None:
    """Otherwise a share near the limit would be told every hour."""
    swinging = [0.3, 0.14] * 6
    assert [AlertState.FIRING] == states(*hours(*swinging))
    assert [AlertState.FIRING, AlertState.RESOLVED] == states(*hours(*swinging, 0.1, 0.1))


def test_a_second_episode_is_told_under_another_id() -> None:
    """It is news."""
    ids = [alert.alert_id for alert in folded(*hours(0.5, 0.0, 0.0, 0.5))]
    assert (3, 2) == (len(ids), len(set(ids)))


def test_few_traces_say_nothing() -> None:
    """Neither that something is wrong nor that it is right again."""
    assert [] == states(*hours(*[1.0] * 30, traffic=16))
    began = list(hours(0.5))
    thin = [bucket(len(began) + number, 5, 0) for number in range(120)]
    assert [AlertState.FIRING] == states(*began, *thin)


def test_nobody_is_told_in_the_first_day_of_traffic() -> None:
    """Rules are being written then; what is still unmapped afterwards is told, once."""
    buckets = list(hours(1.0, 1.0, first=1.0))
    assert [] == states(*buckets[: int(LEARNING / BUCKET) - 1])
    assert [START + LEARNING] == [alert.fired_at for alert in folded(*buckets)]


def test_silence_is_stale_and_no_recovery() -> None:
    """Told once; traffic makes it what it was, and only a low share ends it."""
    began = list(hours(0.5))
    after = len(began) + int(2 * DAY / BUCKET)
    silence = [bucket(number, 0, 0) for number in range(len(began), after)]
    bad = [bucket(after + number, 50, 25) for number in range(24)]
    good = [bucket(after + 24 + number, 50, 0) for number in range(24)]
    fired, stale, again, resolved = folded(*began, *silence, *bad, *good)
    wanted = [AlertState.FIRING, AlertState.STALE, AlertState.FIRING, AlertState.RESOLVED]
    assert wanted == [fired.state, stale.state, again.state, resolved.state]
    assert stale.rate == fired.rate
    assert 1 == len({alert.alert_id for alert in (fired, stale, again, resolved)})
    assert resolved.resolved_at == resolved.updated_at


def test_left_out_buckets_are_empty_ones() -> None:
    """An hour is an hour of event time, whatever comes."""
    began = list(hours(0.0))
    late = bucket(len(began) + int(WINDOW / BUCKET), 199, 199)
    assert [] == states(*began, late)


def test_a_limit_of_one_turns_it_off() -> None:
    """No share is above it."""
    state, told = UnmappedState(), 0
    for one in hours(*[1.0] * 30, first=1.0):
        state, alerts = fold_unmapped(state, one, UnmappedConfig(share=1.0))
        told += len(alerts)
    assert 0 == told


def test_the_past_is_refused() -> None:
    """It is the folder's to change."""
    state, _ = fold_unmapped(UnmappedState(), bucket(1, 10, 0), CONFIG)
    with pytest.raises(ValueError, match="begins before"):
        fold_unmapped(state, bucket(0, 10, 0), CONFIG)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_replay_in_any_portions_tells_the_same(size: int) -> None:
    """The same alerts under the same ids as bucket by bucket."""
    buckets = list(hours(0.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0))
    folder = Folder(unmapped_rule(CONFIG))
    portions = [buckets[first : first + size] for first in range(0, len(buckets), size)]
    told = [alert for portion in portions for alert in folder.advance(portion, portion[-1].end)]
    assert folded(*buckets) == [alert.model_copy(update={"is_historical": False}) for alert in told]


def test_a_restart_tells_nothing_again() -> None:
    """A replay that knows what was told is silent, also while the episode is open."""
    buckets = list(hours(0.0, 0.5))
    told = Folder(unmapped_rule(CONFIG)).advance(buckets, buckets[-1].end)
    again = Folder(unmapped_rule(CONFIG), known=told)
    assert (1, []) == (len(told), again.advance(buckets, buckets[-1].end + MINUTE))


def test_late_traffic_takes_an_episode_back() -> None:
    """Traces with intents that were read late lower the share of a bucket within six hours."""
    buckets = list(hours(0.0, 0.5))
    folder = Folder(unmapped_rule(CONFIG))
    (fired,) = folder.advance(buckets, buckets[-1].end)
    more = [bucket(number, 500, 25) for number in range(len(buckets) - 12, len(buckets))]
    (withdrawn,) = folder.advance(more, buckets[-1].end + MINUTE)
    assert (fired.alert_id, AlertState.INACTIVE) == (withdrawn.alert_id, withdrawn.state)
