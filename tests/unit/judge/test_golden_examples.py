"""Worked examples out of a customer's golden set: labelled, short, balanced, and never from the hold-out."""

import pytest

from detectors.golden.sets import GoldenSet
from detectors.judge import golden_examples
from detectors.judge.reply import JudgeLabel
from schemas.errors import ConfigError
from schemas.golden import GoldenPassage, Split
from schemas.labels import ClaimLabel
from tests.builders import ANSWER, PASSAGE_TEXT
from tests.builders_golden import golden_case, golden_claim, labelled_claim


def cases(*labels: ClaimLabel, split: Split = Split.TRAIN, **fields: object) -> GoldenSet:
    """One case a label."""
    made = (
        golden_case(f"c-{n}-{split}", claims=(golden_claim(label),), split=split, **fields)
        for n, label in enumerate(labels)
    )
    return GoldenSet(tuple(made))


def test_a_labelled_claim_becomes_an_example_with_the_passages_it_was_judged_by() -> None:
    """The evidence is named by place, the label in the judge's words, the note as its reason."""
    other = GoldenPassage(doc_id="cards", text="Gift cards are sent by post.")
    own = GoldenPassage(doc_id="refunds", text=PASSAGE_TEXT)
    labels = (labelled_claim(ClaimLabel.SUPPORTED, note="Thirty days, as stated."),)
    case = golden_case(given=(other, own), claims=(golden_claim(labels=labels),), split=Split.DEV)

    (example,) = golden_examples(GoldenSet((case,)), 5)

    assert (ANSWER, (other.text, own.text), (2,)) == (example.claim, example.passages, example.evidence)
    assert (JudgeLabel.SUPPORTED, "Thirty days, as stated.") == (example.label, example.reason)
    assert case.question == example.question


def test_labels_take_turns_and_the_rarest_comes_first() -> None:
    """Ten supported ones must not teach that everything is supported."""
    golden = cases(*[ClaimLabel.SUPPORTED] * 5, *[ClaimLabel.UNCLEAR] * 2, ClaimLabel.CONTRADICTED)

    found = [example.label for example in golden_examples(golden, 6)]

    assert ["contradicted", "unverifiable", "supported", "unverifiable", "supported", "supported"] == found
    assert golden_examples(golden, 6) == golden_examples(GoldenSet(golden.cases[::-1]), 6)
    assert 2 == len(golden_examples(golden, 2))


def test_the_hold_out_is_never_shown() -> None:
    """The judge is measured on it."""
    golden = GoldenSet((*cases(ClaimLabel.SUPPORTED).cases, *cases(ClaimLabel.CONTRADICTED, split=Split.HOLDOUT).cases))

    assert [JudgeLabel.SUPPORTED] == [example.label for example in golden_examples(golden, 5)]


@pytest.mark.parametrize(
    "golden",
    [
        GoldenSet(),
        cases(ClaimLabel.NOT_FACTUAL),
        cases(ClaimLabel.SUPPORTED, split=Split.HOLDOUT),
        cases(ClaimLabel.SUPPORTED, passages=()),
        cases(ClaimLabel.SUPPORTED, passages=(GoldenPassage(doc_id="elsewhere", text=PASSAGE_TEXT),)),
        cases(ClaimLabel.SUPPORTED, passages=(GoldenPassage(doc_id="refunds", text=PASSAGE_TEXT * 40),)),
    ],
    ids=["empty", "not factual", "hold-out", "no passages", "evidence not among them", "too long"],
)
def test_a_set_without_a_usable_claim_is_said(golden: GoldenSet) -> None:
    """With the setting that names it."""
    with pytest.raises(ConfigError, match=r"judge\.examples_file"):
        golden_examples(golden, 5)
