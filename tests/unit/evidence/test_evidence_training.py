"""Training: labels, folds, corruptions, and a model that serves exactly what was fitted."""

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.ensemble import HistGradientBoostingClassifier

from detectors.claims import split_claims
from detectors.evidence import EvidenceDetector
from detectors.evidence.corrupt import corrupted_pairs
from detectors.evidence.examples import CONTRADICTED, SUPPORTED, UNKNOWN, UNSUPPORTED, build_examples
from detectors.evidence.fit import export_forest
from detectors.evidence.measure import best_threshold, weakest_support
from detectors.evidence.train import train
from schemas.claim import CheckItem
from schemas.trace import Passage

_TOWNS = ("Halden", "Moss", "Larvik", "Bodin", "Narvik", "Alta", "Voss", "Molde", "Hamar", "Skien")


def _record(number: int, **fields: Any) -> dict[str, Any]:
    town, other = _TOWNS[number % 10], _TOWNS[(number + 3) % 10]
    year, maps = 1900 + number, number + 20
    text = f"The library of {town} was opened in {year} and is not closed on Mondays. It holds {maps} maps."
    good = f"The {town} library was opened in {year}. It holds {maps} maps."
    bad = f"The {town} library was opened in {year}. It was designed by an architect from {other}."
    is_bad = number % 3 == 0
    at = bad.index("It was")
    spans = [{"start": at, "end": len(bad), "label": "unsupported" if number % 2 else "contradicted"}]
    return {
        "id": f"r{number}",
        "dataset": "ragtruth",
        "task": "qa",
        "source_id": f"s{number // 2}",
        "question": f"When was the library of {town} opened?",
        "passages": [{"doc_id": "d", "text": text}],
        "answer": bad if is_bad else good,
        "hallucinated": is_bad,
        "spans": spans if is_bad else [],
        **fields,
    }


def test_spans_label_the_claims_they_touch() -> None:
    """A claim under a span carries its label, the others are supported."""
    examples = build_examples([_record(0), _record(3)])
    assert [[SUPPORTED, CONTRADICTED], [SUPPORTED, UNSUPPORTED]] == [
        [claim.label for claim in example.claims] for example in examples
    ]


def test_a_whole_answer_label_leaves_its_claims_unknown() -> None:
    """With several claims nobody said which one is wrong; with one claim it is known."""
    several, alone = build_examples([_record(0, spans=None), _record(0, spans=None, answer="It holds 99 maps in all.")])
    assert {UNKNOWN} == {claim.label for claim in several.claims}
    assert [UNSUPPORTED] == [claim.label for claim in alone.claims]


def test_a_source_has_one_fold() -> None:
    """Near-copies share a source and are never on both sides of a split."""
    folds: dict[str, set[int]] = {}
    for example in build_examples([_record(number) for number in range(40)]):
        folds.setdefault(example.source, set()).add(example.fold)
    assert {1} == {len(found) for found in folds.values()}
    assert len(set.union(*folds.values())) > 1


def test_corruptions_come_beside_their_original_and_differ_from_it() -> None:
    """Every corrupted claim has its true twin, on the same passages, and the draw is reproducible."""
    examples = build_examples([_record(number) for number in range(40)])
    made = corrupted_pairs(examples, Random(1), 20)
    assert made == corrupted_pairs(examples, Random(1), 20)
    assert len(made) > 40
    for true, false in zip(made[::2], made[1::2], strict=True):
        assert [SUPPORTED, CONTRADICTED] == [true.claims[0].label, false.claims[0].label]
        assert true.claims[0].text != false.claims[0].text
        assert true.texts == false.texts


def test_exported_trees_score_as_the_fitted_ones() -> None:
    """The arrays give the log-odds of the library that made them."""
    rng = np.random.default_rng(4)
    features = rng.random((800, 6))
    labels = (features[:, 0] + features[:, 1] * rng.random(800) > 0.8).astype(int)
    fitted = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=6, early_stopping=False).fit(features, labels)
    assert fitted.decision_function(features).tolist() == pytest.approx(
        export_forest(fitted).score(features).tolist(), abs=1e-4
    )


def test_training_is_reproducible_and_leaves_the_fold_out() -> None:
    """Leaving a fold out is the same as not having its records, and the true claim ranks first."""
    records: list[Mapping[str, Any]] = [_record(number) for number in range(80)]
    left_out = {example.record_id for example in build_examples(records) if example.fold == 0}
    weights = train(records, exclude_fold=0)
    rest = train([record for record in records if record["id"] not in left_out])
    assert weights.fingerprint == rest.fingerprint
    example = build_examples([_record(0)])[0]
    record = _record(0)
    item = CheckItem(
        record["question"], [Passage(text=example.texts[0])], record["answer"], split_claims(record["answer"])
    )
    good, bad = EvidenceDetector(weights).judge([item])[0]
    assert (good.support or 0) > (bad.support or 0)


def test_the_weakest_claim_decides_the_outcome() -> None:
    """Its support is the minimum over the claims of the answer."""
    examples = build_examples([_record(1), _record(2)])
    assert [0.2, 0.4] == weakest_support(examples, np.array([0.9, 0.2, 0.4, 0.8])).tolist()


def test_the_best_threshold_parts_good_from_bad() -> None:
    """Between the worst good and the best bad score where they do not overlap."""
    threshold = best_threshold(np.array([0.1, 0.3, 0.7, 0.9]), np.array([True, True, False, False]))
    assert 0.3 < threshold < 0.7
