"""True lag of a process's groups, asked of the broker, since an engine's own gauges stand still together with it."""

from collections.abc import Collection, Mapping
from time import monotonic

from aiokafka.errors import KafkaError

from schemas.errors import BrokerUnavailable
from streams.agents.vitals import Follower, Partition
from streams.broker.connection import Connection
from streams.broker.lookup import Cluster
from streams.broker.reading import whole_name
from streams.health.broker_numbers import BrokerNumbers
from streams.health.counting import Looked
from streams.health.lag import GroupLag, Place
from streams.health.members import Member

LOOKED_INTO_AT_ONCE = 64
"""Partitions in which the oldest waiting message is looked for; the others have their turn at the next look."""
LOOKED_AT_MOST = 1_000
"""Messages of a stretch that are counted one by one."""


class Probe:
    """One cluster's.

    ``is_embedded``: that broker names wrong ends, so the last fetch's high watermark stands for them, and only
    partitions of this process are seen.
    """

    def __init__(self, connection: Connection, *, is_embedded: bool) -> None:
        self._numbers = BrokerNumbers(connection)
        self._is_embedded = is_embedded
        self._cluster = Cluster({})
        self._turn = 0

    async def ping(self) -> None:
        """Ask for the topics that there are. Raises KafkaError when nobody answers."""
        try:
            self._cluster = await self._numbers.cluster()
        except KafkaError:
            await self.stop()
            raise

    async def look(self, member: Member) -> GroupLag:
        """All partitions of the member's topics as of the last ``ping``. Raises KafkaError when nobody answers."""
        try:
            return await self._look(member)
        except KafkaError:
            await self.stop()
            raise

    async def follow(self, follower: Follower) -> None:
        """Compare how far a follower is with the end of its topic. Raises KafkaError when nobody answers."""
        if self._is_embedded or follower.topic not in self._cluster.partitions:
            return
        end = (await self._numbers.ends([follower.topic])).get((follower.topic, 0))
        if end is not None:
            follower.compare(end, monotonic())

    async def stop(self) -> None:
        """Disconnect; the next look connects again."""
        await self._numbers.stop()

    async def _look(self, member: Member) -> GroupLag:
        ours = member.partitions
        if self._is_embedded:
            places = await engine_places(member, self._numbers)
        else:
            topics = {*member.topics, *(topic for topic, _ in ours)}
            places = await self._numbers.places(member.group, topics, self._cluster)
        member.topic_partitions = len(places)
        places |= {one: places[one].of_ours(member.vitals.handled.get(one)) for one in ours if one in places}
        waiting = [one for one in ours if one in places and places[one].unread]
        wanted = {one: places[one].start or 0 for one in self._some(waiting)}
        found = await self._numbers.first_messages(wanted)
        places |= {one: places[one].looked_into(None if first is None else first[1]) for one, first in found.items()}
        return GroupLag(monotonic(), places)

    def _some(self, waiting: list[Partition]) -> list[Partition]:
        """At most so many as are looked into at a time, others at each call."""
        first = self._turn % max(1, len(waiting))
        self._turn += LOOKED_INTO_AT_ONCE
        return [*waiting[first:], *waiting[:first]][:LOOKED_INTO_AT_ONCE]


async def engine_places(member: Member, numbers: BrokerNumbers) -> dict[Partition, Place]:
    """The partitions that this process reads, with the ends of its last fetch. Raises KafkaError."""
    highs = {one: high for one, high in member.highs().items() if high is not None}
    committed = await numbers.committed(member.group, list(highs))
    return {one: Place(0, high, committed.get(one)) for one, high in highs.items()}


class ClusterTopics:
    """A cluster's numbers for coverage; connects for each question's length. See ``counting.Topics``."""

    def __init__(self, numbers: BrokerNumbers) -> None:
        self._numbers = numbers

    async def matching(self, pattern: str) -> set[str]:
        """Topics that our user may see."""
        try:
            there = (await self._numbers.cluster()).partitions
        except KafkaError as error:
            raise await self._silent(error) from error
        whole = whole_name(pattern)
        return {topic for topic in there if whole.match(topic)}

    async def places(self, group: str, topics: Collection[str]) -> dict[Partition, Place]:
        """Every partition of those topics that are there."""
        try:
            places = await self._numbers.places(group, topics, await self._numbers.cluster())
            ends = {one: place.next_committed for one, place in places.items() if place.lag}
            found = await self._numbers.first_messages(ends)
        except KafkaError as error:
            raise await self._silent(error) from error
        ours = {one: places[one].of_ours(None) for one in ends}
        return places | {
            one: ours[one].looked_into(None if first is None else first[1]) for one, first in found.items()
        }

    async def look_into(self, partition: Partition, first: int, last: int, begin: int) -> Looked:
        """What is at these offsets, read one by one up to 1,000 messages; the rest counts as deleted."""
        place = max(first, begin)
        messages, first_message = 0, None
        try:
            while place <= last and messages < LOOKED_AT_MOST:
                found = await self._numbers.first_messages({partition: place})
                if partition not in found:
                    break
                at = found[partition]
                if at is None or at[0] > last:
                    place = last + 1
                else:
                    messages, first_message, place = (
                        messages + 1,
                        at[0] if first_message is None else first_message,
                        at[0] + 1,
                    )
        except KafkaError as error:
            raise await self._silent(error) from error
        deleted = max(0, min(begin, last + 1) - first) + max(0, last + 1 - max(place, begin))
        return Looked(messages, last + 1 - first - messages - deleted, deleted, first_message)

    async def _silent(self, error: KafkaError) -> BrokerUnavailable:
        await self._numbers.stop()
        return BrokerUnavailable(f"the broker does not tell offsets ({type(error).__name__}); start it, or try again")


class EngineTopics:
    """The embedded broker's numbers, as the members of this process know them. See ``counting.Topics``."""

    def __init__(self, numbers: BrokerNumbers, members: Mapping[str, Member]) -> None:
        self._topics = ClusterTopics(numbers)
        self._numbers = numbers
        self._members = members

    async def matching(self, pattern: str) -> set[str]:
        """None: this broker knows no patterns."""
        del pattern
        return set()

    async def places(self, group: str, topics: Collection[str]) -> dict[Partition, Place]:
        """The partitions of those topics that this process reads for the group."""
        member = next((one for one in self._members.values() if one.group == group), None)
        if member is None:
            return {}
        try:
            places = await engine_places(member, self._numbers)
        except KafkaError as error:
            raise BrokerUnavailable(f"the broker does not tell offsets ({type(error).__name__})") from error
        return {one: place for one, place in places.items() if one[0] in topics}

    async def look_into(self, partition: Partition, first: int, last: int, begin: int) -> Looked:
        """What is at these offsets."""
        return await self._topics.look_into(partition, first, last, begin)
