"""bf16 and int8 are near fp32, and as independent of batch mates."""

from pathlib import Path

import pytest
import torch

from detectors.models import ModelOptions, Precision, load_model
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
