"""What a judge sees of long contexts: whole passages where they fit, else stretches around the best pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.completion import tokens_of
from detectors.evidence.passages import PassageCache
from detectors.judge.evidence import Selection, Wanted, best_piece, select
from detectors.judge.rendering import Shown, escaped
from schemas.trace import Passage
from schemas.verdict import Evidence
from tests.builders import PASSAGE_TEXT, evidence, passage

CLAIM = "A refund is possible within 30 days of delivery."
PADDING = "The museum opens at nine and shows paintings of the sea. " * 200
OTHER = "Gift cards are sent by post in a blue envelope."


def chosen(passages: list[Passage], room: int, decided: Evidence | None = None, claim: str = CLAIM) -> Selection:
    """What is shown for the claim."""
    return select(Wanted(claim, "How long can I return my order?", decided), passages, room, PassageCache(10**7))


def test_what_fits_is_shown_whole_and_in_order() -> None:
    """Nothing is chosen where nothing has to be."""
    passages = [passage(OTHER), passage()]

    assert Selection((Shown(0, 0, len(OTHER), OTHER), Shown(1, 0, len(PASSAGE_TEXT), PASSAGE_TEXT))) == chosen(
        passages, 500
    )
    assert Selection(()) == chosen([], 500)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("room", [200, 600, 2000])
def test_the_deciding_sentence_is_found_wherever_it_stands(place: int, room: int) -> None:
    """At the start, in the middle and at the end of ten thousand characters."""
    at = (0, len(PADDING) // 57 // 2 * 57, len(PADDING))[place]
    text = f"{PADDING[:at]}{PASSAGE_TEXT} {PADDING[at:]}"

    found = chosen([passage(text)], room)

    (shown,) = (one for one in found.shown if PASSAGE_TEXT[:48] in one.text)
    assert shown.is_part
    assert text[shown.start : shown.end] == shown.text
    assert 0 == found.left_out


def test_many_passages_keep_the_best_and_say_how_many_are_left_out() -> None:
    """Small ones stand whole; the rest is counted."""
    passages = [*(passage(f"{n}. {PADDING[:400]}") for n in range(50)), passage(), passage(OTHER)]

    found = chosen(passages, 300)

    assert Shown(50, 0, len(PASSAGE_TEXT), PASSAGE_TEXT) in found.shown
    assert len(passages) == found.left_out + len({one.passage for one in found.shown})
    assert found.left_out > 0


def test_what_the_layer_below_decided_by_is_shown_first() -> None:
    """The judge should see what made the score, also where other pieces share more words."""
    text = f"{PADDING} {OTHER} {PADDING}"
    start = text.index(OTHER)
    decided = Evidence(passage=0, doc_id="", passage_hash="", start=start, end=start + len(OTHER), text=OTHER)

    found = chosen([passage(text), passage()], 120, decided)

    assert any(OTHER in one.text for one in found.shown)


def test_one_long_passage_leaves_room_for_others() -> None:
    """A page about the same words does not keep a short contradiction out."""
    page = "A refund within 30 days is possible after delivery of the goods. " * 300
    found = chosen([passage(page), passage("Refunds ended in March.")], 300, claim="A refund is possible.")

    assert {0, 1} == {one.passage for one in found.shown}


def test_nothing_is_shown_where_not_even_the_best_piece_fits() -> None:
    """Then the claim is too long to be judged, which the caller says."""
    assert () == chosen([passage(PADDING)], 5).shown


def test_a_text_without_any_sentence_is_bounded_too() -> None:
    """A blob of 100 KB, and a script without spaces."""
    passages = [passage("x" * 100_000), passage("退款需三十天内办理" * 4000), passage()]

    found = chosen(passages, 400)

    assert any(PASSAGE_TEXT in one.text for one in found.shown)
    assert sum(tokens_of(one.text) for one in found.shown) <= 400


WORDS = st.lists(st.sampled_from(["refund", "30", "days.", "the", "blue", "café.", "退款。", "not", "\n", '"', "<b>"]))


@given(st.lists(WORDS, max_size=6), st.integers(0, 300))
def test_the_budget_holds_and_stretches_are_true_and_apart(texts: list[list[str]], room: int) -> None:
    """Whatever the passages are."""
    passages = [passage(" ".join(words)) for words in texts]

    found = chosen(passages, room)

    assert sum(tokens_of(escaped(one.text)) for one in found.shown) <= room
    for one in found.shown:
        assert passages[one.passage].text[one.start : one.end] == one.text
        assert one.is_part or one.text == passages[one.passage].text
    for left, right in zip(found.shown, found.shown[1:], strict=False):
        assert left.passage < right.passage or left.end <= right.start
    assert 0 <= found.left_out <= len(passages)


def test_people_see_the_piece_that_decided_below_or_the_one_most_like_the_claim() -> None:
    """Of a passage that the judge names; offsets are those of the passage."""
    passages = [passage(f"{OTHER} {PASSAGE_TEXT}")]
    shown = Shown(0, 0, len(passages[0].text), passages[0].text)
    cache = PassageCache(10_000)

    liked = best_piece(Wanted(CLAIM, "", evidence("elsewhere", passage=3)), shown, passages, cache)
    below = best_piece(Wanted(CLAIM, "", evidence(OTHER)), shown, passages, cache)

    assert ("A refund is possible within 30 days of delivery.", "refunds") == (liked.text, liked.doc_id)
    assert passages[0].text[liked.start : liked.end] == liked.text
    assert OTHER == below.text


def test_a_passage_of_signs_alone_is_shown_whole_to_people() -> None:
    """There is no piece in it."""
    shown = Shown(0, 0, 3, "***")

    assert "***" == best_piece(Wanted(CLAIM, ""), shown, [passage("***")], PassageCache(100)).text
