"""The client of language models over HTTP: what it sends, what it counts, and every way in which an endpoint fails."""

from contextlib import closing
from typing import Any

import pytest

from detectors.completion import Ask, CompletionFailed, Message, Reply, prompt_tokens
from schemas.errors import ConfigError
from streams.completion import OpenAICompletion, Purpose
from streams.sources.own_calls import HEADER
from tests.served_endpoint import Body, Served, answering, choice, served

pytestmark = pytest.mark.integration
MESSAGES: list[Message] = [{"role": "user", "content": "Is it so? \ud83d"}]
PLAIN = Ask(MESSAGES, 100)
WITH_SCHEMA = Ask(MESSAGES, 100, {"type": "object"})
REFUSED = {"error": {"code": "bad", "message": "no"}}


def ask(server: Served, asked: Ask = PLAIN, timeout_seconds: float = 10, purpose: Purpose = "judge") -> Reply:
    """One call by a client of its own."""
    with closing(client(server, timeout_seconds, purpose)) as completion:
        return completion.ask(asked)


def client(server: Served, timeout_seconds: float = 10, purpose: Purpose = "judge") -> OpenAICompletion:
    """A client; close it."""
    return OpenAICompletion(url=server.url, model="m", key="secret", timeout_seconds=timeout_seconds, purpose=purpose)


def test_a_call_is_greedy_strict_keyed_and_marked_as_ours() -> None:
    """So that replies repeat, follow the schema, and are not traced into the topic that we watch."""
    with served(reply=choice("{}")) as server:
        assert "{}" == ask(server, WITH_SCHEMA).choices[0].text

    ((headers, body),) = server.seen
    assert ("m", 0, 0, 100) == (body["model"], body["temperature"], body["seed"], body["max_tokens"])
    assert body["response_format"]["json_schema"]["strict"]
    assert {"n", "logprobs"}.isdisjoint(body)
    assert ("Bearer secret", "judge") == (headers["authorization"], headers[HEADER])


def test_samples_come_with_their_log_probabilities_and_what_they_took() -> None:
    """One call, several choices; one that ended at the limit says so, and one without a text is left out."""
    reply = choice("one", "length")
    reply["choices"][0]["logprobs"] = {"content": [{"token": "o", "logprob": -0.5}, {"token": "ne", "logprob": -1}]}
    reply["choices"] += choice("")["choices"] + choice(None)["choices"]
    reply["usage"] = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    asked = Ask(MESSAGES, 100, samples=3, temperature=0.7, seed=5, logprobs=True)
    with served(reply=reply) as server:
        found = ask(server, asked, purpose="samples")

    ((_, body),) = server.seen
    assert (3, 0.7, 5, True) == (body["n"], body["temperature"], body["seed"], body["logprobs"])
    assert [("one", True, (-0.5, -1.0)), ("", False, ())] == [
        (one.text, one.is_cut, one.logprobs) for one in found.choices
    ]
    assert (7, 3, 1) == (found.tokens_in, found.tokens_out, found.calls)


def test_what_an_endpoint_does_not_count_is_estimated() -> None:
    """A budget that counted nothing would never end."""
    with served(reply=choice("three words here")) as server:
        found = ask(server)

    assert (prompt_tokens(MESSAGES), 6) == (found.tokens_in, found.tokens_out)


@pytest.mark.parametrize(("counted", "taken"), [(60, 60), (15, 80)], ids=["all", "one of four"])
def test_an_endpoint_that_counts_one_of_several_replies_is_not_believed(counted: int, taken: int) -> None:
    """llama.cpp does; a budget would be spent four times."""
    reply = choice("a reply of some sixty signs, which are fifteen tokens or so")
    reply["choices"] *= 4
    reply["usage"] = {"prompt_tokens": 7, "completion_tokens": counted}
    with served(reply=reply) as server:
        found = ask(server, Ask(MESSAGES, 100, samples=4), purpose="samples")

    assert (7, taken) == (found.tokens_in, found.tokens_out)


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"Retry-After": "7"}, 7),
        (503, {"Retry-After": "7"}, 7),
        (429, {"retry-after-ms": "250"}, 0.25),
        (429, {}, 0),
        (500, {"Retry-After": "7"}, 0),
    ],
    ids=["429", "503", "milliseconds", "not said", "another status"],
)
def test_an_endpoint_that_is_too_busy_says_when_to_come_again(
    status: int, headers: dict[str, str], seconds: float
) -> None:
    """Whoever asked decides whether to wait; the client itself does not."""
    with served(status, {"error": {"message": "busy"}}) as server:
        server.headers.update(headers)
        with pytest.raises(CompletionFailed) as caught:
            ask(server)

    assert (seconds, True, 1) == (caught.value.retry_after_seconds, caught.value.is_away, len(server.seen))


@pytest.mark.parametrize(
    ("status", "reply", "reason", "is_away"),
    [
        (400, {"error": {"code": "context_length_exceeded", "message": "too long"}}, "too_long", False),
        (400, {"error": {"type": "exceed_context_size_error", "message": "too long"}}, "too_long", False),
        (400, REFUSED, "model", False),
        (401, {"error": {"message": "no key"}}, "model", True),
        (429, {"error": {"message": "slow down"}}, "model", True),
        (500, {"error": {"message": "down"}}, "model", True),
        (200, choice(None), "model", False),
        (200, {**choice("{}"), "choices": []}, "model", False),
        (200, {"choices": [{"message": "SUPPORTED"}]}, "model", False),
        (200, {"error": "wrapped in a success"}, "model", False),
    ],
)
def test_every_failure_of_an_endpoint_has_a_reason(status: int, reply: Body, reason: str, is_away: bool) -> None:
    """By the code that it gives; it is called once, and whether the next call may find the same is told apart."""
    with served(status, reply) as server, pytest.raises(CompletionFailed) as caught:
        ask(server)

    assert (reason, is_away, 1) == (caught.value.reason, caught.value.is_away, len(server.seen))


@pytest.mark.parametrize("is_dripping", [False, True])
def test_a_call_ends_in_time_whether_the_endpoint_hangs_or_drips(is_dripping: bool) -> None:
    """A byte every 50 ms keeps a connection alive for ever; the prompt may be billed, and is counted."""
    with (
        served(reply=choice("x" * 100), is_silent=not is_dripping, is_dripping=is_dripping) as server,
        pytest.raises(CompletionFailed) as caught,
    ):
        ask(server, Ask(MESSAGES, 100, timeout_seconds=0.3))

    assert ("timeout", prompt_tokens(MESSAGES)) == (caught.value.reason, caught.value.tokens_in)


def test_an_endpoint_that_is_not_there_is_a_failure() -> None:
    """Nothing listens any more."""
    with served() as server:
        pass
    with pytest.raises(CompletionFailed) as gone:
        ask(server)

    assert ("model", True, 0) == (gone.value.reason, gone.value.is_away, gone.value.tokens_in)


def test_no_time_left_is_a_timeout_without_a_call() -> None:
    """The deadline has passed already."""
    with served(reply=choice("{}")) as server, pytest.raises(CompletionFailed, match="timeout"):
        ask(server, Ask(MESSAGES, 100, timeout_seconds=-1))

    assert [] == server.seen


def _refuses(*names: str, says: bool = True) -> Any:
    """An endpoint that does not take some parameters, and names the one where it ``says``."""

    def answer(body: Body) -> tuple[int, Body]:
        met = next((name for name in names if name in body), None)
        if met is None:
            return 200, choice("{}")
        return 400, {"error": {"message": f"Unsupported: {met}", "param": met if says else None}}

    return answer


def test_structured_output_that_is_refused_is_left_out_from_then_on() -> None:
    """One call is made twice, no later one is."""
    with answering(_refuses("response_format", says=False)) as server, closing(client(server)) as completion:
        replies = [completion.ask(WITH_SCHEMA) for _ in range(3)]

    assert [2, 1, 1] == [reply.calls for reply in replies]
    assert [True, False, False, False] == ["response_format" in body for _, body in server.seen]


def test_a_model_that_takes_no_temperature_and_other_limits_is_asked_its_way() -> None:
    """Reasoning models refuse what others need; the reply stays bounded and structured."""
    with answering(_refuses("temperature", "max_tokens")) as server, closing(client(server)) as completion:
        calls = [completion.ask(WITH_SCHEMA).calls for _ in range(2)]

    last = server.seen[-1][1]
    assert [3, 1] == calls
    assert {"temperature", "max_tokens"}.isdisjoint(last)
    assert (100, "json_schema") == (last["max_completion_tokens"], last["response_format"]["type"])


def test_a_call_that_is_refused_for_itself_changes_nothing_for_later_ones() -> None:
    """A filter that objects to one text does not cost the others their structure."""
    with served(400, REFUSED) as server, closing(client(server)) as completion:
        for _ in range(2):
            with pytest.raises(CompletionFailed):
                completion.ask(WITH_SCHEMA)

    assert [True, False, True, False] == ["response_format" in body for _, body in server.seen]


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """And how to get it."""
    monkeypatch.setitem(__import__("sys").modules, "openai", None)

    with pytest.raises(ConfigError, match=r"judge.url needs .*pip install 'groundwatch\[openai\]'"):
        OpenAICompletion(url="http://127.0.0.1:1/v1", model="m", key="", timeout_seconds=1, purpose="judge")
