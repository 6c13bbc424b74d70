"""Settings of self-consistency (L4): the model that is asked the recorded prompts again."""

from pydantic import Field

from streams.settings.endpoint import Endpoint


class Consistency(Endpoint):
    """The product's own model, asked again where the policy says so; else only samples in traces are compared."""

    url: str = Field(
        "",
        description="OpenAI-compatible endpoint of the model that writes the product's answers, as https://host/v1. "
        "Recorded prompts are sent there. Empty: nobody is asked, and answers without samples in their trace stay "
        "without this layer. Wrong: the same, with the reason in the verdict.",
    )
    model: str = Field(
        "",
        description="Model that the endpoint serves; it should be the one that answered, or agreement says little. "
        "Part of the fingerprint: another one is another series.",
    )
    timeout_seconds: float = Field(
        60.0,
        gt=0,
        le=600,
        description="Longest wait for one call. Too short: no samples, and no flag from this layer; too long: a "
        "hanging endpoint delays verdicts.",
    )
    calls_at_once: int = Field(
        4,
        ge=1,
        le=100,
        description="Answers that are compared at the same time. Too high: the endpoint refuses calls, or slows the "
        "product's own.",
    )
    samples_per_call: int = Field(
        4,
        ge=1,
        le=20,
        description="Samples asked for in one call (`n`), which pays for the prompt once. Too high: endpoints that "
        "allow fewer refuse the call, and there are no samples; 1 works everywhere.",
    )
