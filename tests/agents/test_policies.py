"""How an entry gets into the policy log, and what a process may trust of the store's copy."""

from datetime import timedelta
from typing import cast

import pytest

from sampling.policy_log import LEAD, heartbeat
from schemas.codec import encode
from schemas.errors import BrokerUnavailable, ConfigError, PolicyIncomplete
from schemas.policy import CriticalRule, IntentRules
from schemas.tally import BUCKET
from streams.agents.policies import KnownPolicies, PolicyPublisher, without_heartbeats
from streams.broker.publisher import Publisher
from streams.broker.topics import POLICY
from streams.store import Store
from tests.agents.flow import FakePublisher, policies
from tests.builders import NOW, policy, policy_record
from tests.fakes_store import MemoryStore

SECOND = timedelta(seconds=1)


def publishing(known: KnownPolicies, store: MemoryStore, broker: FakePublisher) -> PolicyPublisher:
    """A publisher over fakes."""
    return PolicyPublisher(known, cast("Publisher", broker), cast("Store", store))


async def test_a_policy_reaches_topic_store_and_process() -> None:
    """It holds from the earliest bucket allowed."""
    known, store, broker = policies(), MemoryStore(), FakePublisher()
    record = await publishing(known, store, broker).apply(policy("new"), "ana", NOW + SECOND)
    assert NOW + 3 * BUCKET == record.effective_from
    assert record in store.policy_records()
    assert [record.policy_id.encode()] == [message.key for message in broker.sent[POLICY]]
    assert record == known.log.records[record.policy_id]


async def test_a_policy_that_cannot_run_is_not_published() -> None:
    """Whoever calls, the log refuses it before the topic gets it."""
    known, store, broker = policies(), MemoryStore(), FakePublisher()
    broken = policy(intents={"refunds": IntentRules(critical=(CriticalRule(name="x", pattern="(?=a)"),))})
    with pytest.raises(ConfigError, match=r"intents\.refunds\.critical\[0\]\.pattern = '\(\?=a\)'"):
        await publishing(known, store, broker).apply(broken, "ana", NOW)
    assert {} == broker.sent
    assert ["p1"] == list(known.log.records)


@pytest.mark.parametrize("behind_seconds", [1, 299, 301, 3600, 86_400])
async def test_a_slow_clock_makes_a_change_later_never_too_early(behind_seconds: int) -> None:
    """The machine that sends heartbeats may send one more before the entry gets there."""
    true_now = NOW + timedelta(minutes=3)
    known = policies(now=true_now)
    slow = true_now - timedelta(seconds=behind_seconds)
    record = await publishing(known, MemoryStore(), FakePublisher()).apply(policy("new"), "ana", slow)
    next_heartbeat = heartbeat(true_now + BUCKET).complete_until
    assert record.effective_from is not None
    assert next_heartbeat is not None
    assert record.effective_from >= next_heartbeat


async def test_two_who_apply_at_once_make_two_entries() -> None:
    """Both processes know both in the end, and of one bucket the later published holds."""
    store, broker = MemoryStore(), FakePublisher()
    here, there = policies(), policies()
    await publishing(here, store, broker).apply(policy("here"), "ana", NOW + SECOND)
    await publishing(there, store, broker).apply(policy("there"), "bob", NOW + 2 * SECOND)
    for known in (here, there):
        for message in broker.messages(POLICY):
            known.on_record(message.key, message.value)
        known.add(heartbeat(NOW + 4 * BUCKET))
    assert here.log == there.log
    assert "there" == here.at(NOW + 3 * BUCKET).document.name


async def test_an_entry_that_reached_the_topic_alone_is_copied_with_the_next_heartbeat() -> None:
    """The store was away when it was published; pages and an embedded restart need it there."""
    known, store, broker = policies(), MemoryStore(), FakePublisher()
    late = policy_record("p2", published_at=NOW, effective_from=NOW + LEAD)
    known.add(late)
    await publishing(known, store, broker).beat(NOW + SECOND)
    assert {"p1", "p2"} == {record.policy_id for record in without_heartbeats(store.policy_records())}


async def test_nothing_is_known_before_the_broker_has_it() -> None:
    """A failed publication can be tried again, and meanwhile nobody draws by it."""
    known, store, broker = policies(), MemoryStore(), FakePublisher(failures=1)
    with pytest.raises(BrokerUnavailable):
        await publishing(known, store, broker).apply(policy("new"), "ana", NOW)
    assert [] == store.policy_records()
    assert ["p1"] == list(known.log.records)


async def test_the_copy_in_the_store_alone_lets_nobody_draw() -> None:
    """Its heartbeat may be younger than an entry that only the topic has."""
    known, store = policies(), MemoryStore()
    await publishing(known, store, FakePublisher()).beat(NOW)
    restarted = KnownPolicies(without_heartbeats(store.policy_records()))
    assert ["p1"] == list(restarted.log.records)
    with pytest.raises(PolicyIncomplete):
        restarted.at(NOW)


def test_a_policy_of_a_newer_version_stops_the_log_until_the_process_is_upgraded() -> None:
    """Drawing on by the policy before it would draw another sample than the upgraded workers do."""
    known = policies()
    until = known.log.complete_until
    assert until is not None
    known.on_record(b"p2", b'{"policy_id": "p2", "published_at": "soon"}')
    known.on_record(b"heartbeat", encode(heartbeat(NOW + 3 * BUCKET)))
    assert "p1" == known.at(until - SECOND).policy_id
    with pytest.raises(PolicyIncomplete, match=r"entry 'p2' cannot be read .*; upgrade this process"):
        known.at(until)
    known.on_record(b"p2", None)
    known.on_record(b"heartbeat", encode(heartbeat(NOW + 3 * BUCKET)))
    assert "p1" == known.at(until).policy_id


@pytest.mark.parametrize("junk", [b"", b"{", b"[]", b"{}", b"\xff", b"[" * 100_000])
def test_junk_on_the_policy_topic_stops_nothing(junk: bytes) -> None:
    """It is logged; only what names a policy counts as one."""
    known = policies()
    until = known.log.complete_until
    assert until is not None
    known.on_record(b"k", junk)
    known.on_record(b"heartbeat", encode(heartbeat(NOW + 3 * BUCKET)))
    assert "p1" == known.at(until).policy_id
