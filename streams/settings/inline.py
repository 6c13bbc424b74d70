"""Settings of the role check: judging an answer before it is sent."""

from pydantic import Field

from schemas.labels import Layer
from streams.settings.parts import LayerNames, Section


class Inline(Section):
    """The check of single answers, `POST /v1/check`; how long it may take and how it fails is policy."""

    layers: LayerNames = Field(
        tuple(Layer),
        description="Layers that a check may use, where the policy's route names them and this process has them; L0 "
        "and L1 always run. L3 and L4 send the request's texts to their endpoints as they came, without redaction, and "
        "cost money at every call.",
    )
    max_in_flight: int = Field(
        32,
        ge=1,
        le=10_000,
        description="Checks at the same time; more are refused with 503 and the decision of `on_failure`. Too low: "
        "bursts are refused; too high: under overload every check runs out of time instead of a few being refused.",
    )
    threads: int = Field(
        2,
        ge=1,
        le=64,
        description="Threads for L0 and L1. More than two bring little: Python computes on one core at a time. One: a "
        "single long answer holds up all others.",
    )
    model_threads: int = Field(
        1,
        ge=1,
        le=64,
        description="Answers that L2 judges at the same time. On a CPU one for each set of cores that a model uses; "
        "too many, and all become too late together. One that hangs keeps its thread; when all hang, checks are made "
        "without L2 until the process is started again (groundwatch_check_threads_late).",
    )
    endpoint_threads: int = Field(
        16,
        ge=1,
        le=256,
        description="Answers that wait for L3 and L4 at the same time. Too low: they are left out although there is "
        "time. What hangs keeps its thread, as above.",
    )
    max_body_bytes: int = Field(
        1_000_000,
        ge=1_000,
        le=64_000_000,
        description="Largest request, bytes; 413 beyond. Too high: one request may take seconds to read.",
    )
