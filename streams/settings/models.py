"""Settings of the models that verify stacks on the evidence detector (L2)."""

import re
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from streams.settings.kafka import OptionalPath
from streams.settings.parts import Section

AUTO, NONE, OWN = "auto", "none", "own"
WORDS = (AUTO, NONE, OWN)
"""Values of ``models.use`` that are no name of a model."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Name of a model and of its folder: no separator and no leading dot, so that it cannot leave ``models.dir``."""


class Models(Section):
    """Models of drawn traces (`groundwatch models --help`); all but `auto` and `none` need the extra `models`."""

    use: str = Field(
        AUTO,
        min_length=1,
        max_length=4096,
        description="What judges claims together with the evidence detector: `auto` (the model that ships with us; "
        "where it cannot be loaded, that detector alone, with a line in the log), `none`, `own` (that model or no "
        "start), a name from `groundwatch models list`, or the path of a folder. Another model is another "
        "series of verdicts; a named one that is absent or damaged stops the start with 2.",
    )
    dir: OptionalPath = Field(
        None,
        description="Folder that `groundwatch models pull` fills, one folder a model; empty puts it under `data_dir`. "
        "Wrong: named models are absent. Whoever may write there decides what verdicts say.",
    )
    revision: str = Field(
        "",
        pattern=r"^([0-9a-f]{40})?$",
        description="Commit of the hub, 40 hex digits, that the model named in `use` must be of; empty takes the one "
        "that lies there. Another one in the folder: the start is refused.",
    )
    offline: bool = Field(
        default=False,
        description="Never ask a hub: `pull` then takes folders alone (`--from`). Verify never asks one either way. "
        "Off on a machine without a way out: `pull` fails after a wait instead of at once.",
    )
    hub: str = Field(
        "",
        pattern=r"^(https?://[^\s@]+)?$",
        description="Address of the hub that `pull` asks, for a mirror; empty is the hub's own. Wrong: `pull` ends "
        "with 69. A mirror decides what is downloaded: use https. A token for it is read from HF_TOKEN.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto",
        description="Where models compute; auto: the first GPU where there is one (CUDA_VISIBLE_DEVICES says which are "
        "seen). `cuda` without a GPU: as a model that is absent; `cpu` beside a GPU: verify falls behind sooner.",
    )
    precision: Literal["auto", "fp32", "bf16", "int8"] = Field(
        "auto",
        description="Numbers that models compute with; auto: bf16 on a GPU, fp32 on a CPU. int8 (CPU alone) is faster "
        "and turns some verdicts round, bf16 is slow on a CPU without it. Part of the fingerprint.",
    )
    threads: int = Field(
        0,
        ge=0,
        le=256,
        description="CPU threads of a model; 0 leaves the number to torch, which takes all cores. Too many beside "
        "other work of the machine: all of it, the heartbeats to Kafka included, gets slower.",
    )
    batch_tokens: int = Field(
        8192,
        ge=256,
        le=1_000_000,
        description="Word pieces computed at once, padding included; on a CPU at most 1,024, where it is fastest. Too "
        "high: the memory of a GPU is full; too low: it idles.",
    )
    queue_tokens: int = Field(
        262_144,
        ge=256,
        le=100_000_000,
        description="Word pieces that may wait for a model; beyond them batches wait to be let in. Too high: memory "
        "while verify is behind; too low: batches become small.",
    )
    full_context: bool = Field(
        default=False,
        description="Hold each claim against all passages as well, beside the most promising stretches of them. On: "
        "evidence spread over passages counts, at several times the cost. Part of the fingerprint; not for `own`.",
    )

    @model_validator(mode="after")
    def _can_be_used(self) -> Self:
        if not self.is_path and not NAME.fullmatch(self.use):
            message = f"use: {self.use!r} is neither {', '.join(WORDS)}, a name of letters, digits, . _ -, nor a path"
            raise ValueError(message)
        if self.revision and (self.use in WORDS or self.is_path):
            message = f"revision is set and use is {self.use}, which has none: name a model of the hub, or leave it out"
            raise ValueError(message)
        if self.precision == "int8" and self.device == "cuda":
            message = "precision int8 is for a CPU: choose bf16, or device cpu"
            raise ValueError(message)
        return self

    @property
    def is_path(self) -> bool:
        """Whether ``use`` is the path of a folder, which a separator makes it."""
        return "/" in self.use or "\\" in self.use

    def folder(self, data_dir: Path) -> Path:
        """Where models lie."""
        return self.dir or data_dir / "models"
