"""Properties of the fold that hold for any stream of tallies."""

from datetime import timedelta
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alerts.buckets import ClosedBucket, TotalsByStratum, plus, totals_of
from alerts.config import JumpConfig
from alerts.folder import Folder
from alerts.rules import jump_rule
from schemas.alert import Alert
from schemas.labels import AlertState
from schemas.tally import BUCKET, Tally
from tests.unit.alerts.worlds import NEW, OLD, START, folded, rows

CONFIG = JumpConfig(stale_after=timedelta(minutes=30))
"""A short silence is stale here, so that small streams reach every state."""
WITHIN_REACH = 70
"""Buckets of a little less than six hours."""
SLOW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def cells(draw: st.DrawFn) -> list[tuple[str, int, float, bool]]:
    """Rows of one bucket: intent, judged, share hallucinated, whether the new version is running."""
    intents = draw(st.lists(st.sampled_from(["a", "b"]), unique=True))
    return [
        (intent, draw(st.integers(1, 60)), draw(st.sampled_from([0.0, 0.05, 0.3, 1.0])), draw(st.booleans()))
        for intent in intents
    ]


def bucket(number: int, content: list[tuple[str, int, float, bool]]) -> ClosedBucket:
    """The closed bucket at this place in the stream."""
    start = START + number * BUCKET
    tallies = [
        row
        for intent, judged, share, is_new in content
        for row in rows(start, judged, round(judged * share), intent=intent, versions=NEW if is_new else OLD)
    ]
    return ClosedBucket(start, tallies)


def stretched(stretches: list[tuple[int, list[tuple[str, int, float, bool]]]]) -> list[ClosedBucket]:
    """Stretches of equal buckets, one after the other: long enough to fire, to recover and to fall silent."""
    contents = [content for length, content in stretches for _ in range(length)]
    return [bucket(number, content) for number, content in enumerate(contents)]


streams = st.lists(st.tuples(st.integers(1, 30), cells()), min_size=2, max_size=6).map(stretched)


def histories(alerts: list[Alert]) -> list[list[Alert]]:
    """The alerts of each episode, in order."""
    by_id: dict[str, list[Alert]] = {}
    for alert in alerts:
        by_id.setdefault(alert.alert_id, []).append(alert)
    return list(by_id.values())


@SLOW
@given(streams)
def test_never_firing_before_pending_and_resolved_only_after_firing(stream: list[ClosedBucket]) -> None:
    """Times of an episode are in order, and no state comes without the one that it needs."""
    for episode in histories(folded(stream, CONFIG)[1]):
        for alert in episode:
            assert alert.pending_at is not None
            assert alert.since <= alert.updated_at
            if alert.fired_at is not None:
                assert alert.pending_at <= alert.fired_at
            if alert.state is AlertState.RESOLVED:
                assert alert.fired_at is not None
                assert alert.resolved_at is not None
                assert alert.resolved_at - alert.fired_at >= timedelta(hours=1)
        assert not [alert for alert in episode[:-1] if alert.state in {AlertState.RESOLVED, AlertState.INACTIVE}]


@SLOW
@given(streams, st.integers(0, 60))
def test_prefix_of_the_stream_gives_the_prefix_of_the_alerts(stream: list[ClosedBucket], length: int) -> None:
    """What happens later changes nothing of what was told before."""
    early = folded(stream[:length], CONFIG)[1]
    assert early == folded(stream, CONFIG)[1][: len(early)]


@SLOW
@given(streams, st.randoms(use_true_random=False))
def test_order_of_rows_in_a_bucket_does_not_matter(stream: list[ClosedBucket], dice: Random) -> None:
    """State and alerts are equal bit for bit, also when a cell comes in several rows."""
    split = [ClosedBucket(one.start, [part for row in one.tallies for part in halves(row)]) for one in stream]
    shuffled = []
    for one in split:
        tallies = list(one.tallies)
        dice.shuffle(tallies)
        shuffled.append(ClosedBucket(one.start, tallies))
    assert folded(split, CONFIG) == folded(shuffled, CONFIG)


def halves(row: Tally) -> list[Tally]:
    """The row as two rows of different policies that add up to it, with shares that binary fractions do not hold."""
    part = 0.1 * row.nested_hallucinated
    return [
        row.model_copy(update={"nested_hallucinated": part}),
        row.model_copy(
            update={
                "policy_id": "other",
                "nested_judged": 0,
                "judged": 0,
                "hallucinated": 0.0,
                "traffic": 0,
                "nested_hallucinated": row.nested_hallucinated - part,
            }
        ),
    ]


@SLOW
@given(streams, st.data())
def test_late_changes_refold_to_what_a_clean_fold_gives(stream: list[ClosedBucket], data: st.DataObject) -> None:
    """Whatever changed and in whichever portions, the state is that of the final buckets, and so are the alerts."""
    folder = Folder(jump_rule(CONFIG))
    told = {}
    for one in stream:
        told.update({alert.alert_id: alert for alert in folder.advance([one], one.end)})
    final = list(stream)
    for _ in range(data.draw(st.integers(1, 3))):
        number = data.draw(st.integers(max(0, len(stream) - WITHIN_REACH), len(stream) - 1))
        final[number] = bucket(number, data.draw(cells()))
        told.update({alert.alert_id: alert for alert in folder.advance([final[number]], stream[-1].end)})
    state, alerts = folded(final, CONFIG)
    assert state == folder.state
    open_now = {key for key, one in state.series.items() if one.episode is not None}
    open_told = {
        alert.slice.intent
        for alert in told.values()
        if alert.state in {AlertState.PENDING, AlertState.FIRING, AlertState.STALE}
    }
    assert {key.intent for key in open_now} == open_told
    assert bool(alerts) or not open_told


@given(st.lists(cells(), min_size=1, max_size=6))
def test_running_totals_are_the_totals_of_all_rows(contents: list[list[tuple[str, int, float, bool]]]) -> None:
    """Bucket by bucket or all at once, in any grouping, the sums agree."""
    buckets = [bucket(number, content).tallies for number, content in enumerate(contents)]
    running: TotalsByStratum = {}
    for tallies in buckets:
        running = plus(running, totals_of(tallies))
    assert totals_of([row for tallies in buckets for row in tallies]) == running
