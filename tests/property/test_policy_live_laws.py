"""Laws of a policy that changes while traces come: whatever a worker has read, it draws what the whole log says."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sampling.draw import decide, u_of
from sampling.policy_log import effective_bucket, heartbeat
from schemas.codec import encode
from schemas.draw import Draw
from schemas.errors import PolicyIncomplete
from schemas.policy import CriticalRule, IntentRules, Overlay, OverlayReason, PolicyDocument, PolicyRecord, Sampling
from schemas.tally import BUCKET
from streams.agents.policies import KnownPolicies, without_heartbeats
from tests.builders import NOW, policy, policy_record, screening, trace

SALT = b"a salt for tests"
SECONDS = 7200
BROKEN = IntentRules(critical=(CriticalRule(name="broken", pattern="(?=a)"),))
moments = st.integers(0, SECONDS).map(lambda seconds: NOW + timedelta(seconds=seconds))
probabilities = st.sampled_from([0.1, 0.3, 0.5, 0.9, 1.0])


def document(probability: float, **fields: Any) -> PolicyDocument:
    """A policy that draws every trace with one probability."""
    return policy(f"all at {probability}", sampling=Sampling(default_probability=probability), **fields)


FIRST = policy_record("first", published_at=NOW - timedelta(days=1), document=document(0.2))


@dataclass(frozen=True)
class World:
    """A topic in the order of publication, and which of its entries are part of the log."""

    topic: list[PolicyRecord]
    good: list[PolicyRecord]

    def plain_reading(self, ts: datetime) -> tuple[str, float]:
        """Policy id and π at an event time, by a search through all entries."""
        begun = [entry for entry in self.good if entry.effective_from is None or entry.effective_from <= ts]
        base = max(
            (entry for entry in begun if entry.document),
            key=lambda entry: (entry.effective_from or FIRST.published_at, entry.published_at, entry.policy_id),
        )
        on_top = [entry for entry in begun if entry.overlay and ts < entry.overlay.until]
        raised = [entry.overlay.at_least for entry in on_top if entry.overlay and entry.overlay.at_least]
        assert base.document is not None
        found = max([base.document.sampling.default_probability, *raised])
        return "+".join([base.policy_id, *sorted(entry.policy_id for entry in on_top)]), found


def _entry(draw: st.DrawFn, number: int, published: datetime) -> PolicyRecord:
    starts = effective_bucket(published) + draw(st.integers(0, 3)) * BUCKET
    fields: dict[str, Any] = {"document": document(draw(probabilities))}
    if draw(st.booleans()):
        until = starts + timedelta(seconds=draw(st.integers(1, 3600)))
        overlay = Overlay(reason=OverlayReason.SURGE, at_least=draw(probabilities), until=until)
        fields = {"overlay": overlay}
    return PolicyRecord(policy_id=f"r{number}", published_at=published, effective_from=starts, **fields)


def _bad(draw: st.DrawFn, number: int, published: datetime, known: list[PolicyRecord]) -> PolicyRecord:
    """What another tool may put there: too early, without a start, under an id in use, or not to be run."""
    soon, later = effective_bucket(published) - BUCKET, effective_bucket(published)
    return draw(
        st.sampled_from(
            [
                policy_record(f"b{number}", published_at=published, effective_from=soon, document=document(1.0)),
                policy_record(f"b{number}", published_at=published, document=document(0.9)),
                policy_record(
                    known[-1].policy_id, published_at=published, effective_from=later, document=document(0.7)
                ),
                policy_record(
                    f"b{number}",
                    published_at=published,
                    effective_from=later,
                    document=document(1.0, intents={"*": BROKEN}),
                ),
            ]
        )
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Policies, overlays, heartbeats, repetitions and bad entries, by several publishers, as a topic holds them."""
    topic, good = [FIRST], [FIRST]
    for number, published in enumerate(sorted(draw(st.lists(moments, max_size=12, unique=True)))):
        kind = draw(st.sampled_from(["entry", "entry", "heartbeat", "heartbeat", "again", "bad"]))
        if kind == "entry":
            good.append(_entry(draw, number, published))
            topic.append(good[-1])
        elif kind == "heartbeat":
            topic.append(heartbeat(published))
        elif kind == "again":
            topic.append(draw(st.sampled_from(topic)))
        else:
            topic.append(_bad(draw, number, published, good))
    return World(topic, good)


@dataclass
class Worker:
    """One process: it reads the topic in order, draws what the log covers, keeps the rest, and may start again."""

    world: World
    known: KnownPolicies = field(default_factory=KnownPolicies)
    read: int = 0
    waiting: dict[str, datetime] = field(default_factory=dict)
    draws: dict[str, tuple[datetime, list[Draw]]] = field(default_factory=dict)

    def read_on(self, count: int) -> None:
        """Take the next messages in."""
        for record in self.world.topic[self.read : self.read + count]:
            self.known.on_record(record.policy_id.encode(), encode(record))
        self.read = min(self.read + count, len(self.world.topic))

    def restart(self, stored: list[PolicyRecord]) -> None:
        """Begin again with what the store's copy has; drawn traces may be delivered once more."""
        self.known, self.read = KnownPolicies(without_heartbeats(stored)), 0
        self.waiting |= {trace_id: ts for trace_id, (ts, _) in self.draws.items()}

    def draw_waiting(self) -> None:
        """Draw each waiting trace that the log covers."""
        for trace_id, ts in list(self.waiting.items()):
            try:
                found = decide(trace(trace_id, ts=ts), screening(), self.known.at(ts), SALT)
            except PolicyIncomplete:
                continue
            self.draws.setdefault(trace_id, (ts, []))[1].append(found)
            del self.waiting[trace_id]


@given(worlds(), st.data())
def test_every_draw_is_what_the_whole_log_says(world: World, data: st.DataObject) -> None:
    """In any order of reading, drawing, redelivery and restart; bad and repeated entries change nothing."""
    worker = Worker(world)
    for number in range(data.draw(st.integers(1, 15))):
        step = data.draw(st.sampled_from(["read", "trace", "trace", "restart"]))
        if step == "read":
            worker.read_on(data.draw(st.integers(1, 4)))
        elif step == "trace":
            worker.waiting[f"t-{number}"] = data.draw(moments)
        else:
            worker.restart(data.draw(st.lists(st.sampled_from(world.good), unique_by=lambda entry: entry.policy_id)))
        worker.draw_waiting()
    world.topic.append(heartbeat(NOW + timedelta(seconds=2 * SECONDS)))
    worker.read_on(len(world.topic))
    worker.draw_waiting()
    assert {} == worker.waiting
    for trace_id, (ts, found) in worker.draws.items():
        policy_id, probability = world.plain_reading(ts)
        drawn = u_of(trace_id, SALT) < probability
        assert {(policy_id, probability, drawn)} == {
            (draw.policy_id, draw.inclusion_probability, draw.drawn) for draw in found
        }


@given(worlds(), st.data())
def test_bad_and_late_entries_change_nothing(world: World, data: st.DataObject) -> None:
    """After a log was read, the same entries in any order, and more bad ones, leave it as it was."""
    worker = Worker(world)
    worker.read_on(len(world.topic))
    before = worker.known.log
    for record in data.draw(st.permutations(world.topic)):
        worker.known.on_record(None, encode(record))
    assert before == worker.known.log


@given(st.binary(max_size=200) | st.none(), st.binary(max_size=20) | st.none())
def test_no_message_of_another_tool_breaks_the_log(value: bytes | None, key: bytes | None) -> None:
    """It is refused in the log of the process, and the policy in force stays."""
    known = KnownPolicies([FIRST, heartbeat(NOW)])
    before = known.log
    known.on_record(key, value)
    assert before is known.log
