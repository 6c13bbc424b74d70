"""Labels that come back: every row is checked, nothing is lost, and twice is once."""

from datetime import timedelta
from typing import Any, cast

import pytest

from sampling.review_labels import weights_of
from schemas.errors import NotReached
from schemas.labels import ClaimLabel, Outcome
from schemas.review import ReviewStratum
from streams.reviews.cases import golden_cases
from streams.reviews.exporting import Kind, Wanted, export
from streams.reviews.given import GivenLabel
from streams.reviews.importing import FROM_CLAIMS, Defaults, ReviewImport, import_labels
from streams.reviews.refs import opened
from streams.reviews.rows import ReviewRow, as_csv
from streams.reviews.summary import StatsWanted, review_stats
from streams.store import ALL_TENANTS, ReviewFilter, Store, Tenants
from tests.builders import FINGERPRINT, NOW, draw, drawn_trace, trace, verdict
from tests.fakes_store import MemoryStore

SALT = b"a salt for tests that is long enough"
DAY = timedelta(days=1)
WEEK = ReviewFilter(NOW - 7 * DAY, NOW + DAY)
LATER = Defaults(NOW + DAY, reviewer="ana")


@pytest.fixture
def store() -> MemoryStore:
    """Two hundred judged answers, a fifth of them flagged, of two tenants."""
    made = MemoryStore()
    for n in range(200):
        moment = NOW - timedelta(minutes=n)
        tenant = "globex" if n % 4 == 0 else "acme"
        made.insert_traces([drawn_trace(f"t-{n}", trace=trace(f"t-{n}", ts=moment, tenant=tenant), draw=draw())])
        outcome = Outcome.HALLUCINATED if n % 5 == 0 else Outcome.GROUNDED
        made.insert_verdicts([verdict(f"t-{n}", outcome, ts=moment)])
    made.rebuild_tallies(NOW)
    return made


def exported(store: MemoryStore, count: int = 10, tenants: Tenants = ALL_TENANTS, **fields: Any) -> list[ReviewRow]:
    """Rows of an export."""
    return export(cast("Store", store), Wanted(WEEK, count, **fields), SALT, tenants)


def taken(store: MemoryStore, rows: list[GivenLabel], defaults: Defaults = LATER, **how: Any) -> ReviewImport:
    """What became of labels."""
    return import_labels(cast("Store", store), rows, SALT, defaults, ALL_TENANTS, **how)


def said(row: ReviewRow, label: str = "grounded", claim: str = "", **fields: Any) -> GivenLabel:
    """One label on a row."""
    return GivenLabel(row=2, ref=row.ref, claim=claim, label=label, **fields)


def stored(store: MemoryStore) -> list[tuple[str, str, str]]:
    """Id, reviewer and label of everything that was said."""
    return [(one.trace_id, one.reviewer, one.label.value) for one in store.reviews.labels(WEEK, tenants=ALL_TENANTS)]


def test_an_export_repeats_itself_until_it_is_labelled_then_goes_on(store: MemoryStore) -> None:
    """The same sample grows; the strata have their shares."""
    first = exported(store)
    assert first == exported(store)
    assert 3 == sum(opened(row.ref, SALT).stratum is ReviewStratum.FLAGGED for row in first)
    taken(store, [said(row) for row in first])
    second = exported(store)
    assert set() == {row.trace_id for row in first} & {row.trace_id for row in second}
    fresh = {opened(row.ref, SALT).probability for row in exported(store, 20)}
    assert all(opened(row.ref, SALT).probability <= max(fresh) for row in second)


def test_an_export_has_the_tenants_of_its_reader_alone(store: MemoryStore) -> None:
    """And none without a tenant."""
    assert {"globex"} == {opened(row.ref, SALT).tenant for row in exported(store, tenants=frozenset({"globex"}))}
    assert [] == exported(store, tenants=frozenset())


def test_a_second_opinion_is_of_another_reviewer(store: MemoryStore) -> None:
    """On answers with one label, without it; those with two are done."""
    first = exported(store, 4)
    taken(store, [said(row) for row in first])
    assert [] == exported(store, kind=Kind.SECOND_OPINION, reviewer="ana")
    again = exported(store, kind=Kind.SECOND_OPINION, reviewer="ben")
    assert {row.trace_id for row in first} == {row.trace_id for row in again}
    taken(store, [said(again[0], "unclear", reviewer="ben")])
    assert 3 == len(exported(store, kind=Kind.SECOND_OPINION, reviewer="eve"))
    both = [one for one in store.reviews.labels(WEEK, tenants=ALL_TENANTS) if one.trace_id == again[0].trace_id]
    assert [("ana", False), ("ben", True)] == [(one.reviewer, one.is_second_opinion) for one in both]
    assert {opened(again[0].ref, SALT).stratum} == {one.stratum for one in both}


def test_disputed_answers_come_with_what_each_said(store: MemoryStore) -> None:
    """Of answers and of claims, until somebody settles them."""
    rows = exported(store, 3)
    for reviewer, label in (("ana", "supported"), ("ben", "unclear")):
        taken(store, [said(rows[0], reviewer=reviewer), said(rows[0], label, "0", reviewer=reviewer)])
    taken(store, [said(rows[1]), said(rows[1], "unclear", reviewer="ben"), said(rows[2])])
    found = {row.trace_id: row for row in exported(store, kind=Kind.DISPUTED)}
    assert {rows[0].trace_id, rows[1].trace_id} == set(found)
    assert "ana: supported; ben: unclear" == found[rows[0].trace_id].claims[0].said
    assert "ana: grounded; ben: unclear" == found[rows[1].trace_id].said
    assert "ben: unclear" in as_csv(list(found.values()), is_blind=True)
    settled = [said(found[rows[1].trace_id]), said(found[rows[0].trace_id], "supported", "0")]
    taken(store, settled, Defaults(NOW + 2 * DAY, "lead", is_adjudication=True))
    assert [] == exported(store, kind=Kind.DISPUTED)


def test_a_named_answer_is_in_no_estimate_and_still_drawn(store: MemoryStore) -> None:
    """Whoever picks an answer does not draw it; an unknown one is told."""
    (drawn,) = exported(store, 1)
    (row,) = exported(store, kind=Kind.NAMED, trace_ids=(drawn.trace_id,))
    assert ReviewStratum.ASKED is opened(row.ref, SALT).stratum
    taken(store, [said(row)])
    assert 0 == review_stats(cast("Store", store), StatsWanted(WEEK), ALL_TENANTS).corrected.labels
    assert [drawn.trace_id] == [again.trace_id for again in exported(store, 1)]
    with pytest.raises(NotReached, match="no trace 'x'"):
        exported(store, kind=Kind.NAMED, trace_ids=("x",))


def test_a_label_keeps_how_its_answer_was_drawn(store: MemoryStore) -> None:
    """Slice, tenant, stratum and both probabilities."""
    (row,) = exported(store, 1)
    taken(store, [said(row)])
    (label,) = store.reviews.labels(WEEK, tenants=ALL_TENANTS)
    ref = opened(row.ref, SALT)
    assert ref.model_dump(exclude={"claims"}).items() <= label.model_dump().items()
    assert (FINGERPRINT, NOW + DAY) == (label.fingerprint, label.at)


def test_a_file_handed_in_twice_changes_nothing(store: MemoryStore) -> None:
    """Nor once more days later, nor when more of it is filled in; a changed label is added to the old one."""
    one, other = exported(store, 2)
    assert (1, 0) == (taken(store, [said(one)]).taken, taken(store, [said(one)], Defaults(NOW + 2 * DAY, "ana")).taken)
    more = taken(store, [said(one), said(other)], Defaults(NOW + 2 * DAY, "ana"))
    assert (1, 1) == (more.taken, more.unchanged)
    assert 1 == taken(store, [said(one, "unclear")], Defaults(NOW + 3 * DAY, "ana")).taken
    assert [(one.trace_id, "ana", "grounded"), (one.trace_id, "ana", "unclear")] == [
        found for found in stored(store) if found[0] == one.trace_id
    ]


@pytest.mark.parametrize(
    ("fields", "field", "says"),
    [
        ({"label": "wrong"}, "label", "'wrong' is no label; use one of abstained, grounded, hallucinated, unclear"),
        ({"label": "supported"}, "label", "use one of abstained"),
        ({"claim": "0", "label": "grounded"}, "label", "use one of contradicted, not_factual"),
        ({"claim": "7", "label": "supported"}, "claim", "'7' is no claim of this answer (0 to 0)"),
        ({"claim": "x", "label": "supported"}, "claim", "'x' is no claim"),
        ({"labelled_at": "10.03.2026"}, "labelled_at", "is no time; write 2026-03-10T12:00Z"),
        ({"labelled_at": "2026-03-10T12:00"}, "labelled_at", "has no time zone; for UTC write 2026-03-10T12:00Z"),
        ({"labelled_at": "2027-03-10T12:00Z"}, "labelled_at", "lies in the future"),
        ({"labelled_at": "2025-03-10T12:00Z"}, "labelled_at", "is before the answer itself"),
        ({"trace_id": "t-other"}, "trace_id", "did rows get mixed up?"),
        ({"ref": "r1.broken"}, "ref", "is no ref of this deployment"),
        ({"ref": ""}, "ref", "nothing is no ref"),
        ({"reviewer": "x" * 201}, "reviewer", "at most 200"),
        ({"note": "x" * 2001}, "note", "at most 2000"),
    ],
)
def test_a_faulty_row_is_named_and_stops_all(store: MemoryStore, fields: dict[str, Any], field: str, says: str) -> None:
    """With its number and field; the good row beside it is not taken either."""
    one, other = exported(store, 2)
    bad = said(one).model_copy(update=fields)
    found = taken(store, [said(other), bad])
    assert (0, 2, field, True) == (
        found.taken,
        found.faults[0].row,
        found.faults[0].field,
        says in str(found.faults[0]),
    )
    assert [] == stored(store)


def test_nobody_labels_answers_of_another_tenant(store: MemoryStore) -> None:
    """Even with a file that somebody else exported."""
    (row,) = exported(store, 1, tenants=frozenset({"globex"}))
    found = import_labels(cast("Store", store), [said(row)], SALT, LATER, frozenset({"acme"}))
    assert (0, "ref") == (found.taken, found.faults[0].field)
    assert [] == stored(store)


def test_a_row_without_a_reviewer_is_a_fault(store: MemoryStore) -> None:
    """Nobody is made up."""
    found = taken(store, [said(exported(store, 1)[0])], Defaults(NOW + DAY))
    assert ["reviewer"] == [fault.field for fault in found.faults]


def test_two_labels_at_once_are_a_fault(store: MemoryStore) -> None:
    """Which one is meant cannot be told."""
    (row,) = exported(store, 1)
    found = taken(store, [said(row), said(row, "unclear")])
    assert "both grounded and unclear; keep one" in str(found.faults[0])


def test_checking_takes_nothing(store: MemoryStore) -> None:
    """And says what would be taken."""
    assert 1 == taken(store, [said(exported(store, 1)[0])], check_only=True).taken
    assert [] == stored(store)


def test_an_answer_left_empty_gets_its_label_from_its_claims(store: MemoryStore) -> None:
    """When all are labelled or one is wrong; a label of its own goes first."""
    one, other, third = exported(store, 3)
    found = taken(store, [said(one, "contradicted", "0"), said(other, "supported", "0"), said(other, "unclear")])
    assert (4, 1) == (found.taken, found.derived)
    labels = {(row.trace_id, row.claim_index): row for row in store.reviews.labels(WEEK, tenants=ALL_TENANTS)}
    assert (Outcome.HALLUCINATED, FROM_CLAIMS) == (
        labels[one.trace_id, None].answer_label,
        labels[one.trace_id, None].note,
    )
    assert Outcome.UNCLEAR is labels[other.trace_id, None].answer_label
    assert 0 == taken(store, [said(third, "not_factual", "0")]).derived


def test_statistics_tell_labels_agreement_and_what_to_settle(store: MemoryStore) -> None:
    """An adjudication settles a disagreement."""
    rows = exported(store, 12)
    taken(store, [said(row) for row in rows])
    taken(store, [said(row, "grounded" if n else "hallucinated", reviewer="ben") for n, row in enumerate(rows)])
    taken(store, [said(rows[1], "supported", "0")])
    wanted = StatsWanted(WEEK)
    found = review_stats(cast("Store", store), wanted, ALL_TENANTS)
    assert (12, 1, {"ana": 12, "ben": 12}) == (found.answers, found.claims, found.reviewers)
    assert [("answers", "", 12), ("answers", "refunds", 12)] == [
        (row.what, row.intent, row.n) for row in found.agreement
    ]
    (open_one,) = found.disagreements
    assert (rows[0].trace_id, ["grounded", "hallucinated"]) == (
        open_one.trace_id,
        [opinion.label for opinion in open_one.opinions],
    )
    taken(store, [said(rows[0], "unclear")], Defaults(NOW + 2 * DAY, "lead", is_adjudication=True))
    settled = review_stats(cast("Store", store), wanted, ALL_TENANTS)
    assert ((), {"grounded": 11, "unclear": 1}) == (settled.disagreements, settled.labels)
    assert (None, 11, 1) == (settled.corrected.rate, settled.corrected.labels, settled.corrected.undecided)


def test_enough_labels_correct_the_rate(store: MemoryStore) -> None:
    """All 200 answers labelled: the estimate is what people found."""
    rows = exported(store, 200)
    bad = {row.trace_id for row in rows if int(row.trace_id[2:]) % 10 == 0}
    taken(store, [said(row, "hallucinated" if row.trace_id in bad else "grounded") for row in rows])
    found = review_stats(cast("Store", store), StatsWanted(WEEK), ALL_TENANTS).corrected
    assert (40, 160) == (found.flagged_labels, found.unflagged_labels)
    assert (None, 20) == (found.rate, found.missing_flagged)
    assert (0.5, 0.0) == (found.precision, found.false_omission)


def test_a_slice_that_is_drawn_twice_does_not_count_twice(store: MemoryStore) -> None:
    """Labels of a draw of all slices and of one of a single slice stand together for all traffic, once."""
    for n in range(200, 600):
        made = trace(f"t-{n}", ts=NOW - timedelta(minutes=n), intent="fees")
        store.insert_traces([drawn_trace(f"t-{n}", trace=made, draw=draw())])
        store.insert_verdicts([verdict(f"t-{n}", ts=made.ts, intent="fees")])
    taken(store, [said(row) for row in exported(store, 120)])
    fees = Wanted(ReviewFilter(WEEK.since, WEEK.until, intents=("fees",)), 100)
    taken(store, [said(row) for row in export(cast("Store", store), fees, SALT, ALL_TENANTS)])
    labels = [one for one in store.reviews.labels(WEEK, tenants=ALL_TENANTS) if one.stratum is ReviewStratum.UNFLAGGED]
    weights = weights_of(labels)
    of_fees = sum(weight for label, weight in zip(labels, weights, strict=True) if label.intent == "fees")
    assert 400 / 0.2 == pytest.approx(of_fees, rel=0.15)
    assert 160 / 0.2 == pytest.approx(sum(weights) - of_fees, rel=0.3)
    assert 1.4 * of_fees < sum(label.weight for label in labels if label.intent == "fees")


def test_a_sample_that_grew_has_one_weight(store: MemoryStore) -> None:
    """What was taken first does not count for more than what was added."""
    for _ in range(3):
        taken(store, [said(row) for row in exported(store, 20)])
    labels = store.reviews.labels(WEEK, tenants=ALL_TENANTS)
    unflagged = [one for one in labels if one.stratum is ReviewStratum.UNFLAGGED]
    assert 1 == len({round(weight, 6) for weight in weights_of(unflagged)})
    assert 3 == len({round(one.weight, 6) for one in unflagged})
    assert 160 / 0.2 == pytest.approx(sum(weights_of(unflagged)), rel=0.2)


def test_settled_answers_become_golden_cases(store: MemoryStore) -> None:
    """With passages seen, claims and every label; what is not settled is told and left out."""
    one, other = exported(store, 2)
    taken(store, [said(one, "hallucinated"), said(one, "contradicted", "0"), said(other)])
    taken(store, [said(other, "unclear", reviewer="ben")])
    cases, refused = golden_cases(cast("Store", store), WEEK, ALL_TENANTS)
    assert [one.trace_id] == [case.case_id for case in cases]
    assert (Outcome.HALLUCINATED, ClaimLabel.CONTRADICTED) == (cases[0].answer_label, cases[0].claims[0].label)
    assert (["refunds"], "acme" in cases[0].model_dump_json()) == ([seen.doc_id for seen in cases[0].given], False)
    assert [f"{other.trace_id}: reviewers disagree (ana: grounded, ben: unclear)"] == [
        reason.split(";")[0] for reason in refused
    ]
    taken(store, [said(other, "grounded")], Defaults(NOW + 2 * DAY, "lead", is_adjudication=True))
    cases, _ = golden_cases(cast("Store", store), WEEK, ALL_TENANTS)
    history = {case.case_id: case.answer_labels for case in cases}[other.trace_id]
    assert ["ana", "ben", "lead"] == [label.author for label in history]
