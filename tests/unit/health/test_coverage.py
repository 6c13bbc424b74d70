"""The coverage identity: every message and trace has a name, and only what has none is missing."""

import re
from collections.abc import Collection
from datetime import timedelta
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.labels import Outcome
from schemas.trace import Source
from streams.agents.vitals import Partition
from streams.health.counting import CoverageCounter, Looked, silent_since
from streams.health.coverage import TopicCoverage
from streams.health.lag import Place
from streams.store import MessageFate, SourceFate, Store, Stretch
from tests.builders import NOW, draw, drawn_trace, trace, verdict
from tests.fakes_store import MemoryStore

DAY = timedelta(days=1)
LATER = NOW + timedelta(hours=1)


class Cluster:
    """A broker's numbers; offsets of ``markers`` are no messages, and what is before a place's begin is deleted."""

    def __init__(self, **lags: int) -> None:
        self.source: dict[Partition, Place] = {}
        self.markers: set[int] = set()
        self.lags = lags

    async def matching(self, pattern: str) -> set[str]:
        """Topics that are there."""
        return {topic for topic, _ in self.source if re.fullmatch(pattern, topic)}

    async def places(self, group: str, topics: Collection[str]) -> dict[Partition, Place]:
        """Source partitions, or one partition of a topic of ours."""
        if group == "groundwatch.ingest":
            return {one: place for one, place in self.source.items() if one[0] in topics}
        return {(topic, 0): Place(0, self.lags.get(topic.removeprefix("gw."), 0), 0) for topic in topics}

    async def look_into(self, partition: Partition, first: int, last: int, begin: int) -> Looked:
        """As a reader finds it."""
        assert partition in self.source
        there = range(max(first, begin), last + 1)
        messages = [offset for offset in there if offset not in self.markers]
        deleted = last + 1 - first - len(there)
        return Looked(len(messages), len(there) - len(messages), deleted, messages[0] if messages else None)


class Deployment:
    """A store in memory and a cluster, with messages of one partition."""

    def __init__(self, **lags: int) -> None:
        self.store = MemoryStore()
        self.cluster = Cluster(**lags)

    def handle(self, *offsets: int, is_drawn: bool = False, kind: SourceFate = SourceFate.STORED) -> None:
        """What ingest does with messages at these offsets; doing it again changes nothing."""
        for offset in offsets:
            if kind is SourceFate.STORED:
                source = Source(topic="traces", partition=0, offset=offset, recorded_at=NOW)
                made = draw(drawn=is_drawn, u=0.1 if is_drawn else 0.9, inclusion_probability=0.5, min_probability=0.5)
                one = trace(f"t-{offset}", source=source)
                self.store.insert_traces([drawn_trace(draw=made).model_copy(update={"trace": one})])
            stored = int(kind is SourceFate.STORED)
            row = MessageFate(
                topic="traces", partition=0, offset=offset, recorded_at=NOW, fate=kind, stored=stored, oldest_ts=NOW
            )
            self.store.fates.insert([row], LATER)

    def commit(self, committed: int, end: int, begin: int = 0) -> None:
        """Where the group and the broker are."""
        self.cluster.source[("traces", 0)] = Place(begin, end, committed)

    async def coverage(self) -> TopicCoverage:
        """Of the one topic, the last day."""
        counter = CoverageCounter(cast("Store", self.store), self.cluster, self.cluster, ["traces"], 90)
        [found] = await counter.count(NOW - DAY, LATER)
        return found


def messages_add_up(one: TopicCoverage) -> bool:
    """The two sums over messages, and the two over traces."""
    m, t = one.messages, one.traces
    fates = sum(m[fate.value] for fate in SourceFate) + m["no_message"] + m["unknown"] + m["missing"]
    return (
        m["produced"] == m["read"] + m["waiting"]
        and m["read"] == fates
        and t["stored"] == t["drawn"] + t["not_drawn"]
        and t["drawn"] == t["judged"] + t["errors"] + t["unresolved"] + t["pending"]
    )


async def test_everything_has_a_name() -> None:
    """Stored, in the dead letter, a duplicate, or waiting."""
    deployment = Deployment()
    deployment.handle(0, 1, 2)
    deployment.handle(3, kind=SourceFate.DEAD_LETTER)
    deployment.handle(4, kind=SourceFate.DUPLICATE)
    deployment.commit(5, 9)
    found = await deployment.coverage()
    assert ((), True) == (found.broken, messages_add_up(found))
    names = ("produced", "waiting", "stored", "dead_letter", "duplicate")
    assert (9, 4, 3, 1, 1) == tuple(found.messages[name] for name in names)


async def test_message_that_was_committed_and_never_handled_is_missing() -> None:
    """It is in the topic, so it is named with its place."""
    deployment = Deployment()
    deployment.handle(0, 1, 4)
    deployment.commit(5, 5)
    found = await deployment.coverage()
    assert (2, True) == (found.messages["missing"], messages_add_up(found))
    assert "traces-0 at 2" in found.broken[0]


async def test_offsets_without_a_message_are_not_missing() -> None:
    """Markers of transactions, and what compaction removed."""
    deployment = Deployment()
    deployment.handle(0, 1, 4)
    deployment.cluster.markers = {2, 3}
    deployment.commit(5, 5)
    found = await deployment.coverage()
    assert ((), 2, True) == (found.broken, found.messages["no_message"], messages_add_up(found))


async def test_what_was_deleted_since_cannot_be_told() -> None:
    """It is named as unknown, and breaks nothing."""
    deployment = Deployment()
    deployment.handle(0, 4)
    deployment.commit(5, 5, begin=3)
    deployment.cluster.markers = {3}
    found = await deployment.coverage()
    assert ((), 2, 1) == (found.broken, found.messages["unknown"], found.messages["no_message"])
    assert messages_add_up(found)


async def test_handled_and_not_yet_committed_is_in_flight() -> None:
    """It counts as waiting, not twice."""
    deployment = Deployment()
    deployment.handle(0, 1, 2, 3)
    deployment.commit(2, 4)
    found = await deployment.coverage()
    assert ((), 2, 2, True) == (
        found.broken,
        found.messages["waiting"],
        found.messages["stored"],
        messages_add_up(found),
    )


async def test_work_of_an_earlier_life_of_the_topic_does_not_count() -> None:
    """The topic was made anew and is shorter: its offsets are replaced as they are handled again."""
    deployment = Deployment()
    deployment.handle(*range(10))
    deployment.commit(3, 3)
    found = await deployment.coverage()
    assert ((), 3, True) == (found.broken, found.messages["read"], messages_add_up(found))


async def test_stored_traces_that_are_gone_are_told() -> None:
    """The ledger knows them, the store does not: it was restored from a backup."""
    deployment = Deployment()
    deployment.handle(0, 1, 2)
    del deployment.store._traces[1]
    deployment.commit(3, 3)
    found = await deployment.coverage()
    assert "1 traces were stored and are not in the store" in found.broken[0]


@pytest.mark.parametrize(("lag", "is_broken"), [(0, True), (1, False)])
async def test_draw_without_a_verdict_is_broken_only_when_none_is_on_its_way(lag: int, *, is_broken: bool) -> None:
    """Work in flight explains it."""
    deployment = Deployment(drawn=lag)
    deployment.handle(0, 1, is_drawn=True)
    deployment.store.insert_verdicts([verdict("t-0", outcome=Outcome.GROUNDED)])
    deployment.commit(2, 2)
    found = await deployment.coverage()
    assert (1, 1, is_broken) == (found.traces["judged"], found.traces["pending"], bool(found.broken))
    assert {"gw.spans": 0, "gw.drawn": lag, "gw.verdicts": 0} == found.in_flight


async def test_topics_that_are_not_asked_for_are_left_out() -> None:
    """But count in what is said of all topics together."""
    deployment = Deployment()
    deployment.handle(0)
    deployment.commit(1, 1)
    counter = CoverageCounter(cast("Store", deployment.store), deployment.cluster, deployment.cluster, ["traces"], 90)
    assert [] == await counter.count(NOW - DAY, LATER, only={"other"})


async def test_topics_of_a_pattern_are_there_before_anything_of_them_was_read() -> None:
    """All their messages wait; what the pattern does not match, and nobody has read, is left out."""
    deployment = Deployment()
    deployment.handle(0)
    deployment.commit(1, 3)
    deployment.cluster.source |= {
        ("traces.new", 0): Place(0, 5),
        ("traces.new", 1): Place(4, 4),
        ("other", 0): Place(0, 9),
    }
    store = cast("Store", deployment.store)
    counter = CoverageCounter(store, deployment.cluster, deployment.cluster, (), 90, r"traces(\..*)?")
    old, new = await counter.count(NOW - DAY, LATER)
    assert (["traces", "traces.new"], 2) == ([old.topic, new.topic], new.partitions)
    assert (messages_add_up(old), messages_add_up(new)) == (True, True)
    assert (3, 2, 5, 5) == tuple(one.messages[name] for one in (old, new) for name in ("produced", "waiting"))


async def test_what_a_person_skipped_is_not_missing() -> None:
    """Also where nothing before it was ever handled."""
    deployment = Deployment()
    deployment.store.fates.skip(Stretch("traces", 0, 0, 20), LATER)
    deployment.handle(20, 21)
    deployment.commit(22, 22)
    found = await deployment.coverage()
    assert ((), True) == (found.broken, messages_add_up(found))
    assert (22, 20, 2, 0) == tuple(found.messages[name] for name in ("read", "skipped", "stored", "missing"))


@given(
    st.lists(st.sampled_from([*SourceFate, None]), max_size=12),
    st.integers(0, 4),
    st.integers(0, 3),
    st.data(),
)
async def test_sums_hold_whatever_happened(
    kinds: list[SourceFate | None], uncommitted: int, waiting: int, data: st.DataObject
) -> None:
    """In any order and with redeliveries; what has no fate is missing exactly when it was committed."""
    deployment = Deployment()
    offsets = list(range(len(kinds)))
    again = data.draw(st.lists(st.sampled_from(offsets), max_size=6)) if offsets else []
    for offset in [*data.draw(st.permutations(offsets)), *again]:
        kind = kinds[offset]
        if kind is not None:
            deployment.handle(offset, kind=kind)
    committed = max(0, len(kinds) - uncommitted)
    deployment.commit(committed, len(kinds) + waiting)
    found = await deployment.coverage()
    first = next((offset for offset, kind in enumerate(kinds) if kind is not None), committed)
    assert messages_add_up(found)
    assert sum(kind is None for kind in kinds[min(first, committed) : committed]) == found.messages["missing"]


def test_silence_of_the_judges_has_a_beginning() -> None:
    """Draws wait and no verdict comes; one verdict ends it, and so does nothing to judge."""
    assert 10.0 == silent_since(None, 5, {"then": 3, "now": 3}, 10.0)
    assert 10.0 == silent_since(10.0, 9, {"then": 3, "now": 3}, 90.0)
    assert None is silent_since(10.0, 9, {"then": 3, "now": 4}, 90.0)
    assert None is silent_since(10.0, 0, {"then": 3, "now": 3}, 90.0)
