"""The append-only policy log as a value: what was published, and which policy holds at an event time.

The order in which records arrive does not matter, so a process may read the store's copy and the topic in any order.
What makes early draws safe is one rule of time: an entry takes effect two buckets or more after it is published, and a
heartbeat promises nothing beyond two buckets after it was sent.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import MAXYEAR, UTC, datetime
from types import MappingProxyType

from sampling.effective import EffectivePolicy, compose
from sampling.policy_checks import check_patterns
from schemas.errors import ConfigError, PolicyIncomplete
from schemas.policy import Overlay, PolicyDocument, PolicyRecord
from schemas.tally import BUCKET, bucket_start

__all__ = ["HEARTBEAT_ID", "LEAD", "EffectivePolicy", "PolicyLog", "effective_bucket", "heartbeat"]

LEAD = 2 * BUCKET
"""How far ahead of its publication an entry takes effect, at least."""
HEARTBEAT_ID = "heartbeat"
_ALWAYS = datetime.min.replace(tzinfo=UTC)


def effective_bucket(published_at: datetime) -> datetime:
    """Earliest bucket start at which something published now may take effect (aware, UTC)."""
    earliest = published_at + LEAD
    start = bucket_start(earliest)
    return start if start == earliest else start + BUCKET


def heartbeat(now: datetime) -> PolicyRecord:
    """Says that every entry effective before the start of the bucket after next has been published."""
    return PolicyRecord(policy_id=HEARTBEAT_ID, published_at=now, complete_until=bucket_start(now) + LEAD)


@dataclass(frozen=True, slots=True)
class PolicyLog:
    """The log so far; ``add`` returns a new one. ``complete_until`` is None until a heartbeat was seen."""

    records: Mapping[str, PolicyRecord] = field(default_factory=lambda: MappingProxyType({}))
    complete_until: datetime | None = None
    _changes: tuple[datetime, ...] = field(default=(), repr=False, compare=False)
    """Every moment at which the policy in force changes; between two of them it is the same."""
    _composed: dict[int, EffectivePolicy] = field(default_factory=dict, repr=False, compare=False)
    """Only remembers what ``at`` computed for a stretch between changes; new entries start a new one."""

    def add(self, record: PolicyRecord) -> "PolicyLog":
        """The log with ``record``; the same log when it is known already, by its id.

        Raises ConfigError when the record breaks a rule of time, takes an id that is in use, is a second policy
        without a beginning, or holds a pattern that cannot run. What else a policy file is refused for is left to its
        author: an entry that any process accepts must be accepted by all, whatever their version.
        """
        if record.published_at.year == MAXYEAR:
            message = (
                f"published_at = {record.published_at} of {record.policy_id} is no date of this world; set the clock"
            )
            raise ConfigError(message)
        if record.complete_until is not None:
            return self._with_heartbeat(record, record.complete_until)
        known = self.records.get(record.policy_id)
        if known is not None:
            return self._if_same(known, record)
        _check_id(record)
        _check_times(record)
        if record.document is not None:
            check_patterns(record.document)
        if record.effective_from is None:
            self._check_is_first(record)
        begins = _begin(record)
        ends = (record.overlay.until,) if record.overlay is not None else ()
        return PolicyLog(
            records=MappingProxyType({**self.records, record.policy_id: record}),
            complete_until=self.complete_until,
            _changes=tuple(sorted((*self._changes, begins, *ends))),
        )

    def at(self, ts: datetime) -> EffectivePolicy:
        """The policy in force at an event time.

        Raises PolicyIncomplete (wait and ask again) when no heartbeat covers ``ts`` or no policy holds there yet.
        """
        if self.complete_until is None or ts >= self.complete_until:
            message = (
                f"policy log is complete until {self.complete_until}, not yet at {ts}; wait for the next heartbeat"
            )
            raise PolicyIncomplete(message)
        return self.so_far(ts)

    def so_far(self, ts: datetime) -> EffectivePolicy:
        """The policy in force at an event time by what has been read, for decisions that cannot wait for the rest.

        Never for a draw: an entry that is still to come may change it. Raises PolicyIncomplete when none holds there.
        """
        stretch = bisect_right(self._changes, ts)
        if stretch not in self._composed:
            self._composed[stretch] = self._compose(ts)
        return self._composed[stretch]

    def check_publishable(self, record: PolicyRecord) -> None:
        """Raise ConfigError unless ``record`` may be published on top of this log (read to its end by the caller).

        Beyond the rules of ``add``, nothing may take effect where a heartbeat already let draws happen: this catches a
        publisher whose clock is behind.
        """
        self.add(record)
        until = self.complete_until
        if until is not None and record.complete_until is None and _begin(record) < until:
            message = (
                f"effective_from of {record.policy_id} = {record.effective_from}: traces before {until} may be drawn "
                f"already; use {until} or later, and check the clock of this machine"
            )
            raise ConfigError(message)

    def earliest_start(self, now: datetime) -> datetime:
        """Earliest bucket start at which an entry published now takes effect on all traces alike.

        Later than ``effective_bucket`` says when heartbeats show that the clock behind ``now`` is slow: the machine
        that sends them may promise one bucket more before the entry gets there.
        """
        until = self.complete_until
        return effective_bucket(now) if until is None or now >= until - LEAD else until + BUCKET

    def _with_heartbeat(self, record: PolicyRecord, until: datetime) -> "PolicyLog":
        if until > record.published_at + LEAD:
            message = (
                f"complete_until = {until} of a heartbeat sent at {record.published_at} promises too much; "
                f"give at most two buckets ahead, {record.published_at + LEAD}"
            )
            raise ConfigError(message)
        if self.complete_until is not None and until <= self.complete_until:
            return self
        return replace(self, complete_until=until)

    def _if_same(self, known: PolicyRecord, record: PolicyRecord) -> "PolicyLog":
        # Two processes that start at once publish the same first policy, a moment apart.
        published = known.published_at if record.effective_from is None else record.published_at
        if known == record.model_copy(update={"published_at": published, "author": known.author}):
            return self
        message = f"policy_id = {record.policy_id} is taken by another entry; publish under a new id"
        raise ConfigError(message)

    def _check_is_first(self, record: PolicyRecord) -> None:
        first = next((known for known in self.records.values() if known.effective_from is None), None)
        if first is not None:
            message = (
                f"effective_from of {record.policy_id} is missing, but {first.policy_id} already holds from the "
                f"beginning; give {effective_bucket(record.published_at)} or a later bucket start"
            )
            raise ConfigError(message)

    def _compose(self, ts: datetime) -> EffectivePolicy:
        in_force = [record for record in self.records.values() if _begin(record) <= ts]
        bases = [(record, record.document) for record in in_force if record.document is not None]
        if not bases:
            message = f"no policy holds at {ts}: the first one has not been read; publish it or wait"
            raise PolicyIncomplete(message)
        base, document = max(bases, key=_base_order)
        overlays = [(record.policy_id, record.overlay) for record in in_force if record.overlay is not None]
        return compose(base.policy_id, document, [(name, overlay) for name, overlay in overlays if ts < overlay.until])


def _begin(record: PolicyRecord) -> datetime:
    return _ALWAYS if record.effective_from is None else record.effective_from


def _base_order(entry: tuple[PolicyRecord, PolicyDocument]) -> tuple[datetime, datetime, str]:
    """Of two policies effective at the same bucket, the one published later holds; the id settles a tie."""
    record, _ = entry
    return _begin(record), record.published_at, record.policy_id


def _check_id(record: PolicyRecord) -> None:
    if "+" in record.policy_id:
        message = f"policy_id = {record.policy_id}: '+' joins a policy and its overlays; leave it out"
        raise ConfigError(message)


def _check_times(record: PolicyRecord) -> None:
    """Raise ConfigError naming the field, its value and one that would do."""
    starts, earliest = record.effective_from, effective_bucket(record.published_at)
    if starts is None:
        if record.overlay is not None:
            message = (
                f"effective_from of overlay {record.policy_id} is missing; give {earliest} or a later bucket start"
            )
            raise ConfigError(message)
        return
    if starts != bucket_start(starts) or starts < earliest:
        message = (
            f"effective_from = {starts} of {record.policy_id}, published at {record.published_at}: it must be a bucket "
            f"start (full 5 minutes) at least two buckets later; use {earliest} or later"
        )
        raise ConfigError(message)
    _check_end(record.policy_id, starts, record.overlay)


def _check_end(policy_id: str, starts: datetime, overlay: Overlay | None) -> None:
    if overlay is not None and overlay.until <= starts:
        message = f"until = {overlay.until} of overlay {policy_id} is not after its start {starts}; give a later end"
        raise ConfigError(message)
