"""Entries of the policy log: what no process can run is not let in, and when a new one may begin."""

from datetime import timedelta
from typing import Any

import pytest

from sampling.policy_log import PolicyLog, effective_bucket, heartbeat
from schemas.errors import ConfigError
from schemas.policy import CriticalRule, IntentRules
from schemas.sources import RestrictedSource, SourceRules, TrustedSource
from tests.builders import NOW, policy, policy_record

FIRST = policy_record("p1")


@pytest.mark.parametrize(
    "fields",
    [
        {"intents": {"*": IntentRules(critical=(CriticalRule(name="x", pattern="(?!a)"),))}},
        {"sources": SourceRules(restricted=(RestrictedSource(name="x", documents="("),))},
        {"sources": SourceRules(trust=(TrustedSource(name="x", documents="*", trust="trusted"),))},
    ],
)
def test_entry_with_a_pattern_that_cannot_run_is_refused(fields: dict[str, Any]) -> None:
    """It would fail when the first trace meets it, in every process."""
    with pytest.raises(ConfigError, match="not a pattern that RE2 can run"):
        PolicyLog().add(policy_record("p1", document=policy(**fields)))


@pytest.mark.parametrize(("minutes", "expected_minutes"), [(3, 15), (0, 10), (-1, 15), (-7, 15), (-600, 15)])
def test_earliest_start_is_safe_for_a_slow_clock(minutes: int, expected_minutes: int) -> None:
    """A heartbeat sent in the bucket of ``NOW`` covers ten minutes from it, and the next may cover five more."""
    log = PolicyLog().add(FIRST).add(heartbeat(NOW))
    now = NOW + timedelta(minutes=minutes)
    starts = log.earliest_start(now)
    assert NOW + timedelta(minutes=expected_minutes) == starts
    log.check_publishable(policy_record("p2", effective_from=starts, published_at=now))


def test_earliest_start_of_an_empty_log_is_the_plain_rule() -> None:
    """Nothing was promised yet."""
    assert effective_bucket(NOW) == PolicyLog().earliest_start(NOW)
