"""A language model behind an OpenAI-compatible endpoint; ``openai`` is an extra, imported where one is configured."""

from collections.abc import Sequence
from time import monotonic
from typing import Any, Literal

import structlog
from pydantic import BaseModel, ValidationError

from detectors.claims.llm import LlmSplitter
from detectors.completion import Ask, Choice, CompletionFailed, Reply, prompt_tokens, tokens_of
from schemas.errors import ConfigError
from streams.clock import wall_clock
from streams.retry_after import retry_after_seconds
from streams.settings.verify import Verify
from streams.sources.own_calls import HEADER

Purpose = Literal["claims", "judge", "samples"]
MAX_REPLY_BYTES = 8_000_000
_NEEDED_BY = {"claims": "verify.claim_splitter = llm", "judge": "judge.url", "samples": "consistency.url"}
_TOO_LONG = ("context_length_exceeded", "exceed_context_size_error")
_REFUSABLE = ("response_format", "temperature", "seed", "max_tokens")
"""Parameters that some endpoints or models do not take, and that a call can do without."""
_BAD_CALL = (400, 413, 422)
"""The endpoint is there and refuses this one call; any other status says that it serves nobody, or not us."""
_MOST_OVERESTIMATED = 2
"""How far the estimate lies above a true count at most (tokens of six bytes). llama.cpp counts one reply of several."""
_BUSY = (429, 503)
"""It says when to come again, if it says it at all."""
log = structlog.get_logger(__name__)


class _Token(BaseModel):
    logprob: float


class _Tokens(BaseModel):
    content: list[_Token] | None = None


class _Words(BaseModel):
    content: str | None = None


class _Chosen(BaseModel):
    message: _Words
    finish_reason: str | None = None
    logprobs: _Tokens | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Body(BaseModel):
    """What we read of a chat completion; endpoints differ in everything else."""

    choices: list[_Chosen]
    usage: _Usage | None = None


class OpenAICompletion:
    """Implements ``detectors.completion.Completion``; ``purpose`` marks its calls as ours.

    A call never lasts longer than its timeout, however slowly the reply drips in. What the endpoint turns out not to
    take (structured output, a parameter) is left out of all later calls of this process.
    """

    def __init__(  # noqa: PLR0913 - what an endpoint is, and who asks it
        self, *, url: str, model: str, key: str, timeout_seconds: float, purpose: Purpose, enforce_schema: bool = True
    ) -> None:
        """Nothing is called yet. Raises ConfigError when the ``openai`` extra is not installed."""
        try:
            import httpx  # noqa: PLC0415  openai's own, for the errors of a reply that breaks off
            import openai  # noqa: PLC0415  an optional extra
        except ImportError as error:
            raise ConfigError(
                f"{_NEEDED_BY[purpose]} needs the extra `openai`: pip install 'groundwatch[openai]'"
            ) from error
        self._openai, self._httpx = openai, httpx
        self._model, self._timeout = model, timeout_seconds
        self._headers = {HEADER: purpose}
        self._left_out = frozenset[str]() if enforce_schema else frozenset({"response_format"})
        self._client = openai.OpenAI(base_url=url, api_key=key or "none", timeout=timeout_seconds, max_retries=0)

    @property
    def model(self) -> str:
        """The name that the endpoint knows."""
        return self._model

    def ask(self, ask: Ask) -> Reply:
        """The replies. Raises CompletionFailed: ``timeout``, ``too_long`` or ``model``."""
        timeout = self._timeout if ask.timeout_seconds is None else min(self._timeout, ask.timeout_seconds)
        end = monotonic() + timeout
        left_out, calls = self._left_out, 1
        while True:
            parameters = _parameters(ask, left_out)
            try:
                reply = _read(self._send(parameters, end), ask, calls)
            except self._openai.APIStatusError as error:
                refused = _refused(error, parameters)
                if not refused:
                    raise _failure(error) from error
                left_out, calls = left_out | {refused}, calls + 1
                continue
            except (self._openai.APITimeoutError, self._httpx.TimeoutException) as error:
                raise CompletionFailed("timeout", is_away=True, tokens_in=prompt_tokens(ask.messages)) from error
            except (self._openai.OpenAIError, self._httpx.HTTPError) as error:
                raise CompletionFailed("model", is_away=True) from error
            self._remember(left_out)
            return reply

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def _send(self, parameters: dict[str, Any], end: float) -> bytes:
        """The body of the reply."""
        left = end - monotonic()
        if left <= 0:
            raise self._httpx.ReadTimeout("no time left")
        body = bytearray()
        create: Any = self._client.chat.completions.with_streaming_response.create
        with create(model=self._model, extra_headers=self._headers, timeout=left, **parameters) as response:
            for chunk in response.iter_bytes():
                body += chunk
                if monotonic() > end:
                    raise self._httpx.ReadTimeout("the reply drips in too slowly")
                if len(body) > MAX_REPLY_BYTES:
                    raise CompletionFailed("model")
        return bytes(body)

    def _remember(self, left_out: frozenset[str]) -> None:
        new = left_out - self._left_out
        if new:
            self._left_out |= new
            log.warning("endpoint_refuses", model=self._model, purpose=self._headers[HEADER], parameters=sorted(new))


def llm_splitter(settings: Verify) -> LlmSplitter | None:
    """What splits answers where a language model is configured, None for the rules. Raises ConfigError."""
    if settings.claim_splitter == "rules":
        return None
    completion = OpenAICompletion(
        url=settings.splitter_url,
        model=settings.splitter_model,
        key=settings.splitter_key.get_secret_value(),
        timeout_seconds=settings.splitter_timeout_seconds,
        purpose="claims",
    )
    return LlmSplitter(completion, settings.splitter_calls_at_once)


def _parameters(ask: Ask, left_out: frozenset[str]) -> dict[str, Any]:
    """The call as the endpoint takes it."""
    found: dict[str, Any] = {
        "messages": [{**message, "content": _sendable(message["content"])} for message in ask.messages],
        "temperature": ask.temperature,
        "seed": ask.seed,
        "max_tokens": ask.max_tokens,
    }
    if ask.schema is not None:
        form = {"name": ask.schema_name, "strict": True, "schema": dict(ask.schema)}
        found["response_format"] = {"type": "json_schema", "json_schema": form}
    if ask.samples > 1:
        found["n"] = ask.samples
    if ask.logprobs:
        found["logprobs"] = True
    if "max_tokens" in left_out:
        found["max_completion_tokens"] = ask.max_tokens  # what newer models of OpenAI take in its place
    return {name: value for name, value in found.items() if name not in left_out}


def _sendable(text: str) -> str:
    """With U+FFFD for each lone surrogate, which UTF-8 has no bytes for."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _refused(error: Any, parameters: dict[str, Any]) -> str:
    """The parameter to do without; empty when the call was refused for another reason.

    The one that the endpoint names, else structured output: endpoints say in their own words that they lack it.
    """
    if error.status_code not in _BAD_CALL or _is_too_long(error):
        return ""
    named = str(getattr(error, "param", None) or "")
    sent = [name for name in _REFUSABLE if name in parameters]
    return named if named in sent else "response_format" if "response_format" in sent else ""


def _failure(error: Any) -> CompletionFailed:
    if _is_too_long(error):
        return CompletionFailed("too_long")
    pause = retry_after_seconds(error.response.headers, wall_clock()) if error.status_code in _BUSY else 0.0
    return CompletionFailed("model", is_away=error.status_code not in _BAD_CALL, retry_after_seconds=pause)


def _is_too_long(error: Any) -> bool:
    """What endpoints say of a prompt beyond the context, by its code or type and not by its words."""
    body = getattr(error, "body", None)
    named = {str(body.get(key)) for key in ("code", "type")} if isinstance(body, dict) else set()
    return not named.isdisjoint(_TOO_LONG)


def _read(body: bytes, ask: Ask, calls: int) -> Reply:
    """Raises CompletionFailed for what is no chat completion, and for one without a choice that has a text."""
    try:
        read = _Body.model_validate_json(body)
    except ValidationError as error:
        raise CompletionFailed("model") from error
    choices = tuple(
        Choice(one.message.content, one.finish_reason == "length", _logprobs(one))
        for one in read.choices
        if one.message.content is not None
    )
    if not choices:
        raise CompletionFailed("model")
    usage = read.usage or _Usage()
    return Reply(choices, usage.prompt_tokens or prompt_tokens(ask.messages), _written(choices, usage), calls)


def _written(choices: Sequence[Choice], usage: _Usage) -> int:
    """Tokens of the replies: estimated where the endpoint counts none, or evidently those of one among several."""
    estimated = sum(tokens_of(choice.text) for choice in choices)
    counts_one = len(choices) > 1 and usage.completion_tokens * _MOST_OVERESTIMATED < estimated
    return estimated if counts_one else usage.completion_tokens or estimated


def _logprobs(chosen: _Chosen) -> tuple[float, ...]:
    tokens = chosen.logprobs.content if chosen.logprobs else None
    return tuple(token.logprob for token in tokens or ())
