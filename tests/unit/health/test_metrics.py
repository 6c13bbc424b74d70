"""The metrics: names and labels as Prometheus wants them, bounded, and without a word of users."""

import re
from datetime import UTC, datetime
from math import inf

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from sampling.budget import Amount
from schemas.labels import AlertState, ClaimLabel, Containment, Layer
from schemas.layers import LayerReason, LayerRun
from schemas.spend import Cost
from streams.agents.alert_pulse import UNAVAILABLE, AlertPulse
from streams.agents.batches import Lifeline
from streams.agents.budgets import PotState
from streams.agents.vitals import Vitals, WaitReason
from streams.health.catalogue import METRICS, Kind
from streams.health.coverage import TopicCoverage
from streams.health.lag import GroupLag, Place
from streams.health.metrics import Sources, registry_of
from streams.health.process import STORE, Process, Service
from streams.health.watchdog import Limits
from streams.inline.reply import CheckReply
from streams.store import MessageFate, SourceFate
from tests.builders import NOW, alert, verdict
from tests.fakes_inline import checker
from tests.unit.health.hands import Hand, member_of

OPEN = alert("jump-0a1b", state=AlertState.FIRING, evidence=1.5, ratio=2.0)
TRACES = ("stored", "drawn", "not_drawn", "judged", "errors", "unresolved", "pending", "no_answer", "dead_letter")


@pytest.fixture
def sources() -> Sources:
    """A process with everything that can be shown."""
    hand = Hand()
    process = Process(Lifeline(), Limits(), old_batch_seconds=60.0, clock=hand)
    process.services = {STORE: Service(), "internal": Service()}
    process.services[STORE].answered(hand())
    process.services["internal"].failed(hand())
    for role, is_timer in (("verify", False), ("alert", True)):
        vitals = process.lifeline.vitals.agents[role] = Vitals(hand, every_seconds=20.0 if is_timer else 0.0)
        process.members[role] = member_of(role, vitals, hand, is_timer=is_timer)
    vitals = process.lifeline.vitals.agents["verify"]
    vitals.begin()
    hand.at += 0.7
    vitals.done(3)
    process.lags["verify"] = GroupLag(hand(), {("gw.drawn", 0): Place(0, 10, 6).of_ours(6).looked_into(1_000)})
    process.exits["agent_idle"] = 2
    found = Sources(process, lambda: datetime.fromtimestamp(31, UTC), fingerprint=lambda: "evidence:1")
    found.fates.add(
        [MessageFate(topic="traces", partition=0, offset=1, recorded_at=NOW, fate=SourceFate.DEAD_LETTER, refused=1)]
    )
    ran = LayerRun(layer=Layer.L3, ran=True, why=LayerReason.IN_BAND, claims=2, tokens_in=90, took_ms=500, cost_usd=0.5)
    found.refused["watermarks"] = 1
    found.layers.add([verdict(routing=(ran,))])
    found.layers.labels[ClaimLabel.UNSUPPORTED, ClaimLabel.SUPPORTED] += 3
    found.judge = lambda: {"judged": 5, "error:timeout": 1, "cached": 0}
    found.alert = AlertPulse(clock=hand)
    found.alert.not_taken("webhook-1", UNAVAILABLE, NOW)
    found.alert.waiting["webhook-1"] = 1
    found.alert.ticked([OPEN])
    found.assembled = {"root_end": 4}
    found.checks = checker()
    found.checks.counts.add(
        CheckReply(
            trace_id="t",
            decision=Containment.DELIVER,
            text="",
            checked=True,
            dropped=(Layer.L3,),
            policy_id="p",
            within_ms=800,
            took_ms=12.0,
        )
    )
    found.spending = lambda: {Layer.L3: Cost(refused=2)}
    pot = PotState(Amount(6_000, inf), Amount(1_500, 0.5), Amount(5_000, 2.0), 0.5)
    found.budgets = lambda: {"all": pot}
    found.losses.messages["traces"] = 5
    topic = TopicCoverage(
        topic="traces", partitions=1, messages={"missing": 1}, found={}, traces=dict.fromkeys(TRACES, 0)
    )
    found.covered = found.covered.after([topic], hand())
    process.look_again()
    return found


def samples(sources: Sources) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """What a scrape gets, by name and labels."""
    text = generate_latest(registry_of(sources)).decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_values_are_those_of_the_process(sources: Sources) -> None:
    """One of each kind."""
    found = samples(sources)
    expected = {
        ("groundwatch_lag_messages", (("group", "groundwatch.verify"), ("topic", "gw.drawn"))): 4.0,
        ("groundwatch_oldest_unprocessed_seconds", (("group", "groundwatch.verify"), ("topic", "gw.drawn"))): 30.0,
        ("groundwatch_agent_messages_total", (("agent", "verify"),)): 3.0,
        ("groundwatch_batch_seconds_bucket", (("agent", "verify"), ("le", "0.5"))): 0.0,
        ("groundwatch_batch_seconds_bucket", (("agent", "verify"), ("le", "1.0"))): 1.0,
        ("groundwatch_batch_seconds_count", (("agent", "verify"),)): 1.0,
        ("groundwatch_service_up", (("service", "store"),)): 1.0,
        ("groundwatch_service_up", (("service", "internal"),)): 0.0,
        ("groundwatch_watchdog_exits_total", (("reason", "agent_idle"),)): 2.0,
        ("groundwatch_source_messages_total", (("fate", "dead_letter"), ("topic", "traces"))): 1.0,
        ("groundwatch_dead_letter_ratio", (("topic", "traces"),)): 1.0,
        ("groundwatch_notify_failures_total", (("kind", "unavailable"), ("receiver", "webhook-1"))): 1.0,
        ("groundwatch_alerts", (("state", "firing"),)): 1.0,
        (
            "groundwatch_alert_evidence",
            (("alert_id", "jump-0a1b"), ("rule", OPEN.rule), ("tier", OPEN.slice.tier.value)),
        ): 1.5,
        ("groundwatch_coverage_messages", (("fate", "missing"), ("topic", "traces"))): 1.0,
        ("groundwatch_assembled_traces_total", (("reason", "root_end"),)): 4.0,
        ("groundwatch_lost_messages_total", (("topic", "traces"),)): 5.0,
        ("groundwatch_checks_total", (("decision", "deliver"), ("reason", "judged"))): 1.0,
        ("groundwatch_check_layers_dropped_total", (("layer", "L3"),)): 1.0,
        ("groundwatch_check_seconds_bucket", (("le", "0.01"),)): 0.0,
        ("groundwatch_check_seconds_bucket", (("le", "0.025"),)): 1.0,
        ("groundwatch_check_seconds_sum", ()): 0.012,
        ("groundwatch_check_threads_late", (("threads", "endpoints"),)): 0.0,
        ("groundwatch_layer_answers_total", (("layer", "L3"), ("ran", "true"), ("why", "in_band"))): 1.0,
        ("groundwatch_layer_claims_total", (("layer", "L3"),)): 2.0,
        ("groundwatch_judge_events_total", (("event", "error:timeout"),)): 1.0,
        ("groundwatch_judge_labels_total", (("below", "unsupported"), ("judge", "supported"))): 3.0,
        ("groundwatch_layer_tokens_total", (("direction", "in"), ("layer", "L3"))): 90.0,
        ("groundwatch_layer_cost_dollars_total", (("layer", "L3"),)): 0.5,
        ("groundwatch_layer_seconds_total", (("layer", "L3"),)): 0.5,
        ("groundwatch_budget_refused_calls_total", (("layer", "L3"),)): 2.0,
        ("groundwatch_budget_limit", (("pot", "all"), ("unit", "tokens"))): 6_000.0,
        ("groundwatch_budget_limit", (("pot", "all"), ("unit", "usd"))): None,
        ("groundwatch_budget_spent", (("pot", "all"), ("unit", "tokens"))): 1_500.0,
        ("groundwatch_budget_expected", (("pot", "all"), ("unit", "tokens"))): 5_000.0,
        ("groundwatch_budget_probability_share", (("pot", "all"),)): 0.5,
        ("groundwatch_alert_leader", ()): 1.0,
        ("groundwatch_ready", ()): 0.0,
    }
    assert expected == {key: found.get(key) for key in expected}
    build = [labels for name, labels in found if name == "groundwatch_build"]
    assert "evidence:1" in dict(build[0]).values()


def test_names_and_units_follow_the_conventions() -> None:
    """Our prefix, base units at the end, no _total on what is no counter, and a text for each."""
    assert len(METRICS) == len({metric.name for metric in METRICS}) >= 40
    for metric in METRICS:
        assert re.fullmatch(r"groundwatch_[a-z_]+[a-z]", metric.name)
        assert not metric.name.endswith(("_total", "_count", "_sum", "_bucket", "_info"))
        assert len(metric.text) > 10
        assert metric.kind is not Kind.HISTOGRAM or metric.name.endswith("_seconds")


def test_every_family_is_one_of_the_catalogue_and_has_its_labels(sources: Sources) -> None:
    """Nothing is shown that the catalogue does not name."""
    known = {metric.name: set(metric.labels) for metric in METRICS}
    seen = set()
    for name, labels in samples(sources):
        if name.startswith("groundwatch_"):
            family = re.sub(r"_(total|bucket|count|sum)$", "", name)
            family = name if name in known else family
            assert known[family] == {label for label, _ in labels} - {"le"}
            seen.add(family)
    needs_flow = {"groundwatch_open_traces", "groundwatch_oldest_open_trace_seconds", "groundwatch_topics_made_anew"}
    assert known.keys() - seen == needs_flow


def test_labels_hold_no_word_of_users(sources: Sources) -> None:
    """Intents come from traces: an alert is named by its id, and a person looks the slice up."""
    intent = OPEN.slice.intent
    for _, labels in samples(sources):
        assert intent not in {value for _, value in labels}


def test_reasons_are_there_with_zero_before_they_happen(sources: Sources) -> None:
    """Else the first failure would be no increase."""
    found = samples(sources)
    for reason in WaitReason:
        assert 0.0 == found["groundwatch_agent_waits_total", (("agent", "verify"), ("waits_for", reason.value))]
    for state in AlertState:
        assert ("groundwatch_alerts", (("state", state.value),)) in found


def test_process_without_a_role_shows_what_it_has() -> None:
    """A web server has no lag and no batches."""
    process = Process(Lifeline(), Limits(), old_batch_seconds=60.0)
    names = {name for name, _ in samples(Sources(process, lambda: NOW))}
    assert {"groundwatch_ready", "process_resident_memory_bytes"} <= names
    assert "groundwatch_lag_messages" not in names
