"""Deploys of a slice, seen as new values of a version tag in all its traffic or marked by people.

A new value starts a *candidate* at its first bucket and becomes an event once it is in two buckets with at least 5 %
of the slice's traffic and three traces. Whether it is confirmed depends on traffic alone, never on verdicts, so the
budget that an event brings may be given back to the bucket where the candidate began (see ``jump``).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.buckets import DeployMark
from alerts.config import MONTH
from schemas.tally import Tally
from schemas.trace import Versions

FIELDS = tuple(Versions.model_fields)
SHARE = 0.05
FEWEST_TRACES = 3
FEWEST_BUCKETS = 2
SETTLED_TRACES = 20
"""Values seen before a slice has shown this many traces were there already; they are no deploys."""
FORGOTTEN = timedelta(days=7)
"""A value that was away for longer is new again."""
PATIENCE = timedelta(days=3)
"""A candidate that is still below its share by then was none."""
HOPELESS_TRACES = 60
"""With so many traces and less than 5 %, the candidate begins anew at its next sight: a canary being widened."""
KEPT_EVENTS = 8
_FADE = 0.98
"""Per bucket with traffic; makes the 'value before' the one in use lately."""
UNNAMED = frozenset({"", "other"})
"""Values that name no version: nothing said, and the tallies' catch-all."""

Tag = tuple[str, str]
"""Field and value of a version."""


@dataclass(frozen=True, slots=True)
class DeployEvent:
    """One release in one slice: tags that appeared together; ``lump`` is the budget it brings, 0 until confirmed."""

    at: datetime
    tags: tuple[Tag, ...]
    before: tuple[str, ...]
    traces: int = 0
    total: int = 0
    buckets: int = 0
    lump: float = 0.0
    is_confirmed: bool = False
    confirmed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SliceTraffic:
    """What a slice's traffic has shown of versions; ``since`` is its first bucket, ``seen_at`` its last."""

    since: datetime
    seen_at: datetime
    traces: int = 0
    seen: Mapping[Tag, datetime] = field(default_factory=dict)
    mix: Mapping[Tag, float] = field(default_factory=dict)
    events: tuple[DeployEvent, ...] = ()
    deploy_times: tuple[datetime, ...] = ()


def observe(
    slice_traffic: SliceTraffic, rows: Iterable[Tally], at: datetime, budget: float, max_changes_per_day: int
) -> SliceTraffic:
    """The slice after one bucket of its traffic rows; ``budget`` is its pages a month for jumps."""
    counts: dict[Tag, int] = {}
    total = 0
    for row in rows:
        total += row.traffic
        for name in FIELDS:
            value = getattr(row.versions, name)
            if row.traffic > 0 and value not in UNNAMED:
                counts[name, value] = counts.get((name, value), 0) + row.traffic
    if total == 0:
        return slice_traffic
    after = slice_traffic
    if slice_traffic.traces >= SETTLED_TRACES:
        fresh = _fresh(slice_traffic, counts, at, max_changes_per_day)
        if fresh or any(not event.is_confirmed for event in slice_traffic.events):
            after = _with_candidates(slice_traffic, fresh, counts, total, at)
            after = _with_confirmed(after, at, budget)
    return replace(
        after,
        seen_at=at,
        traces=after.traces + total,
        seen=_seen(after, counts, at),
        mix=_mix(after.mix, counts),
    )


def mark(slice_traffic: SliceTraffic, marks: Sequence[DeployMark], at: datetime, budget: float) -> SliceTraffic:
    """The slice after deploys that were told to us; one that the tags show as well is counted once."""
    known = {tag for event in slice_traffic.events for tag in event.tags if event.at >= at - PATIENCE}
    tags = tuple(sorted({(one.field, one.value) for one in marks} - known))
    if not tags:
        return slice_traffic
    event = DeployEvent(
        at=at, tags=tags, before=_before(slice_traffic.mix, tags), buckets=FEWEST_BUCKETS, traces=FEWEST_TRACES
    )
    added = replace(slice_traffic, events=(*slice_traffic.events, event))
    return _with_confirmed(added, at, budget)


def _fresh(slice_traffic: SliceTraffic, counts: Mapping[Tag, int], at: datetime, most: int) -> tuple[Tag, ...]:
    """Tags without a recent sight that no event has claimed; a field that changes all the time is passed over."""
    if all(tag in slice_traffic.seen and at - slice_traffic.seen[tag] <= FORGOTTEN for tag in counts):
        return ()
    claimed = {tag for event in slice_traffic.events if at - event.at <= FORGOTTEN for tag in event.tags}
    day = [event for event in slice_traffic.events if at - event.at <= timedelta(days=1)]
    restless = {name for name in FIELDS if sum(any(tag[0] == name for tag in event.tags) for event in day) >= most}
    return tuple(
        sorted(
            tag
            for tag in counts
            if tag not in claimed
            and tag[0] not in restless
            and (tag not in slice_traffic.seen or at - slice_traffic.seen[tag] > FORGOTTEN)
        )
    )


def _with_candidates(
    slice_traffic: SliceTraffic, fresh: tuple[Tag, ...], counts: Mapping[Tag, int], total: int, at: datetime
) -> SliceTraffic:
    events = []
    for event in slice_traffic.events:
        if event.is_confirmed:
            events.append(event)
        elif at - event.at <= PATIENCE:
            events.append(_counted(event, max(counts.get(tag, 0) for tag in event.tags), total, at))
    if fresh:
        born = DeployEvent(at=at, tags=fresh, before=_before(slice_traffic.mix, fresh))
        events.append(_counted(born, max(counts[tag] for tag in fresh), total, at))
    return replace(slice_traffic, events=tuple(events))


def _counted(event: DeployEvent, traces: int, total: int, at: datetime) -> DeployEvent:
    is_hopeless = event.total >= HOPELESS_TRACES and event.traces < SHARE * event.total
    if is_hopeless and traces > 0:
        return replace(event, at=at, traces=traces, total=total, buckets=1)
    return replace(
        event, traces=event.traces + traces, total=event.total + total, buckets=event.buckets + (1 if traces else 0)
    )


def _with_confirmed(slice_traffic: SliceTraffic, at: datetime, budget: float) -> SliceTraffic:
    events: list[DeployEvent] = []
    times = tuple(time for time in slice_traffic.deploy_times if at - time < MONTH)
    for event in slice_traffic.events:
        is_ready = (
            not event.is_confirmed
            and event.buckets >= FEWEST_BUCKETS
            and event.traces >= FEWEST_TRACES
            and event.traces >= SHARE * event.total
        )
        if is_ready:
            times = (*times, at)
            lump = 0.5 * budget / deploys_a_month(times, at - slice_traffic.since)
            events.append(replace(event, is_confirmed=True, confirmed_at=at, lump=lump))
        else:
            events.append(event)
    return replace(slice_traffic, events=tuple(events[-KEPT_EVENTS:]), deploy_times=times)


def deploys_a_month(times: Sequence[datetime], observed: timedelta) -> float:
    """Estimated deploys a month, at least 1: those of the last 30 days, scaled up while less has been observed.

    >>> deploys_a_month([datetime(2026, 1, 1)], timedelta(days=60))
    1.0
    >>> deploys_a_month([datetime(2026, 1, 1)] * 2, timedelta(days=15))
    4.0
    """
    days = min(max(observed, timedelta(days=1)), MONTH)
    return max(1.0, len(times) * (MONTH / days))


def _before(mix: Mapping[Tag, float], tags: Sequence[Tag]) -> tuple[str, ...]:
    """For each tag the value of its field that was most in use lately; empty when the field was never set."""
    values = []
    for name, value in tags:
        others = [(weight, other) for (known, other), weight in mix.items() if known == name and other != value]
        values.append(max(others)[1] if others else "")
    return tuple(values)


def _seen(slice_traffic: SliceTraffic, counts: Mapping[Tag, int], at: datetime) -> Mapping[Tag, datetime]:
    waiting = {tag for event in slice_traffic.events if not event.is_confirmed for tag in event.tags}
    seen = {tag: last for tag, last in slice_traffic.seen.items() if at - last <= FORGOTTEN}
    for tag in counts:
        if tag not in waiting:
            seen[tag] = at
    return seen


def _mix(mix: Mapping[Tag, float], counts: Mapping[Tag, int]) -> Mapping[Tag, float]:
    faded = {tag: weight * _FADE for tag, weight in mix.items() if weight > 1e-3}  # noqa: PLR2004 - negligible by then
    for tag, count in counts.items():
        faded[tag] = faded.get(tag, 0.0) + count
    return faded
