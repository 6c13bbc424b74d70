"""What is found of hops depends on nothing but the trace, adds up, and ends, whatever rests on whatever."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.structural import context_passages
from detectors.verification import verify
from schemas.draw import DrawnTrace
from schemas.labels import ClaimLabel
from schemas.trace import Hop, Passage, ToolCall, Trace
from schemas.verdict import Verdict
from tests.builders import NOW, drawn_trace, policy, screening, trace
from tests.fakes_detectors import QuotingDetector

CLAIMS = (
    "It is red.",
    "It is blue.",
    "It is grey.",
    "It costs 5 euros, which everybody here knows for sure.",
    "Hello!",
)
TEXTS = st.lists(st.sampled_from(CLAIMS), max_size=3).map(" ".join)
SOURCES = st.lists(st.sampled_from((*CLAIMS, "NOT It is red.", "It is odd.")), max_size=2).map(" ".join)
PLACES = st.lists(st.integers(-1, 4), max_size=3).map(tuple)
HOPS = st.builds(
    Hop, name=st.sampled_from(["", "a", "b"]), question=st.just("q?"), passages=PLACES, tools=PLACES, output=TEXTS
)
TRACES = st.builds(
    trace,
    st.just("t"),
    answer=TEXTS,
    passages=st.none() | st.lists(SOURCES, max_size=3).map(lambda texts: tuple(map(_passage, texts))),
    tool_calls=st.lists(st.none() | SOURCES, max_size=2).map(
        lambda outputs: tuple(ToolCall(name="t", output=output) for output in outputs)
    ),
    hops=st.lists(HOPS, max_size=4).map(tuple),
)
DETECTOR = QuotingDetector(alone={"It is grey.": "hop:1", "It is blue.": "hop:2"})


def _passage(text: str) -> Passage:
    return Passage(doc_id=text[:12], text=text)


def judged(traces: Sequence[Trace]) -> list[Verdict]:
    """Their verdicts, without times."""
    items: list[DrawnTrace] = [drawn_trace(trace=one, screening=screening(fingerprint="")) for one in traces]
    return verify(items, [policy()] * len(items), DETECTOR, NOW, clock=lambda: 0.0)


@settings(deadline=None, max_examples=25)
@given(st.lists(TRACES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_batch_mates_and_their_order_change_nothing(traces: list[Trace], chance: object) -> None:
    """A trace alone gets what it gets in any batch."""
    places = list(range(len(traces)))
    chance.shuffle(places)  # type: ignore[attr-defined]  # a random.Random
    alone = [judged([one])[0] for one in traces]

    assert alone == judged(traces)
    assert [alone[place] for place in places] == judged([traces[place] for place in places])


@settings(deadline=None, max_examples=60)
@given(TRACES)
def test_counts_add_up_and_provenance_points_somewhere(one: Trace) -> None:
    """Every claim of a hop is counted once; the evidence of a claim is in a source, never in the output of a hop."""
    (found,) = judged([one])

    for row in found.hops:
        assert row.claims == row.supported + row.unsupported + row.contradicted + row.unclear + row.errors
        assert (row.worst_label is None) is (row.claims == 0)
        assert row.derived <= row.claims
    assert sorted({row.hop for row in found.hops}) == [row.hop for row in found.hops]
    assert all(claim.hop is None or claim.hop < len(one.hops) for claim in found.claims)
    for claim in found.claims:
        if claim.label is ClaimLabel.SUPPORTED:
            assert claim.evidence is not None
            assert claim.evidence.text in context_passages(one)[claim.evidence.passage].text


@settings(deadline=None, max_examples=60)
@given(TRACES)
def test_hops_without_any_source_support_nothing(one: Trace) -> None:
    """However they repeat each other, what nothing outside of them says stays from memory."""
    bare = one.model_copy(update={"passages": (Passage(doc_id="x", text="It is odd."),), "tool_calls": ()})
    (found,) = judged([bare])

    assert not [claim for claim in found.claims if claim.label is ClaimLabel.SUPPORTED]
    assert 0 == sum(row.supported for row in found.hops)
