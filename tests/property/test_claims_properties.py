"""What holds for every answer, however odd, and for every mix of labels."""

import itertools
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.claims import split_claims
from detectors.claims.citations import bracketed_tokens, find_citations, strip_citations
from detectors.containment import contain
from detectors.outcome import answer_outcome, label_claim
from detectors.screening import Screener
from detectors.structural import examine
from detectors.verification import verify
from schemas.claim import Claim
from schemas.draw import DrawnTrace
from schemas.labels import ClaimLabel, Containment, Outcome
from schemas.policy import ClaimSplitting, Thresholds
from schemas.verdict import ClaimJudgement, ClaimVerdict
from tests.builders import NOW, claim, claim_verdict, draw, policy, trace
from tests.fakes_detectors import WordDetector
from tests.property.answer_pieces import PIECES

ANSWERS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=200),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
)
LIST_MARKER = re.compile(
    r"(?:\d{1,3}|[a-zа-яA-Z]|[ivx]{1,5}|[一二三四五六七八九十]{1,3}|x|[①-⑳])|</?[a-zA-Z][^<>]{0,210}>|&[#a-zA-Z0-9]{1,8};"
)


@given(ANSWERS)
def test_claim_spans_and_gaps_give_back_the_answer(answer: str) -> None:
    """Spans are in order, never overlap, and hold their text; gaps hold neither letters nor digits but list markers."""
    position, rebuilt = 0, ""
    for number, found in enumerate(split_claims(answer)):
        assert number == found.index
        assert position <= found.start < found.end
        assert answer[found.start : found.end] == found.text
        assert found.text == found.text.strip()
        assert any(map(str.isalnum, found.text))
        rebuilt += answer[position : found.start] + found.text
        position = found.end
    assert answer == rebuilt + answer[position:]


@given(ANSWERS)
def test_gaps_hold_markup_and_white_space_only(answer: str) -> None:
    """What is neither claim nor white space is a marker, a tag, a fence with its word, or signs."""
    position = 0
    for found in [*split_claims(answer), None]:
        gap = answer[position : found.start if found else len(answer)]
        for line in LIST_MARKER.sub("", gap).splitlines():
            assert not any(map(str.isalnum, line)) or line.strip().startswith(("```", "~~~"))
        position = found.end if found else position


@given(
    st.lists(st.sampled_from(["alpha", "Beta", "5 kg", "x.y", "。", ". ", "! ", " ", "(", "]"]), max_size=30).map(
        "".join
    )
)
def test_no_word_is_lost_between_claims(answer: str) -> None:
    """Without list markers, headings and fences every letter and digit lies in a claim."""
    inside = "".join(found.text for found in split_claims(answer))

    assert [char for char in answer if char.isalnum()] == [char for char in inside if char.isalnum()]


JOINT = re.compile(r"(?:and|but|while|whereas|yet|as|well|also|then|therefore|however|,|;|\s)*", re.IGNORECASE)
WORDS = [
    *(
        "The fee is $5",
        "it costs 3",
        " and ",
        ", and ",
        ", which is red",
        "; ",
        ", ",
        " but there is none",
        " and has two",
    ),
    *("includes a, b", " for adults", " must not", ". ", " “and is”", " (and has)", "If ", " [1]", "\n- ", " doors"),
]
STATEMENTS = st.lists(st.sampled_from(WORDS), max_size=25).map("".join)


@given(st.one_of(ANSWERS, STATEMENTS))
def test_parts_are_spans_of_their_sentence_and_only_joints_are_left_out(answer: str) -> None:
    """Whole sentences are those of the plain splitter; parts are in order, apart, and cover all but joints."""
    sentences = {(found.start, found.end): found for found in split_claims(answer)}
    parts: dict[tuple[int, int], list[Claim]] = {}
    for number, found in enumerate(split_claims(answer, ClaimSplitting.ATOMIC)):
        assert number == found.index
        assert answer[found.start : found.end] == found.text
        span = (found.start, found.end)
        if found.sentence_start is None or found.sentence_end is None:
            assert found == sentences[span].model_copy(update={"index": number})
        else:
            span = (found.sentence_start, found.sentence_end)
            assert sentences[span].is_factual
            assert all(word in sentences[span].text for word in found.subject.split())
        parts.setdefault(span, []).append(found)
    assert list(sentences) == list(parts)
    for (start, end), found_parts in parts.items():
        position = start
        for part in found_parts:
            assert position <= part.start < part.end <= end
            assert JOINT.fullmatch(answer, position, part.start)
            position = part.end
        assert position == end


@given(ANSWERS)
def test_splitting_is_a_function_of_the_answer(answer: str) -> None:
    """The same answer, the same claims."""
    assert split_claims(answer) == split_claims(answer)


@given(ANSWERS)
def test_citations_never_crash_and_taking_them_out_leaves_none(text: str) -> None:
    """What is stripped is what was found; every certain one is a bracketed token or part of one."""
    stripped = strip_citations(text)

    assert len(stripped) <= len(text)
    assert bool(find_citations(text)) == (stripped != text)
    assert isinstance(bracketed_tokens(text), tuple)


@given(ANSWERS, st.booleans(), st.sampled_from([None, (), "given"]))
def test_any_answer_gets_a_verdict(answer: str, is_required: bool, passages: object) -> None:
    """Screening and verification end in one verdict, whatever the text is."""
    fields: dict[str, Any] = {} if passages == "given" else {"passages": passages}
    item = trace(answer=answer, question=answer, **fields)
    document = policy(intents={"refunds": {"citations_required": is_required}})

    (screened,) = Screener(WordDetector()).screen([item], [document])
    (verdict,) = verify([DrawnTrace(trace=item, draw=draw(), screening=screened)], [document], WordDetector(), NOW)

    assert verdict.outcome is not Outcome.ERROR_INTERNAL
    assert len(screened.claims) == len(verdict.claims)
    assert screened.failures == tuple(failure for failure in screened.failures if failure in verdict.failures)
    assert examine(item, screened.claims, citations_required=is_required).outcome == screened.outcome


SEVERITY = [Outcome.NO_CLAIMS, Outcome.GROUNDED, Outcome.UNCLEAR, Outcome.ERROR_TIMEOUT, Outcome.HALLUCINATED]
KINDS = {
    "talk": claim_verdict(ClaimLabel.NOT_FACTUAL),
    "good": claim_verdict(ClaimLabel.SUPPORTED),
    "open": claim_verdict(ClaimLabel.UNCLEAR),
    "error": claim_verdict(ClaimLabel.UNCLEAR, support=None, contradiction=None, error=Outcome.ERROR_TIMEOUT),
    "bad": claim_verdict(ClaimLabel.UNSUPPORTED),
    "false": claim_verdict(ClaimLabel.CONTRADICTED),
}
CLAIMS = st.lists(st.sampled_from(sorted(KINDS)), max_size=6)


@given(CLAIMS, st.sampled_from(sorted(KINDS)), st.randoms(use_true_random=False))
def test_precedence_is_monotone_and_ignores_order(kinds: list[str], added: str, dice: object) -> None:
    """One more claim never makes the outcome milder, and the order of claims plays no part."""
    claims = [KINDS[kind] for kind in kinds]
    before = answer_outcome(claims).outcome
    after = answer_outcome([*claims, KINDS[added]]).outcome
    dice.shuffle(claims)  # type: ignore[attr-defined]

    assert SEVERITY.index(before) <= SEVERITY.index(after)
    assert before == answer_outcome(claims).outcome


CAUTION = [Containment.DELIVER, Containment.DELIVER_TRIMMED, Containment.HOLD_FOR_REVIEW, Containment.ABSTAIN]


@pytest.mark.parametrize("kinds", list(itertools.product(sorted(KINDS), repeat=2)))
@pytest.mark.parametrize("critical", [None, 0, 1])
def test_containment_holds_its_promises_for_every_pair(kinds: tuple[str, str], critical: int | None) -> None:
    """Nothing doubtful is delivered whole, nothing to review is trimmed, bad critical claims always abstain."""
    claims = [_with_rule(KINDS[kind], "amount" if number == critical else "") for number, kind in enumerate(kinds)]
    decided = contain(answer_outcome(claims).outcome, claims, "Text.")

    is_bad = [kind in {"bad", "false"} for kind in kinds]
    is_open = any(kind in {"open", "error"} for kind in kinds)
    if critical is not None and is_bad[critical]:
        assert decided is Containment.ABSTAIN
    elif is_open:
        assert decided is Containment.HOLD_FOR_REVIEW
    elif any(is_bad):
        assert decided in {Containment.DELIVER_TRIMMED, Containment.ABSTAIN}
    else:
        assert decided is Containment.DELIVER


def _with_rule(verdict: ClaimVerdict, rule: str) -> ClaimVerdict:
    text = "Refunds take 5 days."
    return verdict.model_copy(update={"claim": claim(text, critical_rule=rule)})


UNIT = st.floats(0, 1)


@given(UNIT, UNIT, UNIT, st.tuples(UNIT, UNIT), UNIT)
def test_more_support_never_gives_a_worse_label(
    low: float, high: float, contradiction: float, bounds: tuple[float, float], bar: float
) -> None:
    """At equal contradiction; where both are high the claim goes to review."""
    low, high = sorted((low, high))
    thresholds = Thresholds(unsupported=min(bounds), supported=max(bounds), contradicted=bar)
    order = [ClaimLabel.CONTRADICTED, ClaimLabel.UNSUPPORTED, ClaimLabel.UNCLEAR, ClaimLabel.SUPPORTED]

    weaker = label_claim(ClaimJudgement(support=low, contradiction=contradiction), thresholds).label
    stronger = label_claim(ClaimJudgement(support=high, contradiction=contradiction), thresholds).label

    assert order.index(weaker) <= order.index(stronger)
