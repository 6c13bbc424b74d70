"""Splitting, adding, relabelling, comparing and counting: nothing that was said is lost."""

from datetime import timedelta
from typing import Any

import pytest

from detectors.golden import GoldenSet
from detectors.golden.columns import case_of, mapped
from detectors.golden.diffing import diff_golden
from detectors.golden.editing import add_cases, relabel_answer, relabel_claim
from detectors.golden.splitting import split_cases
from detectors.golden.stats import ENOUGH_LABELS, stats_of
from schemas.errors import ConfigError
from schemas.golden import GoldenCase, Split
from schemas.labels import ClaimLabel, Outcome, RiskTier
from tests.builders import NOW
from tests.builders_golden import golden_case, golden_claim, labelled_answer, labelled_claim

WORDS = ("harbour", "lantern", "tariff", "bicycle", "cabin", "winter", "ticket", "island", "captain", "rope", "engine")


def many(count: int, **fields: Any) -> GoldenSet:
    """Cases with questions that are not alike."""
    cases = [
        golden_case(f"c-{n:03}", question=f"{WORDS[n % 11]} {WORDS[n // 11 % 11]} {n * 7919}?", **fields)
        for n in range(count)
    ]
    return GoldenSet(tuple(cases))


def test_shares_are_kept_and_the_seed_decides_who() -> None:
    """To within a case, and the order of the file does not matter."""
    golden = many(100)
    done = split_cases(golden, seed="7", shares={Split.DEV: 0.6, Split.HOLDOUT: 0.4})
    turned = split_cases(GoldenSet(golden.cases[::-1]), seed="7", shares={Split.DEV: 0.6, Split.HOLDOUT: 0.4})
    other = split_cases(golden, seed="8", shares={Split.DEV: 0.6, Split.HOLDOUT: 0.4})
    assert (0, 60, 40) == tuple(len(done.part(split).cases) for split in Split)
    assert (done.version, True) == (turned.version, done.version != other.version)


def test_every_kind_has_its_share_in_the_holdout() -> None:
    """Rare kinds are not left to chance."""
    cases = [
        *many(90).cases,
        *(
            case.model_copy(
                update={
                    "case_id": f"x{case.case_id}",
                    "intent": "rare",
                    "question": f"{case.question} rare {case.case_id * 3}",
                }
            )
            for case in many(10).cases
        ),
    ]
    done = split_cases(GoldenSet(tuple(cases)), seed="1", shares={Split.DEV: 0.7, Split.HOLDOUT: 0.3})
    assert 3 == sum(case.intent == "rare" for case in done.part(Split.HOLDOUT).cases)


@pytest.mark.parametrize("name", ["source_id", "trace_id"])
def test_a_group_is_never_torn(name: str) -> None:
    """Cases of one source or trace go together."""
    cases = [case.model_copy(update={name: f"s{n % 5}"}) for n, case in enumerate(many(40).cases)]
    done = split_cases(GoldenSet(tuple(cases)), seed="1", shares={Split.DEV: 0.5, Split.HOLDOUT: 0.5})
    assert 5 == len({(getattr(case, name), case.split) for case in done.cases})


def test_a_locked_holdout_stays_and_gets_nobody_else() -> None:
    """The others go to the other splits, whatever the shares."""
    first = split_cases(many(40), seed="1")
    held = frozenset(case.case_id for case in first.part(Split.HOLDOUT).cases)
    again = split_cases(GoldenSet((*first.cases, *many(60).cases[40:])), seed="2", locked=held)
    assert held == {case.case_id for case in again.part(Split.HOLDOUT).cases}
    assert 48 == len(again.part(Split.DEV).cases)


@pytest.mark.parametrize("shares", [{Split.DEV: 0.5}, {Split.DEV: 1.5, Split.HOLDOUT: -0.5}])
def test_shares_that_do_not_add_up_are_refused(shares: dict[Split, float]) -> None:
    """With what would be right."""
    with pytest.raises(ConfigError, match="add up to 1"):
        split_cases(many(3), seed="", shares=shares)


def test_adding_a_case_twice_changes_nothing() -> None:
    """An import may be repeated."""
    once = add_cases(many(3), [golden_case("new")])
    twice = add_cases(once.golden, [golden_case("new")])
    assert (("new",), (), ("new",), once.golden) == (once.new, twice.new, twice.already, twice.golden)


def test_a_case_said_again_only_brings_its_labels() -> None:
    """Both histories are merged by time; who adds claims to a case without, adds them."""
    later = labelled_answer(Outcome.HALLUCINATED, at=NOW + timedelta(days=1), author="ben")
    bad = (golden_claim(labels=(labelled_claim(ClaimLabel.CONTRADICTED, at=NOW + timedelta(days=1)),)),)
    added = add_cases(GoldenSet((golden_case(),)), [golden_case(answer_labels=(later,), claims=bad)])
    (case,) = added.golden.cases
    assert (("c-1",), (labelled_answer(), later)) == (added.more, case.answer_labels)
    assert (2, ClaimLabel.CONTRADICTED) == (len(case.claims[0].labels), case.claims[0].label)
    bare = add_cases(GoldenSet((golden_case(claims=()),)), [golden_case()])
    assert (golden_claim(),) == bare.golden.cases[0].claims


def test_a_case_that_says_something_else_is_refused() -> None:
    """By field; the split of the file stays."""
    added = add_cases(GoldenSet((golden_case(split=Split.TRAIN),)), [golden_case(), golden_case(owner="x")])
    assert ["c-1: owner is not as in the set; give it another id, or change the case in the file"] == list(
        added.refused
    )
    assert Split.TRAIN is added.golden.cases[0].split


def test_a_new_case_goes_to_the_split_of_its_group() -> None:
    """So that adding never makes a leak."""
    known = golden_case("a", split=Split.HOLDOUT)
    added = add_cases(GoldenSet((known,)), [golden_case("b", question="How long can I return my orders?")])
    assert [Split.HOLDOUT, Split.HOLDOUT] == [case.split for case in added.golden.cases]


def test_relabelling_keeps_the_old_label_its_author_and_date() -> None:
    """Of the answer and of a claim."""
    label = labelled_answer(Outcome.HALLUCINATED, author="ben", at=NOW + timedelta(days=1))
    golden = relabel_answer(GoldenSet((golden_case(),)), "c-1", label)
    assert (labelled_answer(), label) == golden.cases[0].answer_labels
    of_claim = labelled_claim(ClaimLabel.UNCLEAR, author="ben", at=NOW + timedelta(days=1))
    again = relabel_claim(golden, "c-1", 0, of_claim)
    assert (labelled_claim(), of_claim) == again.cases[0].claims[0].labels
    assert again == relabel_claim(again, "c-1", 0, of_claim)


def test_relabelling_what_is_not_there_says_what_is() -> None:
    """Case, claim and answer."""
    golden = GoldenSet((golden_case(), golden_case("bare", answer="", claims=(), answer_labels=())))
    with pytest.raises(ConfigError, match="no case 'x'"):
        relabel_answer(golden, "x", labelled_answer())
    with pytest.raises(ConfigError, match="no recorded answer"):
        relabel_answer(golden, "bare", labelled_answer())
    with pytest.raises(ConfigError, match="claims 0 to 0, and not 1"):
        relabel_claim(golden, "c-1", 1, labelled_claim())


def test_a_diff_names_every_changed_field_and_label() -> None:
    """With author and date of labels; order is no difference."""
    before = GoldenSet((golden_case("a"), golden_case("b")))
    after = relabel_answer(GoldenSet((golden_case("c"), golden_case("a", owner="ben"))), "a", labelled_answer(
        Outcome.UNCLEAR, at=NOW + timedelta(days=1)
    ))  # fmt: skip
    found = diff_golden(before, after)
    assert (("c",), ("b",), False) == (found.added, found.removed, found.is_same)
    assert [("owner", "support", "ben"), ("answer_labels", "grounded (ana, 2026-03-10 12:00)")] == [
        (found.changes[0].field, found.changes[0].before, found.changes[0].after),
        (found.changes[1].field, found.changes[1].before),
    ]
    assert diff_golden(before, GoldenSet(before.cases[::-1])).is_same


def test_stats_count_labels_and_say_how_many_are_missing() -> None:
    """By split and slice; an answer whose label follows from its claims counts."""
    golden = GoldenSet(
        (
            golden_case("a", answer_labels=(labelled_answer(Outcome.UNCLEAR), labelled_answer())),
            golden_case("b", answer_labels=(), tier=RiskTier.HIGH),
            golden_case("c", split=Split.HOLDOUT, answer="", answer_labels=(), claims=(), owner=""),
        )
    )
    found = stats_of(golden)
    assert (3, 2, 2, 1) == (found.whole.cases, found.whole.with_answer, found.whole.labelled, found.whole.relabelled)
    assert {Split.DEV: ENOUGH_LABELS - 2, Split.HOLDOUT: ENOUGH_LABELS} == found.missing_labels
    assert [("refunds", RiskTier.HIGH, 1), ("refunds", RiskTier.MEDIUM, 2)] == [
        (part.intent, part.tier, part.cases) for part in found.slices
    ]
    assert ({Outcome.GROUNDED: 2}, {"support": 2, "": 1}) == (found.whole.labels, found.owners)


def imported(row: dict[str, Any], **how: Any) -> GoldenCase:
    """A row as a case, mapped as said."""
    given = {"columns": {}, "values": {}, "defaults": {}, "separator": ";", **how}
    return case_of(row, mapped(**given))


def test_a_row_is_read_by_the_names_of_its_columns() -> None:
    """Nested ones by a path; lists are parted; words translated; what is missing gets a default."""
    case = imported(
        {"id": 7, "in": {"q": "Why?"}, "docs": "a; b;", "ok": "nein", "bad": 1, "seen": ["One.", "Two."], "a": "Yes."},
        columns={
            "case_id": "id", "question": "in.q", "required_sources": "docs", "is_answerable": "ok",
            "answer_label": "bad", "given": "seen", "answer": "a",
        },
        values={"nein": "no", "1": "hallucinated"},
        defaults={"author": "ana", "labelled_at": "2026-03-10T12:00:00Z", "intent": "faq", "tier": "HIGH"},
    )  # fmt: skip
    assert ("7", "Why?", ("a", "b"), False) == (case.case_id, case.question, case.required_sources, case.is_answerable)
    assert (labelled_answer(Outcome.HALLUCINATED),) == case.answer_labels
    assert (["One.", "Two."], "faq", RiskTier.HIGH) == ([one.text for one in case.given], case.intent, case.tier)


def test_a_row_without_an_id_has_the_same_one_at_every_import() -> None:
    """Made from what is asked and answered."""
    one, other = imported({"question": "Why?", "owner": "x"}), imported({"question": "Why?", "owner": "y"})
    assert one.case_id == other.case_id
    assert one.case_id != imported({"question": "Why?", "answer": "So."}).case_id


@pytest.mark.parametrize(
    ("row", "how", "said"),
    [
        ({"question": ""}, {}, "question: Field required"),
        ({"q": "x"}, {"columns": {"question": "frage"}}, "question: the row has no column 'frage'; it has q"),
        ({"question": "x", "tier": "urgent"}, {}, "tier: Input should be"),
        ({"question": "x", "is_answerable": "maybe"}, {}, "is_answerable: 'maybe' is neither yes nor no"),
        ({"question": "x", "answer": "y", "answer_label": "grounded"}, {}, "a label needs author"),
        (
            {"question": "x", "answer": "y", "answer_label": "grounded", "author": "a", "labelled_at": "gestern"},
            {},
            "labelled_at: 'gestern' is no time",
        ),
    ],
)
def test_a_row_that_cannot_be_a_case_names_its_field(row: dict[str, Any], how: dict[str, Any], said: str) -> None:
    """And what to do."""
    with pytest.raises(ConfigError) as refused:
        imported(row, **how)
    assert said in str(refused.value)


def test_a_mapping_of_a_field_that_is_none_is_refused() -> None:
    """With the fields there are."""
    with pytest.raises(ConfigError, match="'frage' is no field of a case"):
        mapped({"frage": "question"}, {}, {}, ";")
