"""Settings of the judge (L3): a language model that judges the claims of which the layers below are unsure."""

from pydantic import Field

from streams.settings.endpoint import Endpoint


class Judge(Endpoint):
    """Which model judges, how it is asked, what it costs. Where it is asked, and its budget, are policy (`routes`)."""

    url: str = Field(
        "",
        description="OpenAI-compatible endpoint of the judge, as https://host/v1. Claims, questions and passages are "
        "sent there. Empty: no judge. Wrong: each claim that wants one is `error:model`.",
    )
    model: str = Field(
        "", description="Model that the endpoint serves. Part of the fingerprint: another one is another series."
    )
    timeout_seconds: float = Field(
        30.0,
        gt=0,
        le=600,
        description="Longest wait for one call, which is then made once more, and for a busy endpoint that says when "
        "to come again. Too short: `error:timeout`; too long: a hanging endpoint delays verdicts.",
    )
    calls_at_once: int = Field(
        8,
        ge=1,
        le=100,
        description="Calls under way in one process, and as many again for answers that somebody waits for. Too high: "
        "the endpoint refuses calls, and the claims are `error:model`.",
    )
    prompt_tokens: int = Field(
        8000,
        ge=1500,
        le=200_000,
        description="Longest prompt, rules and examples included, estimated at three bytes a token. What does not fit "
        "is left out, passages least like the claim first, and the judgement says so. Above the model's window: "
        "`error:too_long`. Part of the fingerprint.",
    )
    reply_tokens: int = Field(
        512,
        ge=64,
        le=32_000,
        description="Longest reply, beside the copy of the claim. Too short for a model that thinks first: "
        "`error:judge_parse`; too high: a runaway reply is paid for. Part of the fingerprint.",
    )
    enforce_schema: bool = Field(
        default=True,
        description="Ask for structured output. An endpoint that refuses it is asked without from then on. Off: never, "
        "and more replies cannot be used. Part of the fingerprint.",
    )
    examples_file: str = Field(
        "",
        description="Golden set (JSON Lines) whose labelled claims take the place of the worked examples in prompts; "
        "its hold-out is never used. Empty: those of the package. Part of the fingerprint.",
    )
    examples: int = Field(
        6, ge=0, le=40, description="Most examples taken from `examples_file`. Each makes every call dearer."
    )
    breaker_failures: int = Field(
        8,
        ge=1,
        le=1000,
        description="Calls in a row that found the endpoint silent or away, after which it is left alone for a while. "
        "Too low: a hiccup costs claims; too high: a dead endpoint is waited for, call by call.",
    )
    breaker_seconds: float = Field(
        30.0,
        ge=1,
        le=3600,
        description="How long it is left alone; claims are `error:model` meanwhile. Then one call finds out.",
    )
