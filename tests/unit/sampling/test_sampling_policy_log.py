"""The policy log: rules of time, and which policy holds when."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sampling.policy_log import PolicyLog, effective_bucket, heartbeat
from schemas.errors import ConfigError, PolicyIncomplete
from schemas.labels import RiskTier
from schemas.policy import Allocation, Overlay, OverlayReason, PolicyRecord, Sampling, StratumRule
from schemas.tally import BUCKET
from tests.builders import NOW, policy, policy_record

LATER = NOW + timedelta(hours=1)


def record(policy_id: str, effective_from: datetime | None, **fields: Any) -> PolicyRecord:
    """An entry published as late as its start allows."""
    published = NOW if effective_from is None else effective_from - 2 * BUCKET
    return policy_record(policy_id, **{"published_at": published, "effective_from": effective_from, **fields})


def surge(at_least: float, **fields: Any) -> Overlay:
    """An overlay that raises π for an hour from ``LATER`` on."""
    return Overlay(reason=OverlayReason.SURGE, at_least=at_least, **{"until": LATER + timedelta(hours=1), **fields})


def budget(times: float, **fields: Any) -> Overlay:
    """An overlay that lowers π for an hour from ``LATER`` on."""
    return Overlay(reason=OverlayReason.BUDGET, times=times, **{"until": LATER + timedelta(hours=1), **fields})


def log_of(*records: PolicyRecord) -> PolicyLog:
    """A log that is complete for a day after ``NOW``."""
    log = PolicyLog()
    for entry in (*records, heartbeat(NOW + timedelta(days=1))):
        log = log.add(entry)
    return log


FIRST = record("p1", None, document=policy("one", sampling=Sampling(default_probability=0.2)))


@pytest.mark.parametrize(
    ("minute", "second", "expected_minute"), [(0, 0, 10), (0, 1, 15), (4, 59, 15), (5, 0, 15), (56, 0, 70)]
)
def test_earliest_start_is_a_bucket_start_two_buckets_ahead(minute: int, second: int, expected_minute: int) -> None:
    """Exactly two buckets when published on a boundary, else the next boundary after that."""
    published = NOW + timedelta(minutes=minute, seconds=second)
    assert NOW + timedelta(minutes=expected_minute) == effective_bucket(published)


def test_nothing_is_known_without_a_heartbeat() -> None:
    """A policy alone does not say that no other one came before."""
    with pytest.raises(PolicyIncomplete, match="wait for the next heartbeat"):
        PolicyLog().add(FIRST).at(NOW)


def test_log_covers_times_before_the_end_of_the_heartbeat_only() -> None:
    """``complete_until`` itself is not covered: an entry may take effect exactly then."""
    log = PolicyLog().add(FIRST).add(heartbeat(NOW))
    assert "p1" == log.at(NOW + 2 * BUCKET - timedelta(microseconds=1)).policy_id
    with pytest.raises(PolicyIncomplete):
        log.at(NOW + 2 * BUCKET)


def test_heartbeats_only_advance() -> None:
    """An old heartbeat that is read again changes nothing."""
    log = PolicyLog().add(heartbeat(LATER))
    assert log is log.add(heartbeat(NOW))


def test_heartbeat_that_promises_too_much_is_refused() -> None:
    """Two buckets ahead is what the rule for entries keeps free."""
    greedy = PolicyRecord(policy_id="heartbeat", published_at=NOW, complete_until=NOW + 3 * BUCKET)
    with pytest.raises(ConfigError, match=r"complete_until = 2026-03-10 12:15.*at most two buckets"):
        PolicyLog().add(greedy)


def test_time_without_a_policy_is_incomplete() -> None:
    """Before the first policy was read, a heartbeat is not enough."""
    with pytest.raises(PolicyIncomplete, match="no policy holds"):
        PolicyLog().add(heartbeat(NOW)).at(NOW)


def test_first_policy_holds_from_the_beginning() -> None:
    """Recorded traces of any age have a policy."""
    assert "p1" == log_of(FIRST).at(datetime(1970, 1, 1, tzinfo=UTC)).policy_id


def test_later_policy_holds_from_its_bucket_on() -> None:
    """The start is inclusive."""
    log = log_of(FIRST, record("p2", LATER))
    assert ["p1", "p2"] == [log.at(ts).policy_id for ts in (LATER - timedelta(microseconds=1), LATER)]


def test_of_two_policies_for_one_bucket_the_later_published_holds() -> None:
    """A correction before the start replaces the mistake."""
    mistake = record("p2", LATER, published_at=NOW)
    correction = record("p3", LATER, published_at=NOW + timedelta(minutes=1))
    assert "p3" == log_of(FIRST, correction, mistake).at(LATER).policy_id


@pytest.mark.parametrize(
    ("effective_from", "published_at"),
    [(NOW + timedelta(minutes=11), NOW), (NOW + BUCKET, NOW), (NOW + 2 * BUCKET, NOW + timedelta(seconds=1))],
    ids=["between buckets", "one bucket ahead", "a second too late"],
)
def test_start_that_breaks_the_rule_is_refused_with_a_better_one(
    effective_from: datetime, published_at: datetime
) -> None:
    """The message names field, value and a start that would do."""
    bad = record("p2", effective_from, published_at=published_at)
    with pytest.raises(ConfigError, match=r"effective_from = .* of p2.*; use 2026-03-10 12:1[05]:00"):
        PolicyLog().add(bad)


def test_second_policy_without_a_beginning_is_refused() -> None:
    """Only one policy can have held for ever."""
    with pytest.raises(ConfigError, match="effective_from of p9 is missing, but p1 already holds"):
        PolicyLog().add(FIRST).add(record("p9", None))


def test_overlay_needs_a_start() -> None:
    """An overlay from the beginning of time would rewrite samples already drawn."""
    with pytest.raises(ConfigError, match="effective_from of overlay s1 is missing"):
        PolicyLog().add(record("s1", None, overlay=surge(0.5)))


def test_overlay_must_end_after_it_starts() -> None:
    """The message names the end."""
    with pytest.raises(ConfigError, match=r"until = .* is not after its start"):
        PolicyLog().add(record("s1", LATER, overlay=surge(0.5, until=LATER)))


def test_known_id_is_taken_once() -> None:
    """Reading the topic again, or the store's copy, changes nothing."""
    log = PolicyLog().add(FIRST)
    assert log is log.add(FIRST)


def test_first_policy_of_two_processes_started_at_once_is_one() -> None:
    """Both publish the default; only the moment differs."""
    log = PolicyLog().add(FIRST)
    assert log is log.add(FIRST.model_copy(update={"published_at": LATER, "author": "other"}))


def test_id_in_use_for_another_entry_is_refused() -> None:
    """An id stands for one content, since stored draws refer to it."""
    with pytest.raises(ConfigError, match="policy_id = p1 is taken"):
        PolicyLog().add(FIRST).add(record("p1", LATER))


def test_plus_in_an_id_is_refused() -> None:
    """It joins ids in the id of an effective policy."""
    with pytest.raises(ConfigError, match=r"policy_id = p1\+x"):
        PolicyLog().add(record("p1+x", LATER))


def test_overlay_holds_from_start_to_end_and_is_named() -> None:
    """The end is exclusive; the id says what π was made of."""
    log = log_of(FIRST, record("s3", LATER, overlay=surge(0.5)))
    moments = (LATER - BUCKET, LATER, LATER + timedelta(hours=1))
    assert ["p1", "p1+s3", "p1"] == [log.at(ts).policy_id for ts in moments]
    found = [log.at(ts).probability("any", RiskTier.LOW, "rest") for ts in moments]
    assert [0.2, 0.5, 0.2] == found


def test_overlay_touches_its_intent_and_tier_only() -> None:
    """A surge in one intent costs nothing elsewhere."""
    overlay = surge(0.5, intent="refunds", tier=RiskTier.HIGH)
    found = log_of(FIRST, record("s1", LATER, overlay=overlay)).at(LATER)
    cells = [("refunds", RiskTier.HIGH), ("refunds", RiskTier.LOW), ("loans", RiskTier.HIGH)]
    assert [0.5, 0.2, 0.2] == [found.probability(intent, tier, "rest") for intent, tier in cells]


def test_budget_lowers_after_surge_raised() -> None:
    """max(0.2, 0.3, 0.5) · min(0.5, 0.8): the lowest budget holds, and the order of ids does not matter."""
    entries = [
        record("a", LATER, overlay=budget(0.5)),
        record("b", LATER, overlay=surge(0.5)),
        record("c", LATER, overlay=surge(0.3)),
        record("d", LATER, overlay=budget(0.8)),
    ]
    found = log_of(FIRST, *entries).at(LATER)
    assert "p1+a+b+c+d" == found.policy_id
    assert found.probability("any", RiskTier.LOW, "rest") == pytest.approx(0.25)


def test_smallest_probability_is_over_all_strata_of_the_cell() -> None:
    """``rest`` and strata without a line of their own count too."""
    sampling = Sampling(
        strata=(StratumRule(name="weak", score_below=0.5), StratumRule(name="other", has_flag="x")),
        allocations=(
            Allocation(intent="refunds", stratum="weak", probability=0.1),
            Allocation(tier=RiskTier.HIGH, probability=1.0),
        ),
        default_probability=0.3,
    )
    found = log_of(record("p1", None, document=policy(sampling=sampling))).at(NOW)
    assert 0.1 == found.min_probability("refunds", RiskTier.HIGH)
    assert 1.0 == found.min_probability("loans", RiskTier.HIGH)
    assert 0.3 == found.min_probability("loans", RiskTier.LOW)


def test_policy_is_composed_once_between_changes() -> None:
    """Ingest asks for every trace; a heartbeat must not make it start again."""
    log = log_of(FIRST)
    assert log.at(NOW) is log.add(heartbeat(NOW + timedelta(days=2))).at(LATER)


def test_publisher_with_a_slow_clock_is_refused() -> None:
    """An entry may not take effect where traces may be drawn already, whatever its own date says."""
    log = log_of(FIRST)
    log.add(record("p2", LATER))
    with pytest.raises(ConfigError, match="check the clock"):
        log.check_publishable(record("p2", LATER))


def test_publishing_after_the_heartbeat_is_allowed() -> None:
    """An entry published now never conflicts with a heartbeat sent now."""
    log = PolicyLog().add(FIRST).add(heartbeat(NOW))
    log.check_publishable(record("p2", effective_bucket(NOW), published_at=NOW))


def test_date_at_the_end_of_time_is_refused() -> None:
    """A broken clock is a message, not an overflow."""
    with pytest.raises(ConfigError, match="published_at = 9999"):
        PolicyLog().add(policy_record("p1", published_at=datetime(9999, 12, 31, 23, 59, tzinfo=UTC)))
