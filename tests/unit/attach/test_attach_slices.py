"""The stretch of time that a sample is taken from, over partitions with traffic of their own."""

from bisect import bisect_left
from datetime import datetime, timedelta

from aiokafka import TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from streams.attach.slices import Offsets, OffsetsAt, newest, oldest
from tests.attach_samples import AT

LOGS = st.lists(st.lists(st.integers(0, 5_000), max_size=200), min_size=1, max_size=12)
"""By partition, how many seconds before the present its messages were recorded."""


class Topic:
    """Partitions with the record times of their messages, in order."""

    def __init__(self, ages: list[list[int]]) -> None:
        own = [[AT - timedelta(seconds=age) for age in sorted(seconds, reverse=True)] for seconds in ages]
        self.times = {TopicPartition("t", number): times for number, times in enumerate(own)}
        self.begins = dict.fromkeys(self.times, 0)
        self.ends = {tp: len(times) for tp, times in self.times.items()}
        self.asked = 0

    @property
    def offsets_at(self) -> OffsetsAt:
        """As a broker answers."""

        async def find(moment: datetime) -> Offsets:
            self.asked += 1
            return {tp: bisect_left(times, moment) for tp, times in self.times.items()}

        return find


@given(LOGS, st.integers(1, 400))
async def test_the_newest_of_all_partitions_are_taken(ages: list[list[int]], count: int) -> None:
    """Never more than asked for, all where there are no more, each partition up to its end; few questions."""
    topic = Topic(ages)
    taken = await newest(count, topic.begins, topic.ends, topic.offsets_at, AT + timedelta(seconds=1))
    total = sum(topic.ends.values())
    assert sum(taken.quotas.values()) <= min(count, total)
    assert all(taken.starts[tp] + quota == topic.ends[tp] for tp, quota in taken.quotas.items())
    if total <= count:
        assert (topic.ends, None) == (taken.quotas, taken.since)
    assert total == 0 or sum(taken.quotas.values()) > 0
    assert topic.asked < 30


@given(LOGS, st.integers(1, 400))
async def test_the_oldest_are_taken_from_the_beginning_on(ages: list[list[int]], count: int) -> None:
    """The same from the other end."""
    topic = Topic(ages)
    first = min((times[0] for times in topic.times.values() if times), default=AT)
    taken = await oldest(count, topic.begins, topic.ends, topic.offsets_at, first)
    assert sum(taken.quotas.values()) <= min(count, sum(topic.ends.values()))
    assert topic.begins == taken.starts
    assert first == taken.since


async def test_it_is_one_stretch_of_time_and_each_partition_shows_a_message() -> None:
    """A busy partition gives many, an idle one its newest; nothing newer than what was taken is left out."""
    busy, idle = list(range(1_000)), [4_000, 4_500]
    topic = Topic([busy, idle, busy])
    taken = await newest(300, topic.begins, topic.ends, topic.offsets_at, AT + timedelta(seconds=1))
    quotas = [taken.quotas[tp] for tp in topic.times]
    assert 1 == quotas[1]
    assert quotas[0] == quotas[2]
    assert 0.9 * 300 <= sum(quotas) <= 300
    assert taken.since is not None
    assert timedelta(seconds=quotas[0]) >= AT - taken.since >= timedelta(seconds=quotas[0] - 2)
