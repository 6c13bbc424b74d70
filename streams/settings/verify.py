"""Settings of the verify role, and of the language model that may split answers for it."""

from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from streams.settings.parts import Section


class Verify(Section):
    """Judging drawn traces."""

    batch_size: int = Field(
        64,
        ge=1,
        le=2000,
        description="Drawn traces judged together. Too high: a slow batch delays all of its verdicts.",
    )
    claim_splitter: Literal["rules", "llm"] = Field(
        "rules",
        description="What parts sentences into claims: `rules` (the policy's `claims.split` says how far), or `llm`, a "
        "language model held to the answer's own words, with the rules where it fails. `llm` needs the extra `openai`, "
        "sends answers to that endpoint, and starts a series of verdicts of its own.",
    )
    splitter_url: str = Field(
        "",
        description="OpenAI-compatible endpoint of the claim splitter, as https://host/v1. Wrong: every answer falls "
        "back to the rules, with a line in the log.",
    )
    splitter_model: str = Field(
        "", description="Model that the endpoint serves. Part of the fingerprint: another one is another series."
    )
    splitter_key: SecretStr = Field(
        SecretStr(""), description="API key of the endpoint. Wrong: as for a wrong address. Empty: none is needed."
    )
    splitter_timeout_seconds: float = Field(
        30.0,
        gt=0,
        le=600,
        description="Longest wait for one reply of the claim splitter. Too short: answers fall back to the rules; too "
        "long: a hanging endpoint delays verdicts.",
    )
    splitter_calls_at_once: int = Field(
        8, ge=1, le=100, description="Answers that are split at the same time. Too high: the endpoint refuses calls."
    )

    @model_validator(mode="after")
    def _is_reachable(self) -> Self:
        if self.claim_splitter == "llm" and not (self.splitter_url and self.splitter_model):
            message = "claim_splitter is llm, so splitter_url and splitter_model must be given"
            raise ValueError(message)
        return self
