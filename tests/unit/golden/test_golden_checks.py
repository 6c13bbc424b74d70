"""Faults that a set of well-formed cases can have, each found and told with its fix."""

from datetime import timedelta
from typing import Any

import pytest

from detectors.golden import GoldenSet, locked
from detectors.golden.checks import Expected, named_in, problems_of
from detectors.golden.near import near_pairs, normal, trigrams
from schemas.golden import GoldenCase, GoldenPassage, Split
from schemas.labels import ClaimLabel, Outcome, RiskTier
from schemas.policy import Allocation, IntentRules, Sampling
from tests.builders import ANSWER, NOW, policy
from tests.builders_golden import golden_case, golden_claim, labelled_answer, labelled_claim

EXPECTED = Expected(NOW + timedelta(days=1))
OTHER = {"question": "Do dogs travel for free?"}


def told(*cases: GoldenCase, expected: Expected = EXPECTED) -> list[tuple[str, str, bool]]:
    """Id, field and kind of every problem."""
    found = problems_of(GoldenSet(cases, tuple(range(1, len(cases) + 1))), expected)
    return [(problem.case_id, problem.field, problem.is_doubt) for problem in found]


def test_a_good_set_has_no_problem() -> None:
    """Neither fault nor doubt."""
    assert [] == told(golden_case("a"), golden_case("b", **OTHER, split=Split.HOLDOUT))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"is_answerable": False, "answer": "", "answer_labels": (), "claims": ()}, "required_sources"),
        ({"is_answerable": False, "required_sources": ()}, "answer_labels"),
        ({"required_sources": ("refunds", "fees")}, "required_sources"),
        ({"required_sources": (), "forbidden_sources": ("refunds",)}, "passages"),
        ({"claims": (golden_claim(evidence=("fees",)),)}, "claims[0].evidence"),
        ({"answer_labels": (labelled_answer(author=" "),)}, "answer_labels[0].author"),
        ({"answer_labels": (labelled_answer(at=NOW + timedelta(days=2)),)}, "answer_labels[0].at"),
        (
            {"claims": (golden_claim(labels=(labelled_claim(), labelled_claim(at=NOW - timedelta(days=1)))),)},
            "claims[0].labels[1].at",
        ),
        ({"claims": (golden_claim(ClaimLabel.UNSUPPORTED),)}, "answer_labels"),
        ({"answer_labels": (labelled_answer(Outcome.HALLUCINATED),)}, "answer_labels"),
        ({"answer_labels": (labelled_answer(Outcome.ABSTAINED),)}, "answer_labels"),
    ],
)
def test_a_case_that_denies_itself_is_a_fault(fields: dict[str, Any], field: str) -> None:
    """One fault each, with its field."""
    assert [("a", field, False)] == told(golden_case("a", **fields))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"claims": (golden_claim(text="You have a month."),)}, "claims[0].text"),
        ({"passages": (GoldenPassage(doc_id="refunds"),)}, "given"),
        (
            {
                "passages": (),
                "required_sources": (),
                "reference_answer": "",
                "answer": "",
                "claims": (),
                "answer_labels": (),
            },
            "reference_answer",
        ),
    ],
)
def test_what_is_odd_is_a_doubt(fields: dict[str, Any], field: str) -> None:
    """It may be meant."""
    assert [("a", field, True)] == told(golden_case("a", **fields))


def test_a_labelled_answer_needs_no_reference() -> None:
    """Reviewed answers come without: their labels are what is checked."""
    seen = golden_case("a").passages
    assert [] == told(golden_case("a", passages=(), given=seen, required_sources=(), reference_answer=""))


def test_a_claim_that_nobody_labelled_contradicts_nothing() -> None:
    """The answer's own label stands."""
    assert [] == told(golden_case("a", claims=(golden_claim(None),)))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"question": "How long can I return my order"}, "question"),
        ({"question": "HOW LONG can I return  my orders?"}, "question"),
        ({**OTHER, "source_id": "s"}, "source_id"),
        ({**OTHER, "trace_id": "t"}, "trace_id"),
    ],
)
def test_what_was_tuned_on_is_not_measured_on(fields: dict[str, Any], field: str) -> None:
    """Same source, same trace, or nearly the same question on both sides of a split."""
    first = golden_case("a", source_id="s", trace_id="t")
    second = golden_case("b", split=Split.HOLDOUT, **fields)
    assert [("b", field, False)] == told(first, second)
    assert [] == [kind for kind in told(first, second.model_copy(update={"split": Split.DEV})) if not kind[2]]


def test_one_answer_has_one_label() -> None:
    """Two cases that call the same answer to the same question differently: one of them is wrong."""
    second = golden_case("b", answer=f" {ANSWER} ", answer_labels=(labelled_answer(Outcome.UNCLEAR),), claims=())
    assert ("b", "answer_labels", False) in told(golden_case("a"), second)


def test_a_question_cannot_be_answerable_and_not() -> None:
    """On the same corpus; on another one it may."""
    second = golden_case("b", is_answerable=False, required_sources=(), answer="", answer_labels=(), claims=())
    assert [("b", "is_answerable", False)] == told(golden_case("a"), second)
    assert [] == told(golden_case("a"), second.model_copy(update={"corpus_version": "c-2"}))


def test_the_same_case_twice_is_a_doubt() -> None:
    """Only one of the two adds anything; another recorded answer does."""
    assert [("b", "question", True)] == told(golden_case("a"), golden_case("b"))
    other = golden_case("b", answer="Within a month.", claims=(), answer_labels=())
    assert [] == told(golden_case("a"), other)


def test_a_policy_names_intents_and_tiers() -> None:
    """Cases of others are faults; a policy that names none restricts nothing."""
    assert (None, None) == named_in(policy())
    rules = policy(
        intents={"*": IntentRules(), "fees": IntentRules()},
        bars={RiskTier.HIGH: 0.8},
        sampling=Sampling(allocations=(Allocation(intent="pets", tier=RiskTier.LOW, probability=0.5),)),
    )
    intents, tiers = named_in(rules)
    assert (frozenset({"fees", "pets"}), frozenset({RiskTier.HIGH, RiskTier.LOW})) == (intents, tiers)
    expected = Expected(EXPECTED.now, intents=intents, tiers=tiers)
    assert [("a", "intent", False), ("a", "tier", False)] == told(golden_case("a"), expected=expected)
    assert [] == told(golden_case("a", intent="unmapped", tier=RiskTier.LOW), expected=expected)


def test_a_locked_case_that_changed_is_a_fault() -> None:
    """With its line, where it has one."""
    lock = locked(GoldenSet((golden_case("a", split=Split.HOLDOUT),)), seed="", author="ana", now=NOW)
    changed = golden_case("a", split=Split.HOLDOUT, owner="x")
    assert [("a", "split", False)] == told(changed, expected=Expected(EXPECTED.now, lock))


@pytest.mark.parametrize(
    ("one", "other", "is_near"),
    [
        ("Wie lange gilt die Garantie?", "wie lange gilt die garantie", True),
        ("What does form A12 cost to renew?", "What does form A13 cost to renew?", True),
        ("Can I take my dog on board?", "Can I take my bicycle on board?", False),
        ("運賃はいくらですか。子供も同じですか", "運賃はいくらですか？子供も同じですか。", True),
        ("???", "!!!", False),
        ("", "", False),
    ],
)
def test_near_is_a_matter_of_letters(one: str, other: str, is_near: bool) -> None:
    """Case, width and punctuation aside, in any script; two empty texts are not alike."""
    assert is_near == bool(list(near_pairs([one, other])))


def test_normal_text_has_words_alone() -> None:
    """And full-width letters are letters."""
    assert "fee 3 eur" == normal("  Ｆee: 3 EUR!")
    assert frozenset({" a "}) == trigrams("A")
