"""Training of the cross-encoder: corruptions with known words, labels by comparison, and a run that can be cut."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from detectors.models.own import batching, edits, human, network, stages, synthetic, trainer
from detectors.models.own.encoding import Pair

TEXT = (
    "The town of Moss has three old bridges and one new school near the river. Mayor Anna Berg opened the school "
    "in 2011 together with Karl Lie. It was built in 14 months and is not closed on Mondays. Visitors always praised "
    "the view before the war, while the bridges were often repaired by the Danish army."
)
CONFIG: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 32,
}


@given(st.integers(0, 10_000))
def test_the_changed_words_are_known(seed: int) -> None:
    """Where an edit put words, they stand in the corrupted sentence; all else is as it was."""
    source = synthetic.source([TEXT])
    known = synthetic.words_of_all([source])
    for true, false in synthetic.groups(source, known, Random(seed), 4):
        assert true.supported
        assert not false.supported
        assert true.claim != false.claim or false.replaced
        for start, end in (*(true.wrong or ()), *(false.wrong or ())):
            assert 0 <= start < end <= len(false.claim)


def test_edits_are_made_from_the_end() -> None:
    """Two edits do not move each other; what was deleted marks what stands around it."""
    changes = [(0, 3, "Ole"), (9, 12, "")]

    assert "Ole paid ." == edits.applied("Ann paid now.", changes)
    assert [(0, 3), (7, 10)] == edits.changed_spans(changes)


def test_an_edited_answer_is_compared_with_its_true_version() -> None:
    """The words in which they differ are wrong; a claim without one is supported."""
    rows = [
        {"dataset": "bump", "task": "edit1", "source_id": "1", "hallucinated": wrong, "answer": answer, "spans": None}
        for wrong, answer in ((False, "Ann paid 5 dollars. Ole left."), (True, "Ann paid 9 dollars. Ole left."))
    ]

    true, false = human.labelled(rows)

    assert [True, True] == [one.supported for one in true]
    assert [(False, ((9, 10),)), (True, ())] == [(one.supported, one.wrong) for one in false]


def test_spans_are_moved_into_their_claim() -> None:
    """Offsets of an answer become offsets of the claim, cut to it."""
    answer = "Ann paid 5 dollars. Ole left the shop in Oslo."
    start = answer.index("Oslo")
    row = {"dataset": "ragtruth", "task": "qa", "source_id": "1", "hallucinated": True, "answer": answer}

    ((first, second),) = human.labelled([{**row, "spans": [{"start": start, "end": start + 4}]}])

    assert first.supported
    assert [(s, e) for s, e in second.wrong or ()] == [(second.claim.index("Oslo"), second.claim.index("Oslo") + 4)]


def test_a_batch_keeps_groups_whole_and_pads_to_the_longest() -> None:
    """A claim and its corruption are learned side by side."""
    groups = [[_input(4 + number % 5), _input(5)] for number in range(9)]

    batches = batching.plan(groups, 4, Random(1))

    assert 18 == sum(map(len, batches))
    assert all(len(batch) % 2 == 0 for batch in batches)
    padded = batching.pad([_input(4).pair, _input(8).pair])
    assert (2, 8) == padded.ids.shape
    assert [4, 8] == padded.attended.sum(axis=1).tolist()


def test_a_run_that_was_cut_ends_as_one_that_was_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Network, optimiser, step and random state come back from the checkpoint."""
    monkeypatch.setattr(trainer, "_CHECKPOINT_SECONDS", -1.0)
    stage = stages.Stage("people", batching.plan([[_input(4 + at % 6)] for at in range(24)], 4, Random(2)), 1e-2, 0.1)

    whole = _run(stage, tmp_path / "whole.pt")
    cut = stages.Stage(stage.name, stage.batches[:3], stage.rate, stage.dropout)
    begun = _trainer(stage, tmp_path / "cut.pt")
    for step in range(len(cut.batches)):
        begun.step(step)
    begun.save()
    torch.manual_seed(99)
    again = _run(stage, tmp_path / "cut.pt")

    for name, value in whole.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name


def _trainer(stage: stages.Stage, path: Path) -> trainer.Trainer:
    torch.manual_seed(4)
    torch.set_num_threads(1)
    return trainer.Trainer(network.Network(CONFIG), stage, path, CONFIG)


def _run(stage: stages.Stage, path: Path) -> network.Network:
    return _trainer(stage, path).run([_input(5, target=float(at % 2)) for at in range(4)])


def _input(length: int, target: float = 1.0) -> batching.Input:
    ids = tuple(range(2, 2 + length))
    pair = Pair(ids, (0,) * length, length - 3, length - 1, ((0, 1), (1, 2)))
    return batching.Input(pair, target, (0.0, 1.0 - target), "people/x")
