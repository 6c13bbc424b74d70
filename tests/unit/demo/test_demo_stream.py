"""The demo stream follows its recipe: volumes, rates, order, versions, and no label inside a trace."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from demo.corpus import CORPUS_AS_OF, AnswerKind, load_corpus
from demo.recipe import BUSY_INTENT, BUSY_TIER, DEMO_RECIPE, DEPLOY_BEFORE_NOW
from demo.stream import LabelledTrace, demo_traces, labelled_demo_traces, labelled_live_traces, live_traces
from demo.trace import versions_at
from schemas.trace import Trace

NOW = datetime(2026, 11, 30, 9, 7, tzinfo=UTC)
DEPLOYED = NOW - DEPLOY_BEFORE_NOW


@pytest.fixture(scope="module")
def stream() -> list[LabelledTrace]:
    """One whole stream, seed 1."""
    return list(labelled_demo_traces(NOW, 1, DEMO_RECIPE))


def moment(labelled: LabelledTrace) -> datetime:
    """Event time of a trace."""
    return datetime.fromisoformat(labelled.trace["ts"])


def is_busy(labelled: LabelledTrace) -> bool:
    """Whether a trace is in the cell of the bad deploy."""
    return (labelled.trace["intent"], labelled.trace["tier"]) == (BUSY_INTENT, BUSY_TIER.value)


def rate(traces: list[LabelledTrace]) -> float:
    """Human rate: hallucinated share of the answers that assert facts."""
    judged = [labelled for labelled in traces if labelled.kind.is_judged]
    return sum(labelled.is_hallucinated for labelled in judged) / len(judged)


def test_recipe_holds_ten_thousand_traces(stream: list[LabelledTrace]) -> None:
    """Every cell gets exactly what the recipe says."""
    assert 10_000 == DEMO_RECIPE.total == len(stream)
    counts = Counter((labelled.trace["intent"], labelled.trace["tier"]) for labelled in stream)
    busy = counts.pop((BUSY_INTENT, BUSY_TIER.value))
    assert 7400 == busy
    expected = {(cell.intent, cell.tier.value): cell.answers for cell in DEMO_RECIPE.cells}
    assert counts.items() <= expected.items()


def test_traces_come_in_event_order_within_the_window(stream: list[LabelledTrace]) -> None:
    """A replay that is in order closes buckets as production does."""
    times = [moment(labelled) for labelled in stream]
    assert times == sorted(times)
    assert NOW - timedelta(days=21) <= times[0]
    assert times[-1] <= NOW


def test_trace_ids_are_unique_and_fresh_for_another_now() -> None:
    """Records recur; their ids never do."""
    later = NOW + timedelta(hours=1)
    ids = [trace["trace_id"] for now in (NOW, later) for trace in islice(demo_traces(now, 1, DEMO_RECIPE), 2000)]
    ids += [trace["trace_id"] for trace in islice(live_traces(NOW, 1, DEMO_RECIPE), 2000)]
    assert 6000 == len(set(ids))
    assert all(trace_id.startswith("demo-") for trace_id in ids)


def test_same_arguments_give_the_same_stream(stream: list[LabelledTrace]) -> None:
    """A failing run can be repeated."""
    assert stream[:300] == list(islice(labelled_demo_traces(NOW, 1, DEMO_RECIPE), 300))


def test_every_trace_decodes_and_carries_no_label(stream: list[LabelledTrace]) -> None:
    """The pipeline must not be able to read the answer key."""
    allowed = set(Trace.model_fields) - {"source", "decoder"}
    secrets = {answer.id for answer in load_corpus().answers}
    for labelled in stream[::20]:
        assert set(labelled.trace) <= allowed
        decoded = Trace.model_validate(labelled.trace)
        assert labelled.trace["trace_id"] == decoded.trace_id
        text = decoded.model_dump_json()
        assert labelled.record_id in secrets
        assert labelled.record_id not in text
        assert not any(word in text for word in ("hallucinated", "faulty_span", "record_id"))


def test_rate_quadruples_in_the_busy_cell_only(stream: list[LabelledTrace]) -> None:
    """About 5 % before the deploy and 20 % after it; elsewhere it stays flat."""
    before = [labelled for labelled in stream if is_busy(labelled) and moment(labelled) < DEPLOYED]
    after = [labelled for labelled in stream if is_busy(labelled) and moment(labelled) >= DEPLOYED]
    rest = [labelled for labelled in stream if not is_busy(labelled)]
    assert pytest.approx(0.05, abs=0.012) == rate(before)
    assert pytest.approx(0.20, abs=0.05) == rate(after)
    assert pytest.approx(0.05, abs=0.02) == rate(rest)


def test_busy_cell_has_a_long_baseline_and_enough_answers_after_the_deploy(stream: list[LabelledTrace]) -> None:
    """The production rule needs both to fire by itself."""
    busy = [labelled for labelled in stream if is_busy(labelled)]
    assert len([labelled for labelled in busy if moment(labelled) < NOW - timedelta(days=7)]) >= 4000
    assert len([labelled for labelled in busy if moment(labelled) >= DEPLOYED and labelled.kind.is_judged]) >= 900


def test_prompt_changes_at_the_deploy_in_the_busy_intent_only(stream: list[LabelledTrace]) -> None:
    """So the explanation can name it."""
    for labelled in stream:
        is_new = labelled.trace["intent"] == BUSY_INTENT and moment(labelled) >= DEPLOYED
        assert ("p-15" if is_new else "p-14") == labelled.trace["versions"]["prompt"]


def test_harmless_changes_lie_apart_from_the_deploy() -> None:
    """Attribution has something to reject."""
    tags = [versions_at(DEMO_RECIPE, BUSY_INTENT, NOW - timedelta(days=days), NOW) for days in (20, 5, 2, 1, 0)]
    assert ["kb-41", "kb-42", "kb-42", "kb-42", "kb-42"] == [tag.corpus for tag in tags]
    assert ["5.18.0", "5.18.0", "5.19.0", "5.19.1", "5.19.1"] == [tag.app for tag in tags]
    assert {"mossline-large-4"} == {tag.model for tag in tags}
    assert {"r-7"} == {tag.retriever for tag in tags}


def test_nights_are_quieter_than_days(stream: list[LabelledTrace]) -> None:
    """Traffic of a shop in Europe, not a flat line."""
    hours = Counter(moment(labelled).hour for labelled in stream if moment(labelled) < DEPLOYED)
    assert sum(hours[hour] for hour in range(1, 5)) * 2 < sum(hours[hour] for hour in range(12, 16))


def test_document_dates_move_with_now() -> None:
    """A replay years later shows documents of the same age, never from the future."""
    documents = {document.key: document for document in load_corpus().documents}
    for now in (NOW, NOW + timedelta(days=400)):
        trace = next(trace for trace in demo_traces(now, 1, DEMO_RECIPE) if trace.get("passages"))
        passage = trace["passages"][0]
        age = now.date() - datetime.fromisoformat(passage["updated_at"]).date()
        assert CORPUS_AS_OF - documents[f"{passage['doc_id']}@{passage['version']}"].updated_at == age


def test_small_talk_shows_no_retrieval(stream: list[LabelledTrace]) -> None:
    """An empty list would say that a search ran and gave nothing."""
    without = [labelled for labelled in stream if "passages" not in labelled.trace]
    assert {AnswerKind.GREETING} == {labelled.kind for labelled in without}
    searched = [labelled for labelled in stream if labelled.trace.get("passages") == []]
    assert {labelled.kind for labelled in searched} <= {AnswerKind.ABSTENTION, AnswerKind.SHOULD_HAVE_ABSTAINED}


def test_live_traffic_goes_on_after_now_with_the_bad_rate() -> None:
    """Same mix and rate as after the deploy, at a few traces a second."""
    traces = list(islice(labelled_live_traces(NOW, 1, DEMO_RECIPE), 3000))
    assert moment(traces[0]) > NOW
    seconds = (moment(traces[-1]) - NOW).total_seconds()
    assert pytest.approx(DEMO_RECIPE.live_traces_per_second, rel=0.1) == len(traces) / seconds
    busy = [labelled for labelled in traces if is_busy(labelled)]
    assert len(busy) > 0.85 * len(traces)
    assert pytest.approx(0.20, abs=0.03) == rate(busy)
    assert {"p-15"} == {labelled.trace["versions"]["prompt"] for labelled in busy}


def test_people_stay_in_one_tenant_and_some_conversations_go_on(stream: list[LabelledTrace]) -> None:
    """Ids look like those of a product."""
    tenants: dict[str, set[str]] = {}
    for labelled in stream:
        tenants.setdefault(labelled.trace["user_id"], set()).add(labelled.trace["tenant"])
    assert {1} == {len(names) for names in tenants.values()}
    conversations = Counter(labelled.trace["conversation_id"] for labelled in stream)
    assert 7000 < len(conversations) < 10_000
