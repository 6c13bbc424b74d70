"""What the cross-encoder reads: chosen evidence, word pieces, and what exact comparison says of the words."""

import os
import subprocess
import sys

import pytest

from detectors.evidence.passages import index_passage
from detectors.evidence.words import words_of
from detectors.models.own.base import base_folder
from detectors.models.own.encoding import (
    CLAIM_ABSENT,
    CLAIM_IN_PLACE,
    CLAIM_OTHER,
    CLAIM_PRESENT,
    EVIDENCE,
    EVIDENCE_SHARED,
    LONGEST,
    LONGEST_CLAIM,
    Encoder,
)
from detectors.models.own.evidence import Chooser, Chunk
from detectors.models.own.suspects import doubted

RECORD = '{"name": "Finch", "hours": {"Monday": "9:0-17:0"}, "attributes": {"WiFi": "free", "Parking": {"lot": false}}}'


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    """The encoder of the base model's package."""
    return Encoder(base_folder())


def chosen(claim: str, *texts: str, room: int = 60, most: int = 1) -> list[Chunk]:
    """Chunks for ``claim``; every word tells the same, and a word is as long as one."""
    chooser = Chooser(lambda _: 1.0, lambda text: len(text.split()))
    return chooser.chunks(words_of(claim), [(index_passage(text), text) for text in texts], room, most)


def test_types_say_where_a_word_of_the_claim_stands(encoder: Encoder) -> None:
    """Absent, there, there beside the same neighbour; signs are none of these; shared words are marked in both."""
    pair = encoder.pair(["Refunds need about 14 days."], "Refunds need 30 days.")

    assert (CLAIM_IN_PLACE, CLAIM_ABSENT, CLAIM_PRESENT, CLAIM_OTHER) == pair.types[pair.claim_end - 4 : pair.claim_end]
    assert EVIDENCE_SHARED == pair.types[1]
    assert EVIDENCE == pair.types[0]
    assert len(pair.ids) == len(pair.types)
    assert pair.claim_end - pair.claim_start == len(pair.spans)


def test_a_pair_has_a_longest_length(encoder: Encoder) -> None:
    """The claim keeps its place whatever the evidence is."""
    pair = encoder.pair(["many words " * 300], "word " * 300)

    assert LONGEST == len(pair.ids)
    assert LONGEST_CLAIM == len(pair.spans)


def test_evidence_covers_the_claim_and_stays_in_order() -> None:
    """The best sentence leads; a second one that adds a word joins it; they are read as they stand."""
    text = "Refunds take 14 days. The shop is in Oslo. Ann pays in cash."

    (chunk,) = chosen("Ann gets refunds within 14 days.", text, room=8)

    assert ("Refunds take 14 days.", "Ann pays in cash.") == chunk.texts
    assert (0, 0) == chunk.best


def test_unrelated_text_changes_no_choice() -> None:
    """What shares no word and stands beside nothing chosen is never read."""
    text = "Refunds take 14 days. Ann pays in cash."
    noise = "Whales sing below ice. " * 50

    assert chosen("Ann gets refunds.", text)[0].texts == chosen("Ann gets refunds.", noise, text, noise)[0].texts


def test_chunks_are_disjoint_and_bounded() -> None:
    """More evidence goes into further chunks, until there is none left."""
    text = "Ann paid. Ann left. Ann came. Ann slept."

    found = chosen("Ann sang.", text, room=4, most=9)

    places = [place for chunk in found for place in chunk.places]
    assert sorted(set(places)) == sorted(places)
    assert 2 == len(found)
    assert [] == chosen("Ole sang.", text)


def test_records_are_read_as_lines() -> None:
    """A key of JSON stands with its value and its outer keys, and its value is what is shown."""
    (chunk,) = chosen("It has no parking lot and free WiFi.", RECORD)

    assert "attributes Wi Fi: free." in chunk.texts
    assert "attributes Parking lot: false." in chunk.texts


def test_doubted_words_are_whole_and_joined() -> None:
    """Pieces become words, neighbours one run; the surest three are kept in their order."""
    claim = "Refunds take thirty days, says Ann."
    spans = [(0, 4), (4, 7), (8, 12), (13, 19), (20, 24), (24, 25), (26, 30), (31, 34)]

    assert ("Refunds", "thirty days") == doubted(claim, spans, [-1, 2, -3, 1, 0.5, -4, -1, -1])
    assert () == doubted(claim, spans, [-1] * 8)


def test_the_choice_is_the_same_in_every_process() -> None:
    """Sums over sets would differ in their last digits, and ties be broken otherwise."""
    script = (
        "from tests.unit.models.test_own_encoding import chosen\n"
        "text = ' '.join(f'{a} {b} paid {c} in {d}.' for a in 'ABCD' for b in 'EFG' for c in 'HI' for d in 'JKLM')\n"
        "print(chosen('A F paid H in J, and D E paid I in M.', text, room=30, most=4))\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in "123"
    }

    assert 1 == len(found)
