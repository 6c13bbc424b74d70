"""Rules for intent, tier and the like, on spans, mapped documents and native traces."""

from typing import Any

import pytest

from schemas.errors import ConfigError
from schemas.labels import RiskTier
from schemas.patterns import compile_pattern
from streams.sources.fields import FieldRules, Rule, TierRules, fitting
from streams.sources.intents import Intents
from streams.sources.lookup import Lookup, walk
from tests import builders
from tests.source_messages import decode, decoder, fixture, trace_of

NATIVE = {"trace_id": "1", "ts": "2026-05-14T08:00:00Z", "question": "?", "answer": "No."}


def found(rules: list[Rule], field: str = "intent", **values: Any) -> str:
    """What a list of rules gives for a span with these values."""
    said = FieldRules({field: rules}).mapped(values.get)
    return said[0].value if said else ""


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        ({}, "billing", "billing"),
        ({}, 7, "7"),
        ({}, True, "true"),
        ({}, None, ""),
        ({}, {"a": 1}, ""),
        ({}, "  ", ""),
        ({}, "x" * 257, ""),
        ({}, "a\u202eb", ""),
        ({"pattern": "^area-(.*)$"}, "Area-billing", "billing"),
        ({"pattern": "bill"}, "my billing", "bill"),
        ({"pattern": "(a)|(b)"}, "b", "b"),
        ({"pattern": "^area-(.*)$"}, "zone-billing", ""),
        ({"pattern": "^area-(.*)$", "default": "rest"}, "zone-billing", "rest"),
        ({"values": {"BILL": "billing"}}, "bill", "billing"),
        ({"values": {"BILL": "billing"}}, "ship", ""),
        ({"values": {"BILL": "billing"}, "default": "rest"}, "ship", "rest"),
        ({"pattern": "^/api/([^/]+)", "values": {"b": "billing"}}, "/api/b/7", "billing"),
        ({"pattern": "^intent:(.*)"}, ["web", "intent:billing", "intent:other"], "billing"),
        ({"values": {"b": "billing"}}, ["web", "b"], "billing"),
    ],
)
def test_a_rule_gives(rule: dict[str, Any], value: Any, expected: str) -> None:
    """Path, then pattern, then table, then default."""
    assert expected == found([Rule.of(path="key", **rule)], key=value)


def test_the_first_rule_that_gives_something_wins_and_says_its_rank() -> None:
    """Over the spans of a trace the smallest rank wins."""
    rules = FieldRules({"intent": [Rule.of(path="a"), Rule.of(path="b"), Rule.of(default="rest")]})
    assert [(1, "x")] == [(said.rank, said.value) for said in rules.mapped({"b": "x"}.get)]
    assert [(2, "rest")] == [(said.rank, said.value) for said in rules.mapped(lambda _: None)]


def test_lists_are_joined_for_fields_that_take_several() -> None:
    """Roles are parted by commas."""
    assert "admin,staff" == found([Rule.of(path="r")], "roles", r=["admin", "staff", None])


@pytest.mark.parametrize(("value", "expected"), [("HIGH", "high"), ("low", "low"), ("P1", ""), ("", "")])
def test_a_tier_is_one_of_three(value: str, expected: str) -> None:
    """Other words need a table."""
    assert expected == fitting("tier", value)
    assert "high" == found([Rule.of(path="p", values={"P1": "high"})], "tier", p="p1")


def test_a_pattern_that_cannot_run_is_refused() -> None:
    """RE2 has no back references."""
    with pytest.raises(ConfigError, match="RE2"):
        Rule.of(path="a", pattern=r"(a)\1")


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a.b", 1), ("a.c.d", 2), ("a.x", None), ("l.1.k", 3), ("l.9.k", None), ("l.k", None), ("a.b.c", None), ("", {})],
)
def test_paths_walk_documents(path: str, expected: Any) -> None:
    """Keys may hold dots themselves, lists are counted."""
    document = {"a": {"b": 1, "c.d": 2}, "l": [{}, {"k": 3}]}
    assert (document if path == "" else expected) == walk(document, path)


def test_metadata_and_tags_are_found_under_common_names() -> None:
    """Metadata may be JSON in text, tags may be pairs."""
    look = Lookup.of({"metadata": '{"a": {"b": 1}}', "tags": ["web", "area: billing", "tier=high"], "x": {"y": 2}})
    assert (1, "billing", "high", 2) == (look("metadata.a.b"), look("tags.area"), look("tags.tier"), look("x.y"))
    assert (None, None, ["web", "area: billing", "tier=high"]) == (look("metadata.c"), look("tags.c"), look("tags"))
    assert 3 == Lookup.of({"tags": {"area": 3}})("tags.area")


def test_a_stated_tier_wins_then_rules_by_intent_then_the_default() -> None:
    """What the trace says is nearer to the answer than a pattern."""
    tiers = TierRules([(compile_pattern("^billing"), RiskTier.HIGH)], RiskTier.LOW)
    assert RiskTier.MEDIUM is tiers.tier_of("billing.refund", "medium")
    assert RiskTier.HIGH is tiers.tier_of("billing.refund", "")
    assert RiskTier.LOW is tiers.tier_of("shipping", "nonsense")


def test_rules_look_into_attributes_documents_and_native_traces_alike() -> None:
    """One setting, whatever the format."""
    rules = {"intent": [{"path": "metadata.intent", "pattern": r"^(\w+)\."}]}
    for name in ("otlp_openinference.json", "langsmith_batch.json", "mlflow_trace_v3.json", "langchain_events.jsonl"):
        assert "shipping" == trace_of(*fixture(name), using=decoder(rules=rules)).intent
    native = NATIVE | {"intent": "mine", "metadata": {"intent": "shipping.insurance"}}
    assert "shipping" == trace_of(native, using=decoder(rules=rules)).intent
    assert "mine" == trace_of(native).intent


def test_rules_reach_what_a_preset_does_not_map() -> None:
    """Any dotted path of the item."""
    rules = {"intent": [{"path": "session_name"}], "tenant": [{"path": "extra.metadata.thread_id"}]}
    trace = trace_of(*fixture("langsmith_batch.json"), using=decoder(rules=rules))
    assert ("parcel-help", "chat-31") == (trace.intent, trace.tenant)


def test_a_field_may_be_turned_off() -> None:
    """An empty list: then the tier rules decide alone."""
    tiers = [{"intent": "insurance$", "tier": "low"}]
    stated = trace_of(*fixture("otlp_openinference.json"), using=decoder(tiers=tiers))
    ruled = trace_of(*fixture("otlp_openinference.json"), using=decoder(tiers=tiers, rules={"tier": []}))
    assert (RiskTier.HIGH, RiskTier.LOW) == (stated.tier, ruled.tier)


def test_rules_for_native_traces_change_only_what_they_find() -> None:
    """Everything else stays as the producer stated it."""
    using = decoder(
        rules={name: [{"path": f"m.{name}"}] for name in ("tenant", "roles", "locale", "region", "model", "intent")},
        tiers=[{"intent": "^b$", "tier": "high"}],
    )
    said = {"tenant": "t", "roles": ["a", "b"], "locale": "de", "region": "eu", "model": "m2"}
    trace = trace_of(NATIVE | {"m": said, "intent": "b", "versions": {"model": "m1", "app": "4"}}, using=using)
    assert ("t", ("a", "b"), "de", "eu", "b", RiskTier.HIGH) == (
        trace.tenant, trace.roles, trace.locale, trace.region, trace.intent, trace.tier,
    )  # fmt: skip
    assert ("m2", "4") == (trace.versions.model, trace.versions.app)
    assert RiskTier.LOW is trace_of(NATIVE | {"intent": "b", "tier": "low"}, using=using).tier


def test_a_native_trace_without_rules_costs_no_second_parse_and_stays() -> None:
    """The default rules are for formats that have no such fields."""
    assert "unmapped" == trace_of(NATIVE | {"metadata": {"intent": "x"}}).intent
    assert () == decode(NATIVE).problems


def test_intents_beyond_the_cap_are_folded_and_flagged() -> None:
    """Known ones stay, unmapped needs no room."""
    intents = Intents.of(3, ["known", "unmapped"])
    names = [intents.folded(builders.trace(intent=name)) for name in ("a", "b", "c", "a", "known", "unmapped", "other")]
    assert ["a", "b", "other", "a", "known", "unmapped", "other"] == [trace.intent for trace in names]
    assert [("intent_folded",) if place == 2 else () for place in range(7)] == [trace.flags for trace in names]


def test_more_intents_than_the_cap_may_be_known_before() -> None:
    """A lowered cap takes no slice away."""
    intents = Intents.of(1, ["a", "b"])
    assert ["a", "b", "other"] == [intents.folded(builders.trace(intent=name)).intent for name in ("a", "b", "c")]
