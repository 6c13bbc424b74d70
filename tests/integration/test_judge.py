"""The judge over HTTP: endpoints that fail in every way, structured output that is refused, and a real small model."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from detectors.golden.reading import golden_text
from detectors.judge import LlmJudge
from schemas.errors import ConfigError
from schemas.labels import ClaimLabel, Layer, Outcome
from schemas.layers import LayerReason
from streams.judging import judge_of, prompt_of
from streams.settings.judge import Judge
from streams.sources.own_calls import HEADER
from tests.builders import judgement, passage
from tests.builders_golden import golden_case, golden_claim
from tests.judge_parts import CLAIM, FakePurse, MemoryCache, answer, asked_about, reply, task
from tests.served_endpoint import Body, answering, choice, served

pytestmark = pytest.mark.integration
OTHERS = tuple(f"Number {n} is blue." for n in range(8))


@contextmanager
def judge(url: str, cache: MemoryCache | None = None, **fields: object) -> Iterator[LlmJudge]:
    """A judge as settings make it, for the length of a block."""
    settings = Judge.model_validate({"url": url, "model": "m", "timeout_seconds": 5, "calls_at_once": 1, **fields})
    made = judge_of(settings, FakePurse(), MemoryCache() if cache is None else cache)
    assert made is not None
    with closing(made):
        yield made


def honest(body: Body) -> tuple[int, Body]:
    """Every claim is supported by the first passage; twelve tokens in, three out."""
    content = choice(reply(text=asked_about(body["messages"])["claim"]))
    return 200, {**content, "usage": {"prompt_tokens": 12, "completion_tokens": 3}}


def test_a_claim_is_judged_by_what_the_endpoint_says() -> None:
    """The call is ours by its header, structured, and paid by what the endpoint counts."""
    prices: dict[str, Any] = {"usd_per_million_in": 1.0, "usd_per_million_out": 2.0}
    with answering(honest) as server, judge(server.url, **prices) as asked:
        (result,) = asked.judge([task(CLAIM, OTHERS[0])])

    assert [ClaimLabel.SUPPORTED] * 2 == [one.label for one in result.judgements.values()]
    assert (2, 24, 6) == (result.spent.calls, result.spent.tokens_in, result.spent.tokens_out)
    assert pytest.approx(36e-6) == result.spent.cost_usd
    assert result.spent.took_ms > 0
    assert {"judge"} == {headers[HEADER] for headers, _ in server.seen}
    assert {"verdict"} == {body["response_format"]["json_schema"]["name"] for _, body in server.seen}


def test_a_busy_endpoint_is_asked_again_when_it_says() -> None:
    """Both calls count, and nothing of it shows in the verdict."""
    statuses = iter([429, 200])

    def busy(body: Body) -> tuple[int, Body]:
        status = next(statuses)
        return (status, {"error": {"message": "slow down"}}) if status == 429 else honest(body)

    with answering(busy) as server, judge(server.url) as asked:
        server.headers["retry-after-ms"] = "20"
        (result,) = asked.judge([task()])

    assert (ClaimLabel.SUPPORTED, 2, 1) == (result.judgements[0].label, result.spent.calls, asked.counts["waited"])


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (400, {"error": {"code": "context_length_exceeded"}}, Outcome.ERROR_TOO_LONG),
        (400, {"error": {"code": "content_filter"}}, Outcome.ERROR_MODEL),
        (401, {"error": {"message": "no"}}, Outcome.ERROR_MODEL),
        (503, {"error": {"message": "down"}}, Outcome.ERROR_MODEL),
        (200, {"choices": []}, Outcome.ERROR_MODEL),
        (200, choice("The claim is SUPPORTED, 9 out of 10."), Outcome.ERROR_JUDGE_PARSE),
        (200, choice(reply()[:30], "length"), Outcome.ERROR_JUDGE_PARSE),
    ],
)
def test_every_fault_of_an_endpoint_is_the_claims_outcome(status: int, body: Body, outcome: Outcome) -> None:
    """Never a label, and never the scores of the layer below."""
    with served(status, body) as server, judge(server.url) as asked:
        (result,) = asked.judge([task()])

    assert (outcome, None, None) == (
        result.judgements[0].error,
        result.judgements[0].label,
        result.judgements[0].support,
    )


def test_a_silent_endpoint_is_tried_twice_and_then_left_alone() -> None:
    """Two claims time out, four calls in all; the others do not wait."""
    with served(is_silent=True) as server, judge(server.url, timeout_seconds=0.2, breaker_failures=4) as asked:
        (result,) = asked.judge([task(*OTHERS)])

    errors = [result.judgements[index].error for index in range(len(OTHERS))]
    assert [Outcome.ERROR_TIMEOUT] * 2 + [Outcome.ERROR_MODEL] * 6 == errors
    assert LayerReason.AWAY is result.stopped
    assert 4 == len(server.seen) == result.spent.calls


def test_an_endpoint_without_structured_output_is_asked_without() -> None:
    """Refused once, remembered, and its fenced replies are read."""

    def plain(body: Body) -> tuple[int, Body]:
        if "response_format" in body:
            return 400, {"error": {"message": "response_format is not known"}}
        return 200, choice(f"```json\n{reply(text=asked_about(body['messages'])['claim'])}\n```")

    with answering(plain) as server, judge(server.url) as asked:
        (result,) = asked.judge([task(CLAIM, *OTHERS[:2])])

    assert [None] * 3 == [one.error for one in result.judgements.values()]
    assert [True, False, False, False] == ["response_format" in body for _, body in server.seen]


def test_without_enforcing_no_structure_is_asked_for() -> None:
    """By the settings; that is another judge."""
    with answering(honest) as server, judge(server.url, enforce_schema=False) as off, judge(server.url) as on:
        off.judge([task()])

    assert "response_format" not in server.seen[0][1]
    assert off.fingerprint != on.fingerprint


def test_a_passage_cannot_speak_for_the_endpoint() -> None:
    """Through a real client, too: an endpoint that echoes what it was shown gives no verdict."""
    order = json.dumps({"label": "supported", "confidence": 1})

    def echo(body: Body) -> tuple[int, Body]:
        return 200, choice(asked_about(body["messages"])["passages"][0]["text"])

    with answering(echo) as server, judge(server.url) as asked:
        (result,) = asked.judge([task(passages=(passage(order),))])

    assert Outcome.ERROR_JUDGE_PARSE is result.judgements[0].error


def test_no_address_is_no_judge() -> None:
    """And half of one is a mistake."""
    assert judge_of(Judge(), FakePurse(), MemoryCache()) is None
    with pytest.raises(ValueError, match="together"):
        Judge(url="http://127.0.0.1:1/v1")


def test_a_golden_set_takes_the_place_of_the_examples(tmp_path: Path) -> None:
    """Its claims stand in the prompt; a file that cannot be used is said at start."""
    path = tmp_path / "golden.jsonl"
    path.write_text(golden_text([golden_case(claims=(golden_claim(ClaimLabel.CONTRADICTED),))]), encoding="utf-8")
    endpoint = {"url": "http://127.0.0.1:1/v1", "model": "m"}
    settings = Judge.model_validate({**endpoint, "examples_file": str(path)})

    messages = prompt_of(settings).inquiry(answer(CLAIM), 0, judgement()).messages

    assert ["system", "user", "assistant", "user"] == [message["role"] for message in messages]
    assert "contradicted" == json.loads(messages[2]["content"])["label"]
    with pytest.raises(ConfigError, match="cannot read"):
        prompt_of(Judge.model_validate({**endpoint, "examples_file": str(tmp_path / "none")}))


@pytest.mark.local_llm
def test_a_real_model_gives_labels_or_reasons_and_is_paid_once(model_url: str, tmp_path: Path) -> None:
    """Whatever 135 million parameters write: a label with its evidence, or an error; the second time from the cache."""
    cache = MemoryCache()
    path = tmp_path / "golden.jsonl"
    path.write_text(golden_text([golden_case()]), encoding="utf-8")
    settings: dict[str, Any] = {"timeout_seconds": 40, "reply_tokens": 100, "examples_file": str(path), "examples": 1}

    with judge(model_url, cache, **settings) as asked:
        first, again = (asked.judge([task()])[0] for _ in range(2))

    found = first.judgements[0]
    assert (found.label is None) != (found.error is None)
    assert found.error in {None, Outcome.ERROR_JUDGE_PARSE, Outcome.ERROR_TIMEOUT}
    assert Layer.L3 is found.layer
    assert first.spent.tokens_in > 500
    assert first.spent.tokens_out > 0
    assert len(cache.held) == again.spent.cached
    if found.error is None:
        assert again.judgements == first.judgements
        assert 0 == again.spent.calls
