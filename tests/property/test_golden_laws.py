"""Laws of golden sets that hold whatever the cases are."""

from hypothesis import given
from hypothesis import strategies as st

from detectors.golden import GoldenSet, golden_text, parse_golden
from detectors.golden.editing import add_cases
from detectors.golden.groups import groups_of
from detectors.golden.leaks import leak_problems
from detectors.golden.near import jaccard, near_pairs, trigrams
from detectors.golden.splitting import split_cases
from schemas.golden import GoldenCase, Split
from schemas.labels import ClaimLabel
from tests.builders_golden import golden_case, golden_claim

TEXTS = st.lists(st.text(st.sampled_from("abé 1.日"), max_size=12), max_size=12)
LABELS = st.lists(st.none() | st.sampled_from(ClaimLabel), max_size=2)
QUESTIONS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


@st.composite
def cases(draw: st.DrawFn) -> tuple[GoldenCase, ...]:
    """Cases with ids of their own; a few sources and questions, so that groups form."""
    count = draw(st.integers(0, 12))
    return tuple(
        golden_case(
            f"c-{number}",
            question=draw(st.sampled_from(["How long?", "how long", "What does it cost?"]) | QUESTIONS),
            source_id=draw(st.sampled_from(["", "", "s-1", "s-2"])),
            split=draw(st.sampled_from(Split)),
            claims=tuple(golden_claim(label) for label in draw(LABELS)),
            answer_labels=(),
        )
        for number in range(count)
    )


@given(TEXTS, st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0]))
def test_near_pairs_are_those_that_every_comparison_finds(texts: list[str], similarity: float) -> None:
    """The filter skips only what cannot be near."""
    grams = [trigrams(text) for text in texts]
    slow = {
        (first, second)
        for second in range(len(texts))
        for first in range(second)
        if jaccard(grams[first], grams[second]) >= similarity
    }
    assert slow == {(pair.first, pair.second) for pair in near_pairs(texts, similarity)}


@given(cases())
def test_what_is_written_is_read(given_cases: tuple[GoldenCase, ...]) -> None:
    """Whatever letters a question has, line separators of Unicode included."""
    golden, faults = parse_golden(golden_text(given_cases).split("\n"))
    assert ([], given_cases) == (faults, golden.cases)


@given(cases(), st.text(max_size=5), st.floats(0, 1))
def test_no_split_makes_a_leak(given_cases: tuple[GoldenCase, ...], seed: str, share: float) -> None:
    """Whatever seed and shares, every case is in exactly one split, and no group is torn."""
    done = split_cases(GoldenSet(given_cases), seed=seed, shares={Split.DEV: share, Split.HOLDOUT: 1 - share})
    assert [case.case_id for case in given_cases] == [case.case_id for case in done.cases]
    assert [] == [problem for problem in leak_problems(done, 0.8) if not problem.is_doubt]


@given(cases(), st.text(max_size=5))
def test_a_locked_case_never_moves(given_cases: tuple[GoldenCase, ...], seed: str) -> None:
    """And only its own group joins it."""
    held = {case.case_id for case in given_cases if case.split is Split.HOLDOUT}
    done = split_cases(GoldenSet(given_cases), seed=seed, locked=frozenset(held))
    bound = {
        given_cases[place].case_id
        for group in groups_of(given_cases)
        for place in group
        if any(given_cases[other].case_id in held for other in group)
    }
    if held:
        assert bound == {case.case_id for case in done.part(Split.HOLDOUT).cases}


@given(cases(), cases())
def test_adding_is_idempotent_and_loses_no_label(one: tuple[GoldenCase, ...], two: tuple[GoldenCase, ...]) -> None:
    """Every label of both sets is in the result, unless its case was refused."""
    once = add_cases(GoldenSet(one), two)
    twice = add_cases(once.golden, two)
    assert once.golden == twice.golden
    refused = {reason.split(":")[0] for reason in once.refused}
    after = once.golden.by_id()
    for case in (*one, *(case for case in two if case.case_id not in refused)):
        found = after[case.case_id].claims
        for claim, kept in zip(case.claims, found, strict=False):
            assert set(claim.labels) <= set(kept.labels)
