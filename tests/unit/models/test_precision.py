"""bf16 and int8 are near fp32, and as independent of batch mates."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from detectors.models import ModelOptions, Precision, load_model
from detectors.models.batching import Encoded
from detectors.models.engine import Failed
from detectors.models.linears import Bf16Linear, Int8Linear
from tests import tiny_models
from tests.tiny_models import ITEMS

NEAR = {Precision.BF16: 0.1, Precision.INT8: 0.2}
"""Random weights are much more sensitive than trained ones."""


@pytest.mark.parametrize("precision", [Precision.BF16, Precision.INT8])
def test_a_lower_precision_scores_nearly_the_same(tmp_path: Path, precision: Precision) -> None:
    """And each item alone scores as in the batch."""
    tiny_models.hhem(tmp_path)
    exact = load_model(tmp_path, ModelOptions(precision=Precision.FP32)).judge(ITEMS)
    detector = load_model(tmp_path, ModelOptions(precision=precision))

    judged = detector.judge(ITEMS)

    assert judged == [detector.judge([item])[0] for item in ITEMS]
    for (near,), (one,) in zip(judged, exact, strict=True):
        assert near.support == pytest.approx(one.support, abs=NEAR[precision])


@pytest.mark.parametrize("make", [tiny_models.hhem, tiny_models.nli, tiny_models.tagger])
def test_batch_mates_change_no_probability(tmp_path: Path, dice: random.Random, make: Callable[[Path], Path]) -> None:
    """Before rounding too: alone and in any batch within 1e-6, though mates are of any length."""
    make(tmp_path)
    engine = load_model(tmp_path).engine
    inputs = [Encoded(tuple(dice.choices(range(5, 300), k=dice.randint(3, 60)))) for _ in range(40)]
    alone = [engine.run([one])[0] for one in inputs]

    for _ in range(3):
        order = dice.sample(range(len(inputs)), k=dice.randint(2, len(inputs)))
        for number, found in zip(order, engine.run([inputs[number] for number in order]), strict=True):
            expected = alone[number]
            assert not isinstance(found, Failed)
            assert not isinstance(expected, Failed)
            assert np.allclose(expected, found, atol=1e-6, rtol=0)


@pytest.mark.parametrize("make", [Bf16Linear, Int8Linear])
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "plain"])
def test_a_row_is_computed_by_itself(make: type[Bf16Linear | Int8Linear], *, bias: bool) -> None:
    """A huge row beside it changes no bit, though one scale for all rows would; three dimensions stay three."""
    torch.manual_seed(3)
    exact = torch.nn.Linear(24, 16, bias=bias)
    layer = make(exact)
    rows = torch.randn(2, 5, 24)
    with torch.inference_mode():
        alone = layer(rows)[0]
        rows[1] *= 1_000
        beside = layer(rows)[0]

        assert torch.equal(alone, beside)
        assert torch.allclose(alone, exact(rows[0]), atol=0.05)
    assert (2, 5, 16) == layer(rows).shape
