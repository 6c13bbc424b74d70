"""What became of each layer of detection on one answer: the routing table in its verdict."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from schemas.base import Record
from schemas.labels import Layer

_TEN_SECONDS = 10_000


class LayerReason(StrEnum):
    """Why a layer ran, or did not."""

    ALWAYS = "always"
    """It runs on every answer that needs judging."""
    ROUTED = "routed"
    """The policy's route for this intent and tier has it run."""
    IN_BAND = "in_band"
    """Claims scored inside the band in which the layer below is unsure."""
    SUSPECT = "suspect"
    """Self-consistency found the answer, or claims of it, unstable."""
    WEAK_EVIDENCE = "weak_evidence"
    """The weakest claim scored below what the route asks for."""
    LOW_LOGPROB = "low_logprob"
    """The product's model was unsure of its own words."""
    SETTLED = "settled"
    """Not run: the structure of the trace settled the outcome."""
    NOT_ROUTED = "not_routed"
    """Not run: the route of this intent and tier leaves it out."""
    NOT_CONFIGURED = "not_configured"
    """Not run: this process has no such layer."""
    NOT_IN_BAND = "not_in_band"
    """Not run: the layer below is sure of every claim."""
    NO_CAUSE = "no_cause"
    """Not run: none of the causes that the route names is there."""
    NO_SAMPLES = "no_samples"
    """Not run: the trace holds no samples, and none can be drawn: there is no prompt, or no endpoint."""
    OVER_BUDGET = "over_budget"
    """Not run, or not on all claims: the hourly budget is spent."""
    CAPPED = "capped"
    """Not on all claims: the answer has more of them than the route lets through (``max_claims``)."""
    OUT_OF_TIME = "out_of_time"
    """Not run, or not on all claims: the time allowed ran out."""
    AWAY = "away"
    """Not run, or not on all claims: the endpoint or the model failed too often, and is left alone for a while."""
    FAILED = "failed"
    """Run without a result."""


class LayerRun(Record):
    """One row of the table: a layer, whether it ran, why, on how much, at what cost."""

    layer: Layer
    ran: bool
    why: LayerReason
    claims: int = Field(default=0, ge=0)
    """Claims that it judged."""
    calls: int = Field(default=0, ge=0)
    """Calls of an endpoint; those answered from the cache are not among them."""
    cached: int = Field(default=0, ge=0)
    """Claims that were answered from the cache."""
    tokens_in: int = Field(default=0, ge=0)
    tokens_out: int = Field(default=0, ge=0)
    cost_usd: float = Field(default=0.0, ge=0)
    took_ms: float = Field(default=0.0, ge=0)

    @property
    def told(self) -> str:
        """Whether it ran, and why or why not: ``ran: in band``, ``not run: not configured``."""
        return f"{'ran' if self.ran else 'not run'}: {self.why.value.replace('_', ' ')}"

    @property
    def asked(self) -> str:
        """Calls of an endpoint and answers of the cache; empty for layers that ask nobody."""
        calls = f"{self.calls} call{'s' * (self.calls != 1)}" if self.calls else ""
        return ", ".join(part for part in (calls, f"{self.cached} from the cache" if self.cached else "") if part)

    @property
    def took(self) -> str:
        """How long it took; from ten seconds on in seconds."""
        return f"{self.took_ms:.1f} ms" if self.took_ms < _TEN_SECONDS else f"{self.took_ms / 1000:.0f} s"


class Consistency(Record):
    """How far an answer is the same when the model is asked several times; it routes and annotates, it never clears."""

    source: Literal["trace", "resampled"]
    """Where the samples come from: other completions in the trace, or drawn anew from the recorded prompt."""
    samples: int = Field(ge=1)
    """Answers compared, the one that was given included."""
    votes: int | None = Field(default=None, ge=1)
    """Short answers: how many samples gave the most frequent one. None for long answers."""
    agreement: float | None = Field(default=None, ge=0, le=1)
    """Long answers: mean support of the claims by the other samples. None for short answers."""
    unstable_claims: tuple[int, ...] = ()
    """Indices of the claims that too few of the other samples support."""
    mean_logprob: float | None = Field(default=None, le=0)
    """Mean log-probability of the answer's tokens; None where the trace has none."""
    is_flagged: bool = False

    def told(self, first_claim: int = 0) -> str:
        """How far the answers that were compared say the same; ``first_claim`` is the number of the first claim."""
        where = "in the trace" if self.source == "trace" else "drawn anew from the recorded prompt"
        parts = [f"{self.samples} answers compared, the others {where}"]
        if self.votes is not None:
            parts.append(f"{self.votes} say the same")
        if self.agreement is not None:
            parts.append(f"the others support its claims by {self.agreement:.2f} on average")
        if self.unstable_claims:
            numbers = ", ".join(str(index + first_claim) for index in self.unstable_claims)
            parts.append(f"too few support claim {numbers}")
        if self.mean_logprob is not None:
            parts.append(f"mean log-probability of its tokens {self.mean_logprob:.2f}")
        return "; ".join(parts)
