"""Retrieval metrics: known values, and what counts as the same passage."""

import pytest

from detectors.gate import measure
from detectors.gate.retrieval import has_evidence
from schemas.golden import GoldenPassage
from schemas.trace import Passage
from tests.builders import trace
from tests.builders_golden import golden_case

GOLD = (GoldenPassage(doc_id="a", chunk_id="a#1", text="Dogs are welcome."), GoldenPassage(doc_id="b", chunk_id="b#2"))


def found(*names: str) -> tuple[Passage, ...]:
    """Passages by chunk id, in this order."""
    return tuple(Passage(doc_id=name.split("#")[0], chunk_id=name, text=f"text of {name}") for name in names)


@pytest.mark.parametrize(
    ("retrieved", "precision", "recall_at", "reciprocal"),
    [
        (("a#1", "b#2"), 1.0, {1: 0.5, 3: 1.0, 5: 1.0, 10: 1.0}, 1.0),
        (("x#1", "x#2", "x#3", "b#2"), 0.25, {1: 0.0, 3: 0.0, 5: 0.5, 10: 0.5}, 0.25),
        (("a#1", "a#1", "x#1"), 2 / 3, {1: 0.5, 3: 0.5, 5: 0.5, 10: 0.5}, 1.0),
        (("x#1", "a#2"), 0.0, {1: 0.0, 3: 0.0, 5: 0.0, 10: 0.0}, 0.0),
        ((), None, {1: 0.0, 3: 0.0, 5: 0.0, 10: 0.0}, 0.0),
    ],
)
def test_known_values(
    retrieved: tuple[str, ...], precision: float | None, recall_at: dict[int, float], reciprocal: float
) -> None:
    """Counted by hand; a passage that comes twice finds its gold once."""
    one = measure(golden_case(passages=GOLD), trace(passages=found(*retrieved)))
    assert one is not None
    assert (precision, recall_at, reciprocal) == (one.precision, one.recall_at, one.reciprocal_rank)
    assert (2, len(retrieved)) == (one.gold, one.retrieved)


def test_ranks_decide_the_order() -> None:
    """A prompt may hold the best passage last."""
    reordered = (Passage(doc_id="x", text="x", rank=1), Passage(doc_id="b", chunk_id="b#2", text="b", rank=0))
    one = measure(golden_case(passages=GOLD), trace(passages=reordered))
    assert one is not None
    assert one.reciprocal_rank == 1.0


def test_a_corpus_that_was_cut_anew_is_recognised_by_its_words() -> None:
    """Other chunk ids, the same text inside; another document with that text is not the same."""
    bigger = Passage(doc_id="a", chunk_id="a-new", text="Good to know: dogs are  WELCOME. Cats, too.")
    one = measure(golden_case(passages=GOLD), trace(passages=(bigger,)))
    other = measure(golden_case(passages=GOLD), trace(passages=(bigger.model_copy(update={"doc_id": "z"}),)))
    assert one is not None
    assert other is not None
    assert (0.5, 0.0) == (one.recall, other.recall)


def test_required_sources_stand_in_for_gold_passages() -> None:
    """As whole documents."""
    one = measure(golden_case(passages=(), required_sources=("a", "b")), trace(passages=found("a#7")))
    assert one is not None
    assert (2, 0.5, 1.0) == (one.gold, one.recall, one.precision)


def test_nothing_is_measured_without_gold_or_without_sight() -> None:
    """None is not 0."""
    assert measure(golden_case(passages=(), required_sources=()), trace()) is None
    assert measure(golden_case(), trace(passages=None)) is None


def test_evidence_is_there_when_all_of_it_is() -> None:
    """Passages and required documents; where the case names neither, anything will do."""
    case = golden_case(passages=GOLD, required_sources=("a",))
    assert has_evidence(case, trace(passages=found("a#1", "b#2")))
    assert not has_evidence(case, trace(passages=found("a#1")))
    open_case = golden_case(passages=(), required_sources=())
    assert [True, False] == [has_evidence(open_case, trace(passages=some)) for some in (found("x#1"), ())]
