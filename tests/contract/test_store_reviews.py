"""Reviews, as stores take them in and give them out: memory, embedded engine and a server over HTTP alike."""

from datetime import timedelta
from typing import Any

import pytest

from schemas.labels import ClaimLabel, Outcome, RiskTier
from streams.store import ALL_TENANTS, Reviewable, ReviewFilter, Store
from tests.builders import FINGERPRINT, NOW, draw, drawn_trace, trace, verdict
from tests.builders_golden import review_label
from tests.fakes_store import MemoryStore

Subject = MemoryStore | Store
HOUR = timedelta(hours=1)
DAY = ReviewFilter(NOW - 24 * HOUR, NOW + 24 * HOUR)
NOBODY: frozenset[str] = frozenset()


def judged(store: Subject, trace_id: str, outcome: Outcome = Outcome.GROUNDED, **fields: Any) -> None:
    """A stored trace with its verdict."""
    moment = fields.pop("ts", NOW)
    store.insert_traces([drawn_trace(trace_id, trace=trace(trace_id, ts=moment, **fields))])
    store.insert_verdicts([verdict(trace_id, outcome, ts=moment)])


def test_labels_read_back_equal_oldest_first(store: Subject) -> None:
    """Of answers and claims, whatever else was said of them before."""
    judged(store, "t-1")
    rows = [
        review_label(Outcome.HALLUCINATED, at=NOW + 3 * HOUR, note="the fee is 3 EUR"),
        review_label(Outcome.GROUNDED, at=NOW + 2 * HOUR),
        review_label(ClaimLabel.UNSUPPORTED, at=NOW + 2 * HOUR),
        review_label(Outcome.UNCLEAR, at=NOW + 2 * HOUR, reviewer="ben", is_second_opinion=True),
    ]
    store.reviews.insert_labels(rows, tenants=ALL_TENANTS)
    assert [rows[1], rows[3], rows[2], rows[0]] == store.reviews.labels(DAY, tenants=ALL_TENANTS)


def test_the_same_label_twice_is_one(store: Subject) -> None:
    """An import may be repeated; another label at the same time is another."""
    row = review_label()
    for _ in range(3):
        store.reviews.insert_labels([row, row], tenants=ALL_TENANTS)
    assert [row] == store.reviews.labels(DAY, tenants=ALL_TENANTS)
    store.reviews.insert_labels([review_label(Outcome.UNCLEAR)], tenants=ALL_TENANTS)
    assert 2 == len(store.reviews.labels(DAY, tenants=ALL_TENANTS))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (DAY, ["a", "b"]),
        (ReviewFilter(NOW, NOW + HOUR), ["a"]),
        (ReviewFilter(NOW - HOUR, NOW), ["b"]),
        (ReviewFilter(DAY.since, DAY.until, intents=("billing", "other")), ["b"]),
        (ReviewFilter(DAY.since, DAY.until, tier=RiskTier.MEDIUM), ["a"]),
    ],
)
def test_labels_and_pool_are_of_the_slices_and_times_asked_for(
    store: Subject, wanted: ReviewFilter, found: list[str]
) -> None:
    """By the answer's time: the beginning counts, the end does not."""
    judged(store, "a", Outcome.HALLUCINATED)
    judged(store, "b", intent="billing", tier=RiskTier.HIGH, ts=NOW - HOUR)
    billing = review_label(trace_id="b", ts=NOW - HOUR, intent="billing", tier=RiskTier.HIGH)
    store.reviews.insert_labels([review_label(trace_id="a"), billing], tenants=ALL_TENANTS)
    pool = store.reviews.pool(wanted, FINGERPRINT, tenants=ALL_TENANTS)
    labels = store.reviews.labels(wanted, tenants=ALL_TENANTS)
    assert (found, found) == (sorted(one.trace_id for one in pool), sorted(one.trace_id for one in labels))


def test_the_pool_holds_drawn_answers_that_this_detector_judged(store: Subject) -> None:
    """With what a draw needs to know; neither errors, nor what nobody drew, nor other detectors' verdicts."""
    judged(store, "good", ts=NOW - HOUR)
    judged(store, "bad", Outcome.HALLUCINATED)
    judged(store, "broken", Outcome.ERROR_TIMEOUT)
    store.insert_traces([drawn_trace("undrawn", draw=draw(drawn=False, u=0.9))])
    store.insert_verdicts([verdict("undrawn"), verdict("good", Outcome.HALLUCINATED, ts=NOW - HOUR, fingerprint="x")])
    pool = store.reviews.pool(DAY, FINGERPRINT, tenants=ALL_TENANTS)
    rest = {"revision": 1, "intent": "refunds", "tier": RiskTier.MEDIUM, "tenant": "acme", "inclusion_probability": 0.2}
    assert pool == [
        Reviewable(trace_id="good", ts=NOW - HOUR, outcome=Outcome.GROUNDED, **rest),
        Reviewable(trace_id="bad", ts=NOW, outcome=Outcome.HALLUCINATED, **rest),
    ]


def test_the_newest_fingerprint_is_that_of_the_newest_verdict(store: Subject) -> None:
    """Of these days; none when nothing was judged."""
    assert "" == store.reviews.newest_fingerprint(DAY)
    judged(store, "t-1")
    store.insert_verdicts([verdict(fingerprint="newer", verified_at=NOW + HOUR)])
    assert "newer" == store.reviews.newest_fingerprint(DAY)
    assert "" == store.reviews.newest_fingerprint(ReviewFilter(NOW - 2 * HOUR, NOW - HOUR))


def test_other_tenants_are_neither_drawn_nor_read(store: Subject) -> None:
    """Nor with no tenant at all."""
    judged(store, "a", tenant="acme")
    judged(store, "b", tenant="globex")
    rows = [review_label(trace_id="a"), review_label(trace_id="b", tenant="globex")]
    store.reviews.insert_labels(rows, tenants=ALL_TENANTS)
    for tenants, found in ((frozenset({"globex"}), ["b"]), (NOBODY, [])):
        assert found == [one.trace_id for one in store.reviews.pool(DAY, FINGERPRINT, tenants=tenants)]
        assert found == [one.trace_id for one in store.reviews.labels(DAY, tenants=tenants)]
        answers = store.reviews.answers([(NOW, "a"), (NOW, "b")], tenants=tenants)
        assert found == [trace_id for _, trace_id in answers]


def test_answers_come_whole_in_the_order_asked_for(store: Subject) -> None:
    """With every verdict, newest first; an unknown one is missing."""
    judged(store, "a")
    judged(store, "b")
    newer = verdict("b", fingerprint="newer", verified_at=NOW + HOUR)
    store.insert_verdicts([newer])
    found = store.reviews.answers([(NOW, "b"), (NOW, "unknown"), (NOW, "a")], tenants=ALL_TENANTS)
    assert [(NOW, "b"), (NOW, "a")] == list(found)
    assert (drawn_trace("b"), [newer, verdict("b")]) == (found[NOW, "b"].drawn, found[NOW, "b"].verdicts)


def test_hostile_names_and_notes_are_kept(store: Subject) -> None:
    """Quotes, NUL and escapes crash nobody."""
    judged(store, "t-1")
    store.reviews.insert_labels([review_label(reviewer="a'\x00--", note="\u001b[31m ' OR 1=1")], tenants=ALL_TENANTS)
    (found,) = store.reviews.labels(DAY, tenants=ALL_TENANTS)
    assert ("a'\x00--", "\u001b[31m ' OR 1=1") == (found.reviewer, found.note)
