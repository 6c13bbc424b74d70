"""Any trace and verdict that the schemas allow reads back equal, whatever text is in it."""

import functools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.claim import Claim, ClaimSource
from schemas.draw import Draw, DrawnTrace, Screening
from schemas.labels import ClaimLabel, Containment, FailureLabel, Layer, Outcome, RiskTier, Severity
from schemas.layers import Consistency, LayerReason, LayerRun
from schemas.trace import MAX_COUNT, Hop, Passage, Source, Timings, ToolCall, Trace, Versions
from schemas.verdict import ClaimJudgement, ClaimVerdict, Evidence, HopVerdict, SeenText, Verdict
from streams.store import ALL_TENANTS, Store
from streams.store.migrations import shipped
from tests.builders import NOW, verdict
from tests.chdb_path import open_empty_store

pytestmark = pytest.mark.integration

ODD = [
    "",
    "\x00",
    "a\x00b",
    "👩‍👩‍👧",
    "مرحبا \u202e",
    "\ufeff",
    "\\N",
    "'; DROP TABLE traces --",
    "{x:String}",
    "\r\n\t",
    "%(x)s",
]
texts = st.one_of(st.sampled_from(ODD), st.text(max_size=40))
words = st.text(max_size=12)
shares = st.floats(0, 1)
maybe_shares = st.none() | shares
reals = st.floats(allow_nan=False, allow_infinity=False)
times = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001 — zone is given beside
counts = st.integers(0, MAX_COUNT)


def tuples(items: st.SearchStrategy[object], most: int = 3) -> st.SearchStrategy[tuple[object, ...]]:
    """Tuples of at most ``most``."""
    return st.lists(items, max_size=most).map(tuple)


passages = st.builds(
    Passage,
    doc_id=words,
    chunk_id=words,
    version=words,
    text=texts
    | st.sampled_from(["A long passage that fills the prompt, more than once.", "Another passage, also long enough."]),
    score=st.none() | reals,
    rank=counts,
    updated_at=st.none() | times,
    first_seen_at=st.none() | times,
    effective_from=st.none() | times,
    archived=st.booleans(),
    superseded_by=words,
    allowed_roles=tuples(words),
    trust=st.sampled_from(["trusted", "untrusted", "unknown"]),
    cited=st.none() | st.booleans(),
)
versions = st.builds(Versions, model=words, prompt=words, corpus=words, retriever=words, app=words)
sources = st.builds(
    Source, topic=words, partition=st.integers(0, 2**31), offset=st.integers(0, 2**62), recorded_at=times
)
evidences = st.builds(
    Evidence,
    passage=st.integers(0, 4),
    doc_id=words,
    passage_hash=words,
    start=st.integers(0, 30),
    end=st.integers(0, 60),
    text=texts,
)
claims = st.builds(
    Claim,
    index=st.integers(0, 9),
    start=st.integers(0, 20),
    end=st.integers(0, 40),
    text=texts,
    is_factual=st.booleans(),
    critical_rule=words,
    citations=tuples(words),
    subject=texts,
    sentence_start=st.none() | st.integers(0, 20),
    sentence_end=st.none() | st.integers(0, 40),
    split_by=words,
)
judgements = st.builds(
    ClaimJudgement,
    support=maybe_shares,
    contradiction=maybe_shares,
    evidence=st.none() | evidences,
    why=texts,
    error=st.none() | st.sampled_from(Outcome),
)
PROMPTS = [
    None,
    "",
    "A long passage that fills the prompt, more than once.",
    "Use: A long passage that fills the prompt, more than once.\n\nAnother passage, also long enough.\x00 Q?",
]
traces = st.builds(
    Trace,
    trace_id=st.text(min_size=1, max_size=30),
    ts=st.datetimes(datetime(2025, 1, 1), datetime(2026, 9, 1), timezones=st.just(UTC)),  # noqa: DTZ001 — as above
    question=texts,
    rewrites=tuples(texts),
    answer=st.none() | texts,
    passages=st.none() | tuples(passages, 4),
    packed_prompt=st.sampled_from(PROMPTS) | texts,
    tool_calls=tuples(st.builds(ToolCall, name=words, arguments=texts, output=st.none() | texts)),
    hops=tuples(st.builds(Hop, name=texts, question=texts, passages=tuples(st.integers(0, 9)), output=texts)),
    alternatives=tuples(texts),
    token_logprobs=tuples(reals, 5),
    intent=words,
    tier=st.sampled_from(RiskTier),
    conversation_id=words,
    user_id=words,
    tenant=words,
    roles=tuples(words),
    locale=words,
    region=words,
    versions=versions,
    timings=st.builds(
        Timings, retrieval_ms=st.none() | reals, generation_ms=st.none() | reals, total_ms=st.none() | reals
    ),
    feedback=texts,
    source=st.none() | sources,
    decoder=words,
    close_reason=words,
    late_spans=counts,
    revision=st.integers(1, 1000),
    flags=tuples(words),
)
draws = st.builds(
    Draw,
    stratum=words,
    u=st.floats(0, 1, exclude_max=True),
    inclusion_probability=st.floats(0, 1, exclude_min=True),
    min_probability=st.floats(0, 1, exclude_min=True),
    policy_id=words,
    drawn=st.booleans(),
)
screenings = st.builds(
    Screening,
    claims=tuples(claims),
    judgements=tuples(judgements),
    failures=tuples(st.sampled_from(FailureLabel)),
    outcome=st.none() | st.sampled_from(Outcome),
    score=maybe_shares,
    fingerprint=words,
    is_empty_retrieval=st.booleans(),
    took_ms=reals,
)
drawn_traces = st.builds(DrawnTrace, trace=traces, draw=draws, screening=screenings)
claim_verdicts = st.builds(
    ClaimVerdict,
    claim=claims,
    label=st.sampled_from(ClaimLabel),
    support=st.none() | reals,
    contradiction=st.none() | reals,
    evidence=st.none() | evidences,
    why=texts,
    layers=tuples(st.sampled_from(Layer)),
    decided_by=st.none() | st.sampled_from(Layer),
    confidence=maybe_shares,
    error=st.none() | st.sampled_from(Outcome),
    source=st.none() | st.sampled_from(ClaimSource),
    hop=st.none() | counts,
)
hop_verdicts = st.builds(
    HopVerdict,
    hop=counts,
    name=texts,
    outcome=st.sampled_from(Outcome),
    claims=counts,
    supported=counts,
    unsupported=counts,
    contradicted=counts,
    unclear=counts,
    errors=counts,
    derived=counts,
    left_out=counts,
    worst_label=st.none() | st.sampled_from(ClaimLabel),
    worst=texts,
    worst_why=texts,
    evidence_doc=words,
    evidence=texts,
)
layer_runs = st.builds(
    LayerRun,
    layer=st.sampled_from(Layer),
    ran=st.booleans(),
    why=st.sampled_from(LayerReason),
    claims=counts,
    calls=counts,
    cached=counts,
    tokens_in=counts,
    tokens_out=counts,
    cost_usd=st.floats(0, 1e6),
    took_ms=st.floats(0, 1e9),
)
consistencies = st.builds(
    Consistency,
    source=st.sampled_from(["trace", "resampled"]),
    samples=st.integers(1, 20),
    votes=st.none() | st.integers(1, 20),
    agreement=maybe_shares,
    unstable_claims=tuples(st.integers(0, 1000)),
    mean_logprob=st.none() | st.floats(-100, 0),
    is_flagged=st.booleans(),
)
seen_texts = st.builds(
    SeenText, source=st.sampled_from(ClaimSource), doc_id=words, content_hash=words, chars=st.integers(0, 2_000_000)
)
verdicts = st.builds(
    Verdict,
    trace_id=st.just("v"),
    ts=st.just(NOW),
    revision=st.integers(1, 1000),
    intent=words,
    tier=st.sampled_from(RiskTier),
    versions=versions,
    fingerprint=st.text(min_size=1, max_size=20),
    outcome=st.sampled_from(Outcome),
    failures=tuples(st.sampled_from(FailureLabel)),
    severities=tuples(st.sampled_from(Severity)),
    severity=st.none() | st.sampled_from(Severity),
    score=maybe_shares,
    faithfulness=maybe_shares,
    passed=st.booleans(),
    containment=st.sampled_from(Containment),
    claims=tuples(claim_verdicts),
    layers=tuples(st.sampled_from(Layer)),
    routing=tuples(layer_runs),
    consistency=st.none() | consistencies,
    took_ms=reals,
    timings_ms=st.dictionaries(words, reals, max_size=4),
    splitter=words,
    fingerprint_parts=st.dictionaries(words, words, max_size=4),
    answer_hash=words,
    seen=tuples(seen_texts),
    hops=tuples(hop_verdicts),
    hops_left_out=counts,
    cost_usd=reals,
    verified_at=st.datetimes(datetime(2025, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 — as above
)
example_by_example = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.fixture(scope="module")
def opened() -> Store:
    """One store for all examples; each example has ids of its own or replaces the last."""
    return open_empty_store()


@pytest.fixture(scope="module", autouse=True)
def closing(opened: Store) -> object:
    """Give the path back for other modules."""
    yield None
    opened.close()


@example_by_example
@given(rows=st.lists(drawn_traces, min_size=1, max_size=20, unique_by=lambda row: row.trace.trace_id))
def test_any_trace_reads_back_equal(opened: Store, rows: list[DrawnTrace]) -> None:
    """Every field of every trace, with NUL, emoji, right-to-left marks, SQL and times of any year."""
    opened._connection.command("TRUNCATE TABLE traces")
    opened.insert_traces(rows)
    for row in rows:
        found = opened.trace(row.trace.trace_id, tenants=ALL_TENANTS, ts=row.trace.ts)
        assert found is not None
        assert row == found.drawn


@example_by_example
@given(rows=st.lists(verdicts, min_size=1, max_size=20, unique_by=lambda row: row.fingerprint))
def test_any_verdict_reads_back_equal(opened: Store, rows: list[Verdict]) -> None:
    """Every field of every verdict and its claims."""
    opened._connection.command("TRUNCATE TABLE verdicts")
    opened.insert_traces([vehicle()])
    opened.insert_verdicts(rows)
    found = opened.trace("v", tenants=ALL_TENANTS, ts=NOW)
    assert found is not None
    assert {row.fingerprint: row for row in rows} == {row.fingerprint: row for row in found.verdicts}


@functools.cache
def vehicle() -> DrawnTrace:
    """The trace that the verdicts are on."""
    draw = Draw(stratum="rest", u=0.1, inclusion_probability=1, min_probability=1, policy_id="p", drawn=True)
    return DrawnTrace(trace=Trace(trace_id="v", ts=NOW), draw=draw, screening=Screening())


def test_a_lone_surrogate_becomes_a_question_mark(opened: Store) -> None:
    """A text that no validation saw cannot break a batch, and its passage is found again by its hash."""
    broken = Passage(text="x").model_copy(update={"text": "caf\ud83d"})
    trace = Trace(trace_id="s", ts=NOW).model_copy(update={"question": "\ud83d?", "passages": (broken,)})
    opened.insert_traces([vehicle().model_copy(update={"trace": trace})])
    found = opened.trace("s", tenants=ALL_TENANTS)
    assert found is not None
    assert "??" == found.drawn.trace.question
    assert ["caf?"] == [passage.text for passage in found.drawn.trace.passages or ()]
    assert opened.trace("\ud83d", tenants=ALL_TENANTS) is None


def test_a_passage_whose_text_is_gone_leaves_a_readable_trace_that_says_so(opened: Store) -> None:
    """The trace is not lost for one text."""
    trace = Trace(trace_id="g", ts=NOW, passages=(Passage(text="soon gone"),))
    opened.insert_traces([vehicle().model_copy(update={"trace": trace})])
    opened._connection.command("TRUNCATE TABLE passages")
    found = opened.trace("g", tenants=ALL_TENANTS)
    assert found is not None
    assert ("passage_text_missing",) == found.drawn.trace.flags


def test_a_verdict_written_before_a_column_was_added_reads_back_with_defaults(opened: Store) -> None:
    """Of a part that an older version wrote, nested columns of claims come back as long as the others, or empty."""
    connection, whole = opened._connection, verdict("v", Outcome.HALLUCINATED)
    connection.command("TRUNCATE TABLE verdicts")
    opened.insert_traces([vehicle()])
    opened.insert_verdicts([whole])
    later = [row["name"] for row in connection.query(_LATER)]
    connection.command("ALTER TABLE verdicts DROP CONSTRAINT words_known")
    for name in later:
        connection.command(f"ALTER TABLE verdicts DROP COLUMN `{name}`")
    for file in shipped():
        if file.name.startswith(("0009", "0012", "0014")):
            for statement in file.statements:
                connection.command(statement)

    found = opened.trace("v", tenants=ALL_TENANTS, ts=NOW)

    assert found is not None
    assert 54 == len(later)
    assert [whole] == found.verdicts


def test_the_fingerprints_of_stored_verdicts_say_what_they_are_made_of(opened: Store) -> None:
    """Last used first; verdicts of older versions stored no parts, and one row with parts is enough."""
    opened._connection.command("TRUNCATE TABLE verdicts")
    parts = {"detector": "evidence:1", "l0": "2"}
    older = verdict("a", ts=NOW - timedelta(days=3), fingerprint="f1")
    opened.insert_verdicts([older, verdict("b", fingerprint="f1", fingerprint_parts=parts)])
    opened.insert_verdicts([verdict("c", ts=NOW + timedelta(hours=1), fingerprint="f2")])

    found = opened.fingerprints()

    assert [("f2", {}, NOW + timedelta(hours=1)), ("f1", parts, NOW)] == [
        (row.fingerprint, row.parts, row.last_ts) for row in found
    ]
    assert [("f1", NOW - timedelta(days=3))] == [(row.fingerprint, row.first_ts) for row in opened.fingerprints("f1")]
    assert [] == opened.fingerprints("no such")


_LATER = """
SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'verdicts'
  AND (name IN ('claims.source', 'claims.subject', 'claims.sentence_start', 'claims.sentence_end', 'claims.split_by',
    'severities', 'severity', 'faithfulness', 'splitter', 'fingerprint_parts', 'answer_hash', 'claims.decided_by',
    'claims.confidence', 'claims.hop')
    OR name LIKE 'timings.%' OR name LIKE 'seen.%' OR name LIKE 'routing.%' OR name LIKE 'consistency_%'
    OR name LIKE 'hops%')
"""
