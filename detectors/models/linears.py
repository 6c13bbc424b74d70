"""Linear layers in fewer bits, each row by itself, so that a score never depends on its batch mates.

torch's own dynamic quantisation takes one scale for all rows of a batch; these take one a row.
"""

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

_MOST = 127.0
_TINY = 1e-12
M = TypeVar("M", bound=nn.Module)


class Bf16Linear(nn.Module):
    """Products in bf16 with sums in fp32; what comes in and goes out keeps its type."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight = nn.Parameter(linear.weight.detach().to(torch.bfloat16), requires_grad=False)
        self.bias = linear.bias

    def forward(self, rows: Tensor) -> Tensor:
        """``rows`` times the weights."""
        result = functional.linear(rows.to(torch.bfloat16), self.weight).to(rows.dtype)
        return result if self.bias is None else result + self.bias


class Int8Linear(nn.Module):
    """Symmetric int8 with a scale for each output of the weights and for each row of the input; sums are exact."""

    weight: Tensor
    scale: Tensor

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        scale = weight.abs().amax(dim=1).clamp_min(_TINY) / _MOST
        self.register_buffer("weight", (weight / scale[:, None]).round().to(torch.int8).t())
        self.register_buffer("scale", scale)
        self.bias = linear.bias

    def forward(self, rows: Tensor) -> Tensor:
        """``rows`` times the weights."""
        flat = rows.reshape(-1, rows.shape[-1])
        scale = flat.abs().amax(dim=1, keepdim=True).clamp_min(_TINY) / _MOST
        # torch knows the sum under this name only; it takes part in no public module.
        sums: Tensor = torch._int_mm((flat / scale).round().to(torch.int8), self.weight)  # noqa: SLF001
        result = sums.to(rows.dtype) * scale * self.scale
        result = result if self.bias is None else result + self.bias
        return result.reshape(*rows.shape[:-1], -1)


def replace_modules(module: nn.Module, kind: type[M], make: Callable[[M], nn.Module], spare: str = "") -> None:
    """Put ``make(child)`` in place of every child of ``kind``, at any depth but below one named ``spare``."""
    for name, child in module.named_children():
        if name == spare:
            continue
        if isinstance(child, kind):
            setattr(module, name, make(child))
        else:
            replace_modules(child, kind, make, spare)
