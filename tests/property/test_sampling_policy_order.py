"""Properties of the policy log: order of arrival is nothing, and a heartbeat's promise cannot be broken."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sampling.effective import EffectivePolicy
from sampling.policy_log import PolicyLog, effective_bucket, heartbeat
from schemas.errors import ConfigError, PolicyIncomplete
from schemas.policy import Overlay, OverlayReason, PolicyRecord
from schemas.tally import BUCKET, bucket_start
from tests.builders import NOW, policy, policy_record

FIRST = policy_record("first", published_at=NOW - timedelta(days=1))
moments = st.integers(0, 7200).map(lambda seconds: NOW + timedelta(seconds=seconds))


@st.composite
def entries(draw: st.DrawFn) -> list[PolicyRecord]:
    """A valid log: the first policy, later ones, overlays and heartbeats."""
    found = [FIRST]
    for number in range(draw(st.integers(0, 5))):
        published = draw(moments)
        starts = effective_bucket(published) + draw(st.integers(0, 5)) * BUCKET
        if draw(st.booleans()):
            part: dict[str, Any] = {"document": policy(f"n{number}")}
        else:
            until = starts + timedelta(seconds=draw(st.integers(1, 7200)))
            part = {"overlay": Overlay(reason=OverlayReason.SURGE, at_least=0.5, until=until)}
        found.append(PolicyRecord(policy_id=f"r{number}", published_at=published, effective_from=starts, **part))
    return [*found, *(heartbeat(moment) for moment in draw(st.lists(moments, max_size=3)))]


def log_of(records: list[PolicyRecord]) -> PolicyLog:
    """The log after these records."""
    log = PolicyLog()
    for record in records:
        log = log.add(record)
    return log


def answer(log: PolicyLog, ts: datetime) -> EffectivePolicy | str:
    """The policy in force, or that it is not known."""
    try:
        return log.at(ts)
    except PolicyIncomplete:
        return "incomplete"


@given(entries(), st.data())
def test_order_and_repetition_of_arrival_do_not_matter(records: list[PolicyRecord], data: st.DataObject) -> None:
    """The store's copy and the topic may be read in any order, each more than once."""
    shuffled = data.draw(st.permutations([*records, *records]))
    one, two = log_of(records), log_of(shuffled)
    for ts in data.draw(st.lists(moments, min_size=1, max_size=10)):
        assert answer(one, ts) == answer(two, ts)


@given(entries(), moments)
def test_log_says_what_a_plain_reading_says(records: list[PolicyRecord], ts: datetime) -> None:
    """The remembered stretches agree with a search through all entries."""
    log = log_of([*records, heartbeat(NOW + timedelta(days=1))])
    held = [
        entry for entry in records if entry.document and (entry.effective_from is None or entry.effective_from <= ts)
    ]
    base = max(
        held, key=lambda entry: (entry.effective_from or NOW - timedelta(days=99), entry.published_at, entry.policy_id)
    )
    on_top = sorted(
        entry.policy_id
        for entry in records
        if entry.overlay and entry.effective_from and entry.effective_from <= ts < entry.overlay.until
    )
    assert "+".join([base.policy_id, *on_top]) == log.at(ts).policy_id


@given(moments, st.integers(0, 3600), st.integers(-3, 4), st.integers(0, 299))
def test_nothing_published_after_a_heartbeat_takes_effect_before_its_end(
    sent: datetime, later_seconds: int, buckets: int, off_seconds: int
) -> None:
    """Whatever start somebody picks, ``add`` refuses it when the heartbeat had already let traces be drawn there."""
    beat = heartbeat(sent)
    published = beat.published_at + timedelta(seconds=later_seconds)
    starts = bucket_start(published) + buckets * BUCKET + timedelta(seconds=off_seconds)
    assume(beat.complete_until is not None and starts < beat.complete_until)
    with pytest.raises(ConfigError):
        PolicyLog().add(policy_record("late", published_at=published, effective_from=starts))


@given(moments)
def test_earliest_start_is_accepted_and_the_one_before_is_not(published: datetime) -> None:
    """``effective_bucket`` is exact."""
    starts = effective_bucket(published)
    PolicyLog().add(policy_record("x", published_at=published, effective_from=starts))
    with pytest.raises(ConfigError):
        PolicyLog().add(policy_record("x", published_at=published, effective_from=starts - BUCKET))
