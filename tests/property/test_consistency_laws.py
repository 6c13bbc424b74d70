"""Self-consistency: the order of samples says nothing, and more disagreement never makes an answer look better."""

from hypothesis import given
from hypothesis import strategies as st

from detectors.claims import split_claims
from detectors.consistency import Comparison, SelfConsistency, compare, vote
from detectors.layers import ConsistencyTask, Payer
from schemas.claim import CheckItem
from schemas.routes import ConsistencyRule, Route
from tests.builders import trace
from tests.fakes_consistency import CountingPurse
from tests.fakes_detectors import WordDetector

SHORT = st.sampled_from(["30 days", "30 Days.", "14 days", "60 days [1]", "yes", "三十天"])
SENTENCES = ("The pass costs 12 euros.", "It lasts two days.", "Children travel free of charge.", "Dogs pay half.")
LONG = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4, unique=True).map(" ".join)
ANSWERS = st.one_of(SHORT, LONG)
RULES = st.integers(2, 8).flatmap(
    lambda samples: st.integers(1, samples).map(lambda least: ConsistencyRule(samples=samples, least=least))
)


def compared(answer: str, others: list[str], rule: ConsistencyRule) -> Comparison | None:
    """The comparison by shared words."""
    return compare(CheckItem("", (), answer, split_claims(answer)), others, rule, WordDetector())


@given(
    ANSWERS,
    st.lists(ANSWERS, min_size=1, max_size=8).flatmap(lambda o: st.tuples(st.just(o), st.permutations(o))),
    RULES,
)
def test_the_order_of_samples_says_nothing(
    answer: str, orders: tuple[list[str], list[str]], rule: ConsistencyRule
) -> None:
    """They are drawn alike."""
    first, second = orders
    assert compared(answer, first, rule) == compared(answer, second, rule)


@given(ANSWERS, st.lists(ANSWERS, min_size=1, max_size=8), RULES)
def test_an_answer_that_all_samples_repeat_is_stable_and_disagreement_never_clears(
    answer: str, others: list[str], rule: ConsistencyRule
) -> None:
    """Putting copies of the answer in the place of samples can only take flags away, never add one."""
    before, after = compared(answer, others, rule), compared(answer, [answer] * len(others), rule)
    assert after is None or not after.is_flagged
    half = compared(answer, [answer, *others[1:]], rule)
    if before is not None and half is not None and (before.votes is None) == (half.votes is None):
        assert before.is_flagged >= half.is_flagged
        assert set(half.unstable_claims) <= set(before.unstable_claims)


@given(st.lists(SHORT, min_size=1, max_size=8), st.integers(1, 8))
def test_a_vote_without_the_needed_majority_is_flagged_whoever_wins(answers: list[str], least: int) -> None:
    """And says how many agreed."""
    found = vote(answers, min(least, len(answers)))
    assert found.is_flagged == (found.votes < min(least, len(answers)))
    assert 1 <= found.votes <= found.total == len(answers)


@given(ANSWERS, st.lists(st.text(max_size=30), max_size=5), RULES)
def test_whatever_samples_hold_a_result_annotates_and_labels_nothing(
    answer: str, others: list[str], rule: ConsistencyRule
) -> None:
    """Exactly one of found and stopped, and every unstable claim is a claim of the answer."""
    asked = trace(answer=answer, alternatives=tuple(others))
    item = CheckItem("", (), answer, split_claims(answer))
    payer = Payer("t-1", "refunds", asked.tier, Route())
    (found,) = SelfConsistency(WordDetector(), CountingPurse()).check([ConsistencyTask(payer, asked, item, rule)])
    assert (found.found is None) == (found.stopped is not None)
    if found.found is not None:
        assert set(found.found.unstable_claims) <= {claim.index for claim in item.claims if claim.is_factual}
