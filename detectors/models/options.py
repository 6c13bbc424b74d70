"""What may be chosen when a model is loaded; plain values, so that settings and tests make them alike."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from detectors.models.calibration import IDENTITY, Calibration
from schemas.errors import ConfigError


class Device(StrEnum):
    """Where a model runs."""

    AUTO = "auto"
    """The first GPU where there is one, else the processor."""
    CPU = "cpu"
    CUDA = "cuda"


class Precision(StrEnum):
    """In which numbers a model computes; part of its fingerprint."""

    AUTO = "auto"
    """bf16 on a GPU, fp32 on a processor."""
    FP32 = "fp32"
    BF16 = "bf16"
    INT8 = "int8"
    """Processor only: weights and activations of the linear layers as int8, each row with a scale of its own."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is loaded and asked; raises ConfigError for values that cannot work.

    ``window_tokens`` is the longest input, 0: what the model was made for. A claim is held against up to
    ``evidence_tokens`` of each of the ``evidence_passages`` most promising passages, and of them together;
    ``full_context`` holds it against all passages besides, in windows that share ``overlap_tokens``.

    ``batch_tokens`` bounds a batch, padding included (on a processor it is never above 512, where it is fastest);
    ``queue_tokens`` bounds what waits, beyond which callers wait. ``threads`` 0 leaves the number to torch.
    ``tokenizer`` is a folder or ``tokenizer.json``, for models that ship without one.
    """

    device: Device = Device.AUTO
    precision: Precision = Precision.AUTO
    threads: int = 0
    window_tokens: int = 0
    evidence_tokens: int = 256
    evidence_passages: int = 3
    overlap_tokens: int = 64
    full_context: bool = False
    batch_tokens: int = 8192
    queue_tokens: int = 262_144
    support: Calibration = IDENTITY
    contradiction: Calibration = IDENTITY
    tokenizer: Path | None = None

    def __post_init__(self) -> None:
        least = {
            "threads": 0,
            "window_tokens": 0,
            "evidence_tokens": 16,
            "evidence_passages": 1,
            "overlap_tokens": 0,
            "batch_tokens": 1,
            "queue_tokens": 1,
        }
        for name, low in least.items():
            if getattr(self, name) < low:
                raise ConfigError(f"{name} is {getattr(self, name)}: give {low} or more")
        if self.overlap_tokens >= self.evidence_tokens:
            raise ConfigError(
                f"overlap_tokens ({self.overlap_tokens}) must be below evidence_tokens ({self.evidence_tokens})"
            )
        if self.precision is Precision.INT8 and self.device is Device.CUDA:
            raise ConfigError("precision int8 is for processors: take bf16 on a GPU")
