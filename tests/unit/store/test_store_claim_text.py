"""Claims of the screening as one text."""

from streams.store.claim_text import pack_claims, unpack_claims
from tests.builders import ANSWER, PASSAGE_TEXT, claim, evidence, judgement, screening


def test_texts_that_answer_and_passages_hold_are_left_out() -> None:
    """Neither the claim nor its evidence is written a second time."""
    packed = pack_claims(screening(), ANSWER, [PASSAGE_TEXT])
    assert ANSWER not in packed
    assert PASSAGE_TEXT[:20] not in packed
    assert (screening().claims, screening().judgements) == unpack_claims(packed, ANSWER, [PASSAGE_TEXT])


def test_texts_that_differ_from_their_span_are_kept() -> None:
    """A claim or evidence that is not a slice reads back as it was."""
    odd = screening(
        claims=(claim("Rewritten.", 3),),
        judgements=(
            judgement(evidence=evidence("…30 days…")),
            judgement(evidence=evidence(passage=7)),
            judgement(None),
        ),
    )
    packed = pack_claims(odd, ANSWER, [PASSAGE_TEXT])
    assert (odd.claims, odd.judgements) == unpack_claims(packed, ANSWER, [PASSAGE_TEXT])


def test_no_claims_need_no_text() -> None:
    """An answer without claims costs nothing."""
    assert "" == pack_claims(screening(claims=(), judgements=()), ANSWER, [])
    assert ((), ()) == unpack_claims("", ANSWER, [])
