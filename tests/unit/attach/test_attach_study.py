"""What a sample is reported to be, from messages as strangers send them."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from streams.attach.report import Attached
from streams.attach.sample import Sample, TopicFacts
from streams.settings import SourceSettings
from tests.attach_samples import INTENTS, JUNK, mixed, native, openinference_spans, sample, studied
from tests.hostile import SEEDS, hostile_messages
from tests.unit.sources.otlp_messages import FOLDER, fixture

FIXTURES = sorted(path.name for path in FOLDER.iterdir())
WITHOUT_CONTENT = "otlp_genai_1_37_spans_without_content.json"


def values_of(name: str) -> list[bytes]:
    """The messages of a fixture."""
    return fixture(name).splitlines() if name.endswith(".jsonl") else [fixture(name)]


def of(*names: str) -> Attached:
    """The report of these fixtures together."""
    return studied(sample([value for name in names for value in values_of(name)]))


def shares(report: Attached) -> dict[str, float]:
    """By field, the share of traces that have it."""
    return {field.field: field.share for field in report.fields}


def fixes(report: Attached, field: str) -> str:
    """What is advised for a field."""
    return " | ".join(next(one.fixes for one in report.fields if one.field == field))


@pytest.mark.parametrize("name", FIXTURES)
def test_every_format_that_is_read_is_recognised(name: str) -> None:
    """All of it decodes, as one trace, and the report survives being printed."""
    report = of(name)
    assert (1.0, 1, ()) == (report.decoded_share, report.traces, report.problems)
    assert report == Attached.model_validate_json(report.model_dump_json())
    if name != WITHOUT_CONTENT:
        assert {"question": 1.0, "answer": 1.0, "passage_text": 1.0} == {
            key: shares(report)[key] for key in ("question", "answer", "passage_text")
        }


def test_a_mixed_topic_is_told_apart_message_by_message() -> None:
    """Encodings, compression by hand, conventions and junk, with shares of all messages and a place to look at."""
    values = mixed(50)
    report = studied(sample(values))
    rows = {(form.encoding, form.layer): form for form in report.forms}
    assert {
        ("otlp_proto", ""),
        ("otlp_json_traces", ""),
        ("native_json", ""),
        ("native_json", "gzip"),
        ("unknown", ""),
    } == set(rows)
    assert ("openinference",) == rows["otlp_proto", ""].conventions
    assert 90 == rows["otlp_proto", ""].messages == rows["otlp_proto", ""].spans
    assert (False, 2) == (rows["unknown", ""].is_read, rows["unknown", ""].messages)
    assert 1.0 == pytest.approx(sum(form.share for form in report.forms), abs=0.001)
    (problem,) = report.problems
    assert ("not_json", 2) == (problem.reason, problem.messages)
    place = values.index(JUNK)
    assert f"traces/{place % 8}/{place // 8}" == problem.example
    assert (50, 50) == (report.traces, report.whole_traces)


def test_spans_over_partitions_and_copies_are_counted() -> None:
    """Nil keys spread a trace; what comes twice is a copy, not a trace."""
    values = mixed(20)
    report = studied(sample([*values, *values]))
    assert 1.0 == report.coverage.no_key_share
    assert 1.0 == report.coverage.spread_share
    assert 0.5 == report.coverage.repeated_span_share
    assert 4 == report.coverage.repeated_traces
    assert 20 == report.traces


def test_traces_without_their_root_are_left_out_of_fields_and_verdicts() -> None:
    """A sample cuts traces at its edges; that is no fault of the producer."""
    documents = [openinference_spans(number) for number in range(6)]
    values = [json.dumps(one).encode() for own in documents[:4] for one in own]
    torn = [json.dumps(own[0]).encode() for own in documents[4:]]
    report = studied(sample([*torn, *values]))
    assert (6, 4) == (report.traces, report.whole_traces)
    assert report.dry_run is not None
    assert (4, 2) == (report.dry_run.judged, report.dry_run.torn)
    assert 1.0 == shares(report)["answer"]


def test_missing_content_is_named_with_the_setting_of_the_producer() -> None:
    """Of the conventions that were met, no others."""
    report = of(WITHOUT_CONTENT)
    assert 0.0 == shares(report)["answer"]
    assert "genai: set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in fixes(report, "answer")
    assert "TRACELOOP" not in fixes(report, "answer")
    assert report.dry_run is not None
    assert ["unresolved:no_content"] == [one.reason for one in report.dry_run.unresolved]
    assert "otlp_logs" in report.dry_run.unresolved[0].fix
    joined = of(WITHOUT_CONTENT, "otlp_genai_1_37_logs.json")
    assert (1.0, "") == (shares(joined)["answer"], fixes(joined, "answer"))


def test_documents_without_text_cost_entailment() -> None:
    """Said in plain words, beside what adds the text."""
    document = json.loads(fixture("otlp_openinference.json"))
    text = json.dumps(document).replace("document.content", "document.nothing").replace("Context:", "Found:")
    report = studied(sample([text.encode()]))
    row = next(field for field in report.fields if field.field == "passage_text")
    assert (0.0, "needed") == (row.share, row.need)
    assert "entailment impossible" in row.cost
    assert "openinference: retrieval.documents.N.document.content" in row.fixes[0]


def test_hidden_and_cut_content_are_fields_of_their_own() -> None:
    """Each with the switch that did it."""
    hidden = fixture("otlp_openinference.json").replace(
        b"Yes, standard insurance covers goods up to 750 euros [1].", b"__REDACTED__"
    )
    report = studied(sample([hidden]))
    assert 0.0 == shares(report)["unhidden"]
    assert "OPENINFERENCE_HIDE_OUTPUTS" in fixes(report, "unhidden")
    assert 1.0 == shares(of("otlp_openinference.json"))["unhidden"]


def test_the_proposed_mapping_is_tried_in_the_dry_run() -> None:
    """JSON of one's own, with intent, tier and tenant under names of one's own."""
    report = studied(sample([home_made(number) for number in range(30)]))
    (source,) = report.proposal.config["sources"]
    assert {"topic": "traces", "format": "rag_json"}.items() <= source.items()
    assert [{"path": "route"}] == source["rules"]["intent"]
    assert {"p1": "high", "p3": "low"} == source["rules"]["tier"][0]["values"]
    assert [{"path": "meta.customer"}] == source["rules"]["tenant"]
    assert report.dry_run is not None
    assert {("returns", "high"), ("shipping", "low")} == {(row.intent, row.tier) for row in report.dry_run.outcomes}
    assert {"high": 1.0, "low": 0.25} == {tier.tier: tier.drawn_share for tier in report.cost.tiers}
    assert {"returns", "shipping"} == {example.intent for example in report.examples}


def test_a_proposal_is_what_the_settings_take() -> None:
    """Written into the file and read again, it finds what was promised, and nothing more is proposed."""
    values = [home_made(number) for number in range(30)]
    sources = [SourceSettings(**one) for one in studied(sample(values)).proposal.config["sources"]]
    again = studied(sample(values), *sources)
    assert {"intent": 1.0, "tier": 1.0, "tenant": 1.0} == {
        key: shares(again)[key] for key in ("intent", "tier", "tenant")
    }
    assert {"format"} >= again.proposal.config.get("sources", [{}])[0].keys() - {"topic"}


def test_an_entry_for_many_topics_is_not_shadowed() -> None:
    """What its first match decides is changed by hand."""
    pattern = SourceSettings(topic="^tra", format="rag_json")
    report = studied(sample([home_made(number) for number in range(30)]), pattern)
    assert {} == report.proposal.config
    assert any("traces has the entry ^tra under sources: put rules for intent" in one for one in report.proposal.notes)


def test_json_that_nobody_knows_is_listed_by_its_paths() -> None:
    """What a mapping file can name."""
    report = studied(sample([json.dumps({"frage": "Wie?", "tief": {"antwort": "So."}}).encode()] * 4))
    assert (0.0, 0) == (report.decoded_share, report.traces)
    assert {"frage (4 of 4)", "tief.antwort (4 of 4)"} == set(report.proposal.home_made)


def test_settings_of_a_topic_are_used() -> None:
    """What the configuration says already is no missing field."""
    rule = {"intent": [{"path": "locale"}]}
    report = studied(sample([native(1)]), SourceSettings(topic="traces", rules=rule))
    assert report.examples[0].intent == json.loads(native(1)).get("locale", report.examples[0].intent)


def test_personal_data_can_be_kept_out() -> None:
    """No examples, when they are not wanted."""
    assert () == studied(sample([native(1)]), has_examples=False).examples
    assert None is studied(sample([native(1)]), is_dry_run=False).dry_run


def test_an_own_judge_is_no_trace() -> None:
    """Traces of evaluators are counted and left out."""
    text = fixture("otlp_openinference.json").replace(b'"CHAIN"', b'"EVALUATOR"')
    assert (0, 1) == ((report := studied(sample([text]))).traces, report.judge_traces)


def test_a_report_of_hostile_messages_is_a_report() -> None:
    """Nothing that strangers send ends the look at a topic."""
    now = datetime(2026, 5, 14, 9, tzinfo=UTC)
    values = [message.value or b"" for message in hostile_messages(SEEDS[0], 400, now, with_heavy=False)]
    report = studied(sample([*values, b"", b"\x1f\x8b\x08cut", b"\x00\x00\x00\x00\x01ab", gzip.compress(b"{")]))
    assert 404 == report.messages == sum(form.messages for form in report.forms)
    assert report.traces > 100
    assert report.model_dump_json().encode()


def test_clock_and_rate_need_record_times() -> None:
    """A file has none, so nothing is said of them."""
    taken = sample(mixed(20))
    report = studied(taken)
    assert report.coverage.messages_per_second == pytest.approx(100, rel=0.2)
    assert 0 < (report.coverage.skew_median_seconds or 0) < timedelta(hours=1).total_seconds()
    from_file = studied(type(taken)(taken.messages, is_file=True))
    assert (None, None, None) == (
        from_file.coverage.messages_per_second, from_file.coverage.no_key_share, from_file.cost.traces_per_day
    )  # fmt: skip
    assert () == from_file.acls


def test_rights_name_every_topic_and_nothing_of_the_source_is_written() -> None:
    """Reading on the source cluster, everything else on ours."""
    report = studied(sample(mixed(10)))
    source = [line for line in report.acls if "kafka:9092" in line]
    assert 2 == len(source)
    assert ["Read", "Describe"] * 2 == [word for line in source for word in _operations(line)]
    assert any("--topic traces" in line for line in source)
    assert all("own:9092" in line for line in report.acls[2:])


def _operations(line: str) -> list[str]:
    words = line.split()
    return [words[place + 1] for place, word in enumerate(words) if word == "--operation"]


def home_made(number: int) -> bytes:
    """An answer in JSON of one's own."""
    document: dict[str, Any] = {
        "request_id": f"r-{number}",
        "query": "How long may I keep it?",
        "response": "You may return it within 30 days.",
        "contexts": ["Items may be returned within 30 days."],
        "route": ("returns", "shipping")[number % 2],
        "created_at": "2026-05-14T08:00:00Z",
        "meta": {"risk": ("p1", "p3")[number % 2], "customer": f"c{number % 3}", "build": "7"},
    }
    return json.dumps(document).encode()


def test_intents_of_the_mixed_topic_need_no_rule() -> None:
    """The default rules look where applications put them."""
    report = studied(sample(mixed(60)))
    assert "rules" not in (report.proposal.config.get("sources") or [{}])[0]
    assert report.dry_run is not None
    assert set(INTENTS) == {row.intent for row in report.dry_run.outcomes}
    (best, *_) = report.proposal.candidates["intent"]
    assert ("metadata.intent", True, 3) == (best.path, best.is_default, best.distinct)


def test_long_contexts_do_not_hold_up_the_look() -> None:
    """What takes seconds is left out of the dry run and counted; alone, one of them is judged."""
    long = json.loads(native(1)) | {"passages": [{"doc_id": "d", "text": "Goods arrive within 3 days. " * 20_000}]}
    values = [json.dumps({**long, "trace_id": f"long-{number}"}).encode() for number in range(3)]
    mixed_sizes = studied(sample([*values, native(1), native(2)])).dry_run
    alone = studied(sample(values)).dry_run
    assert mixed_sizes is not None
    assert alone is not None
    assert ((2, 3), (1, 2)) == ((mixed_sizes.judged, mixed_sizes.skipped), (alone.judged, alone.skipped))


def test_old_answers_are_said_to_expire() -> None:
    """Before somebody wonders where they went."""
    report = studied(sample([native(1, datetime(2025, 1, 1, tzinfo=UTC)), native(2)]))
    assert any("1 of 2 traces are older than store.retention_days (90)" in note for note in report.notes)


def test_cost_follows_the_traffic_of_each_topic() -> None:
    """Logs of no answer cost their decoding; traces count by topic."""
    facts = (TopicFacts("rag", per_second=10.0), TopicFacts("logs", per_second=1_000.0))
    rag = sample([native(number) for number in range(10)], topic="rag").messages
    logs = sample([JUNK] * 10, topic="logs").messages
    report = studied(Sample((*rag, *logs), facts))
    assert 10 * 86_400 == report.cost.traces_per_day
    assert 1_010 == report.coverage.messages_per_second
    assert report.coverage.bytes_per_second == pytest.approx(10 * len(native(1)) + 1_000 * len(JUNK), rel=0.01)
