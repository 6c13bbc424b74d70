"""What the settings of every layer have that asks a language model and pays by the token."""

from typing import Self

from pydantic import Field, SecretStr, model_validator

from streams.settings.parts import Section


class Endpoint(Section):
    """An OpenAI-compatible endpoint; sections say in their own words what goes to ``url``, and what ``model`` is."""

    url: str = ""
    model: str = ""
    key: SecretStr = Field(
        SecretStr(""), description="API key of the endpoint. Wrong: as for a wrong address. Empty: none is needed."
    )
    usd_per_million_in: float = Field(
        0.0,
        ge=0,
        le=10_000,
        description="Price of a million tokens of prompts, US dollars. Wrong: budgets in money are.",
    )
    usd_per_million_out: float = Field(
        0.0,
        ge=0,
        le=10_000,
        description="Price of a million tokens of replies, US dollars. Wrong: budgets in money are.",
    )

    @property
    def dearest_usd_per_million(self) -> float:
        """The higher of the two prices, at which a call is reserved before anybody knows its tokens."""
        return max(self.usd_per_million_in, self.usd_per_million_out)

    @model_validator(mode="after")
    def _is_reachable(self) -> Self:
        if bool(self.url) != bool(self.model):
            message = "url and model must be given together"
            raise ValueError(message)
        return self
