"""A language model behind an OpenAI-compatible endpoint; ``openai`` is an extra, imported where one is configured."""

from collections.abc import Mapping, Sequence
from typing import Any

from detectors.claims.llm import CompletionFailed, LlmSplitter, Message
from schemas.errors import ConfigError
from streams.settings.verify import Verify

MAX_TOKENS = 4096
_LEAST_TOKENS = 256
OWN_CALL = {"x-groundwatch": "claims"}
"""Marks our own calls, so that a gateway which traces everything can leave them out of the topic that we watch."""
_TOO_LONG = ("context_length_exceeded", "exceed_context_size_error")


class OpenAICompletion:
    """Implements ``detectors.claims.llm.Completion``; greedy and seeded, so that a reply can be had again."""

    def __init__(self, *, url: str, model: str, key: str, timeout_seconds: float) -> None:
        """Nothing is called yet. Raises ConfigError when the ``openai`` extra is not installed."""
        try:
            import openai  # noqa: PLC0415  an optional extra
        except ImportError as error:
            raise ConfigError(
                "verify.claim_splitter = llm needs the extra `openai`: pip install 'groundwatch[openai]'"
            ) from error
        self._openai = openai
        self._model = model
        self._client = openai.OpenAI(base_url=url, api_key=key or "none", timeout=timeout_seconds, max_retries=0)

    @property
    def model(self) -> str:
        """The name that the endpoint knows."""
        return self._model

    def complete(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
        """The text of the first choice. Raises CompletionFailed: ``timeout``, ``too_long`` or ``model``."""
        create: Any = self._client.chat.completions.create  # its overloads know OpenAI's models and message types alone
        form = {"type": "json_schema", "json_schema": {"name": "claims", "strict": True, "schema": dict(schema)}}
        try:
            reply = create(
                model=self._model,
                messages=list(messages),
                response_format=form,
                temperature=0,
                seed=0,
                max_tokens=_most_tokens(messages),
                extra_headers=OWN_CALL,
            )
        except self._openai.APITimeoutError as error:
            raise CompletionFailed("timeout") from error
        except self._openai.OpenAIError as error:
            raise CompletionFailed("too_long" if _is_too_long(error) else "model") from error
        if not reply.choices or reply.choices[0].message.content is None:
            raise CompletionFailed("model")
        if reply.choices[0].finish_reason == "length":
            raise CompletionFailed("too_long")
        return str(reply.choices[0].message.content)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()


def llm_splitter(settings: Verify) -> LlmSplitter | None:
    """What splits answers where a language model is configured, None for the rules. Raises ConfigError."""
    if settings.claim_splitter == "rules":
        return None
    completion = OpenAICompletion(
        url=settings.splitter_url,
        model=settings.splitter_model,
        key=settings.splitter_key.get_secret_value(),
        timeout_seconds=settings.splitter_timeout_seconds,
    )
    return LlmSplitter(completion, settings.splitter_calls_at_once)


def _most_tokens(messages: Sequence[Message]) -> int:
    """Longest reply: a token a character of the sentences is twice what quotations with their JSON need."""
    asked = sum(len(message["content"]) for message in messages[1:2])
    return min(MAX_TOKENS, _LEAST_TOKENS + asked)


def _is_too_long(error: Exception) -> bool:
    """What endpoints say of a prompt beyond the context, by its code or type and not by its words."""
    body = getattr(error, "body", None)
    named = {str(body.get(key)) for key in ("code", "type")} if isinstance(body, dict) else set()
    return not named.isdisjoint(_TOO_LONG)
