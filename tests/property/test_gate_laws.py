"""Laws of the gate: comparing is symmetric, order decides nothing, no answer makes a case disappear."""

from dataclasses import replace
from itertools import pairwise
from math import comb

from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from detectors.gate import CaseResult, RunAnswer, Status, buckets_of, evaluate, match_answers, measure
from sampling.paired import PairedCounts, mcnemar_exact, paired_difference
from schemas.golden import GoldenPassage
from schemas.labels import Outcome, RiskTier
from schemas.trace import Passage
from streams.gate.comparison import compare
from streams.gate.gates import gate_results
from streams.gate.limits import limits_of
from tests.builders import trace
from tests.builders_gate import RULES, answered, case_result
from tests.builders_golden import golden_case

STATES = st.lists(
    st.tuples(st.sampled_from(Status), st.sampled_from(Status), st.sampled_from(["fees", "travel"])), max_size=30
)
COUNTS = st.builds(PairedCounts, *[st.integers(0, 60)] * 4)
LIMITS = limits_of()


def runs(states: list[tuple[Status, Status, str]]) -> tuple[list[CaseResult], list[CaseResult]]:
    """Two runs over the same cases."""
    before = [case_result(f"c-{n}", one, intent=intent) for n, (one, _, intent) in enumerate(states)]
    after = [case_result(f"c-{n}", other, intent=intent) for n, (_, other, intent) in enumerate(states)]
    return before, after


@given(STATES)
def test_exchanging_the_runs_exchanges_what_failed_and_what_passed(states: list[tuple[Status, Status, str]]) -> None:
    """The p-value stays; difference and interval change their sign, over all and in every slice."""
    before, after = runs(states)
    there, back = compare(before, after), compare(after, before)
    assert (there.newly_failed, there.newly_passed) == (back.newly_passed, back.newly_failed)
    assert sum(there.flips.values()) == sum(back.flips.values())
    for one, other in zip((there.whole, *there.slices), (back.whole, *back.slices), strict=True):
        assert one.p_value == other.p_value
        assert (one.n, one.undecided) == (other.n, other.undecided)
        assert max(abs(one.difference + other.difference), abs(one.low + other.high), abs(one.high + other.low)) < 1e-9


@given(STATES, st.randoms())
def test_the_order_of_cases_decides_nothing(states: list[tuple[Status, Status, str]], rng: object) -> None:
    """Neither numbers, nor gates, nor buckets."""
    before, after = runs(states)
    mixed_before, mixed_after = list(before), list(after)
    rng.shuffle(mixed_before)  # type: ignore[attr-defined]  # random.Random
    rng.shuffle(mixed_after)  # type: ignore[attr-defined]  # as above
    one, other = compare(before, after), compare(mixed_before, mixed_after)
    assert (one.whole, one.slices, set(one.newly_failed)) == (other.whole, other.slices, set(other.newly_failed))
    assert gate_results(after, LIMITS, one) == gate_results(mixed_after, LIMITS, other)
    assert buckets_of(after) == buckets_of(mixed_after)


@given(STATES)
def test_every_pair_is_counted_once(states: list[tuple[Status, Status, str]]) -> None:
    """Slices add up to the whole; nobody is compared with a case that the other run lacks."""
    before, after = runs(states)
    found = compare(before[1:], after)
    assert max(0, len(states) - 1) == found.whole.n + found.whole.undecided
    for name in ("n", "newly_failed", "newly_passed", "still_passed", "still_failed", "undecided"):
        assert getattr(found.whole, name) == sum(getattr(one, name) for one in found.slices)


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_is_the_exact_binomial_test(lost: int, gained: int) -> None:
    """As scipy has it, and as it is written out."""
    n = lost + gained
    p = mcnemar_exact(lost, gained)
    assert abs(p - (binomtest(lost, n).pvalue if n else 1.0)) < 1e-9
    tail = sum(comb(n, k) for k in range(min(lost, gained) + 1))
    assert abs(p - min(1.0, 2 * tail / 2**n)) < 1e-9


@given(COUNTS)
def test_the_interval_holds_the_difference(counts: PairedCounts) -> None:
    """Inside −1 and 1, and narrower with ten times the cases."""
    difference, low, high = paired_difference(counts)
    assert -1 <= low <= difference + 1e-12
    assert difference - 1e-12 <= high <= 1
    more = PairedCounts(*(10 * part for part in (counts.both, counts.lost, counts.gained, counts.neither)))
    _, more_low, more_high = paired_difference(more)
    assert more_high - more_low <= high - low + 1e-9


@given(st.permutations(["a", "b", "c", "d"]), st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_lines_decides_nothing(cases: list[str], lines: list[str]) -> None:
    """Each answer finds its case, and no case gets another's."""
    golden = [golden_case(name, question=f"Question {name}?") for name in cases]
    named = {
        "a": RunAnswer("", trace("a", question="Question b?")),
        "b": RunAnswer("", trace("t-1", question="question b")),
        "c": RunAnswer("", trace("a-2", question="Question a?"), "c"),
        "d": RunAnswer("", trace("d")),
    }
    found = match_answers(golden, [named[name] for name in lines])
    assert (named, (), ()) == (found.by_case, found.strangers, found.faults)


@given(st.sampled_from(Outcome), st.booleans(), st.sampled_from(RiskTier), st.booleans())
def test_only_what_nothing_is_wrong_with_has_passed(
    outcome: Outcome,
    is_answerable: bool,
    tier: RiskTier,
    is_strict: bool,
) -> None:
    """Whatever the outcome: passed means no reason, failed one of the product, error one of the detector."""
    rules = {key: replace(own, is_unclear_failed=is_strict) for key, own in RULES.items()}
    case = golden_case(
        is_answerable=is_answerable, tier=tier, required_sources=(), passages=(), claims=(), answer_labels=()
    )
    found = evaluate(case, answered(outcome), rules)
    good = Outcome.GROUNDED if is_answerable else Outcome.ABSTAINED
    assert (found.status is Status.PASSED) == (outcome is good) == (not found.reasons) == (found.diagnosis is None)
    assert (found.status is Status.ERROR) == outcome.is_error
    is_open = outcome is Outcome.UNCLEAR and is_answerable and not is_strict
    assert (found.status is Status.UNCLEAR) == is_open


@given(st.lists(st.sampled_from(["a#1", "a#2", "b#1", "x#1", "x#2"]), max_size=12))
def test_recall_grows_with_depth_and_not_with_what_is_beside(names: list[str]) -> None:
    """Monotone in k, at most the whole recall; the first gold passage alone decides the reciprocal rank."""
    gold = tuple(GoldenPassage(doc_id=name[0], chunk_id=name) for name in ("a#1", "a#2", "b#1"))
    passages = tuple(Passage(doc_id=name[0], chunk_id=name, text=name) for name in names)
    found = measure(golden_case(passages=gold), trace(passages=passages))
    assert found is not None
    values = [*found.recall_at.values(), found.recall]
    assert all(one <= other for one, other in pairwise(values))
    assert found.recall == len({name for name in names if name[0] != "x"}) / 3
    first = next((place for place, name in enumerate(names, 1) if name[0] != "x"), None)
    assert found.reciprocal_rank == (1 / first if first else 0)
