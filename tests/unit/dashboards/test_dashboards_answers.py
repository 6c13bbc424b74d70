"""Answers with claims, and texts cut at spans."""

from hypothesis import given
from hypothesis import strategies as st

from dashboards.views.answers import flagged_answer, trace_page
from dashboards.views.spans import Span, mark
from schemas.draw import DrawnTrace
from schemas.labels import ClaimLabel, Outcome
from schemas.policy import Overlay, OverlayReason
from streams.store import FlaggedAnswer, StoredTrace
from tests.builders import (
    NOW,
    claim_verdict,
    draw,
    drawn_trace,
    evidence,
    passage,
    policy,
    policy_record,
    trace,
    verdict,
)

SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)))


@given(text=st.text(max_size=30), bounds=SPANS, limit=st.integers(0, 40))
def test_pieces_give_the_text_back_whatever_the_spans(text: str, bounds: list[tuple[int, int]], limit: int) -> None:
    """Overlapping, reversed and far-off spans lose and double nothing."""
    spans = [Span(start, end, number, "supported") for number, (start, end) in enumerate(bounds)]
    marked = mark(text, spans, limit=limit)
    assert text[:limit] == "".join(piece.text for piece in marked.pieces)
    assert marked.hidden == len(text) - len(text[:limit])
    assert all(piece.text for piece in marked.pieces)


def test_spans_are_marked_where_they_are() -> None:
    """Code points, not bytes."""
    marked = mark("Ü🙂 no. Yes.", [Span(7, 11, 1, "supported")], limit=99)
    assert [("Ü🙂 no. ", None), ("Yes.", 1)] == [(one.text, one.span and one.span.number) for one in marked.pieces]


def test_worst_claims_come_first_and_keep_their_number() -> None:
    """The list is for reading, the numbers are those in the answer."""
    labels = (ClaimLabel.SUPPORTED, ClaimLabel.NOT_FACTUAL, ClaimLabel.UNSUPPORTED, ClaimLabel.CONTRADICTED)
    claims = tuple(claim_verdict(label) for label in labels)
    view = flagged_answer(
        FlaggedAnswer(trace=trace(), draw=draw(), verdict=verdict(outcome=Outcome.HALLUCINATED, claims=claims))
    )
    assert [4, 3, 1, 2] == [claim.number for claim in view.claims]
    assert [4, 3] == [claim.number for claim in view.bad_claims]


def test_evidence_is_shown_inside_its_passage() -> None:
    """What stands before and after helps to read it."""
    text = "First. A refund is possible. Last."
    span = evidence("A refund is possible.", start=7, end=28)
    stored = StoredTrace(
        drawn=drawn_trace(trace=trace(passages=(passage(text),))),
        verdicts=[verdict(claims=(claim_verdict(evidence=span),))],
    )
    shown = trace_page(stored).answer.claims[0].evidence
    assert shown is not None
    assert ("First. ", "A refund is possible.", " Last.") == (shown.before, shown.text, shown.after)


def test_evidence_without_its_passage_stands_alone() -> None:
    """A passage that expired, or a span that does not fit, shows no wrong context."""
    stored = StoredTrace(
        drawn=drawn_trace(trace=trace(passages=(passage("Something else."),))),
        verdicts=[verdict(claims=(claim_verdict(evidence=evidence(passage=7)), claim_verdict(evidence=evidence())))],
    )
    shown = [claim.evidence for claim in trace_page(stored).answer.claims]
    assert [("", ""), ("", "")] == [(one.before, one.after) for one in shown if one]


def test_newest_verdict_leads() -> None:
    """Others are listed beside it."""
    old = verdict(fingerprint="old", verified_at=verdict().verified_at.replace(year=2025))
    page = trace_page(StoredTrace(drawn=drawn_trace(), verdicts=[old, verdict(fingerprint="new")]))
    assert page.answer.verdict is not None
    assert page.answer.verdict.fingerprint == "new"
    assert ["old"] == [one.fingerprint for one in page.other_verdicts]


def test_trace_without_answer_passages_or_verdict_is_a_page() -> None:
    """Nothing that may be missing is assumed."""
    bare = DrawnTrace(
        trace=trace(answer=None, passages=None), draw=draw(drawn=False), screening=drawn_trace().screening
    )
    page = trace_page(StoredTrace(drawn=bare, verdicts=[]))
    assert page.passages == ()
    assert page.answer.claims == ()
    assert page.answer.answer.pieces == ()


def test_long_answer_is_cut_and_says_so() -> None:
    """A page stays readable whatever was sent."""
    page = trace_page(StoredTrace(drawn=drawn_trace(trace=trace(answer="x" * 1_000_000)), verdicts=[]))
    assert page.answer.answer.hidden == 1_000_000 - 40_000


def test_page_names_the_policy_that_held_and_what_was_on_top() -> None:
    """By the store's copy of the log; an id that it lacks is shown as it is."""
    overlay = Overlay(reason=OverlayReason.SURGE, at_least=0.5, until=NOW)
    log = [policy_record("p1", document=policy("autumn")), policy_record("s2", overlay=overlay), policy_record("p9")]
    page = trace_page(StoredTrace(drawn=drawn_trace(draw=draw(policy_id="p1+s2+s3")), verdicts=[]), log)
    assert [("p1", "autumn"), ("s2", "surge"), ("s3", "")] == [(held.policy_id, held.name) for held in page.policies]
