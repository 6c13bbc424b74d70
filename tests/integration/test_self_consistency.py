"""Self-consistency over HTTP: our tag on every call, and a real small model that is asked its own prompt again."""

import json
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from detectors.claims import split_claims
from detectors.consistency import SelfConsistency
from detectors.evidence import load_evidence_detector
from detectors.layers import ConsistencyResult, ConsistencyTask, Payer
from schemas.claim import CheckItem
from schemas.layers import LayerReason
from schemas.routes import ConsistencyRule, Route
from streams.consistency import consistency_of
from streams.settings.consistency import Consistency
from streams.sources.own_calls import is_own_message
from tests.builders import trace
from tests.fakes_consistency import CountingPurse
from tests.served_endpoint import choice, served
from tests.source_messages import decode, message

pytestmark = pytest.mark.integration
ANSWER = "You can return a lamp within 30 days of delivery. Opened software cannot be returned."
PROMPT = (
    "Lamps may be returned within 30 days of delivery. Opened software cannot be returned.\n\n"
    "Say in one or two sentences what can be returned."
)


def task(answer: str = ANSWER, prompt: str = PROMPT, **rule: Any) -> ConsistencyTask:
    """An answer whose prompt was recorded."""
    asked = trace(answer=answer, packed_prompt=prompt)
    payer = Payer(asked.trace_id, asked.intent, asked.tier, Route())
    item = CheckItem(asked.question, (), answer, split_claims(answer))
    return ConsistencyTask(payer, asked, item, ConsistencyRule(**rule))


def checker(url: str, purse: CountingPurse, **settings: Any) -> SelfConsistency:
    """The check as the settings make it, with the shipped detector."""
    return consistency_of(Consistency(url=url, model="smollm2", **settings), purse, load_evidence_detector())


def samples(*texts: str) -> dict[str, Any]:
    """A chat completion with several choices."""
    one = choice(texts[0])
    usage = {"prompt_tokens": 40, "completion_tokens": 100, "total_tokens": 140}
    return {**one, "choices": [choice(text)["choices"][0] for text in texts], "usage": usage}


def test_samples_are_free_text_at_the_temperature_marked_as_ours_and_paid() -> None:
    """What a gateway writes down of the call is recognised as ours."""
    purse = CountingPurse()
    prices = {"usd_per_million_in": 1000, "usd_per_million_out": 2000}
    with served(reply=samples(*[ANSWER] * 4)) as server, closing(checker(server.url, purse, **prices)) as check:
        (found,) = check.check([task()])

    assert found.found is not None
    assert ("resampled", 5, (), False) == (
        found.found.source,
        found.found.samples,
        found.found.unstable_claims,
        found.found.is_flagged,
    )
    ((headers, body),) = server.seen
    assert (4, 0.7, "samples") == (body["n"], body["temperature"], headers["x-groundwatch"])
    assert "response_format" not in body
    assert [{"role": "user", "content": PROMPT}] == body["messages"]
    assert (1, 40, 100, 0.24) == (
        found.spent.calls, found.spent.tokens_in, found.spent.tokens_out, found.spent.cost_usd,
    )  # fmt: skip
    assert ([found.spent], 0) == (purse.spent, purse.held)
    traced = {"trace_id": "g", "ts": "2026-05-14T08:00:00Z", "answer": ANSWER, "request": {"headers": headers}}
    assert (1, ()) == ((read := decode(traced)).evaluators, read.traces)
    as_header = replace(message(json.dumps({}).encode()), headers=(("X-Groundwatch", b"samples"),))
    assert is_own_message(as_header)


def test_an_endpoint_that_is_away_is_a_reason_and_leaves_no_reservation() -> None:
    """And that without an endpoint the trace is all there is."""
    purse = CountingPurse()
    with served(500, {"error": {"message": "down"}}) as server, closing(checker(server.url, purse)) as check:
        (found,) = check.check([task()])
    assert (None, LayerReason.AWAY, 0) == (found.found, found.stopped, purse.held)
    alone = consistency_of(Consistency(), purse, load_evidence_detector())
    assert [ConsistencyResult(None, stopped=LayerReason.NO_SAMPLES)] == alone.check([task()])


def test_an_address_without_a_model_is_refused() -> None:
    """And a model without an address."""
    for given in ({"url": "http://127.0.0.1:1/v1"}, {"model": "m"}):
        with pytest.raises(ValueError, match="url and model must be given together"):
            Consistency(**given)


@pytest.mark.local_llm
def test_a_real_model_is_asked_again_and_its_answers_are_compared(model_url: str) -> None:
    """Whatever 135 million parameters write: an annotation over all samples, within the room and the budget given."""
    purse = CountingPurse()
    tasks = [task(samples=3, least=2), task("Yes.", "Say yes or no, nothing else.", samples=3, least=3)]
    with closing(checker(model_url, purse, calls_at_once=1, timeout_seconds=100)) as check:
        found = check.check(tasks)

    for one in found:
        assert one.stopped is None
        assert one.found is not None
        assert ("resampled", 3) == (one.found.source, one.found.samples)
        assert (one.found.votes is None) != (one.found.agreement is None)
        assert one.spent.tokens_in > 0
    assert set(found[0].found.unstable_claims if found[0].found else ()) <= {0, 1}
    assert ([one.spent for one in found], 0) == (purse.spent, purse.held)


@pytest.mark.local_llm
def test_the_model_is_served_until_a_signal() -> None:
    """With its address on standard output, and a clean end."""
    command = [
        sys.executable,
        "-m",
        "streams.cli",
        "llm",
        "serve",
        "--port",
        "0",
        "--parallel",
        "1",
        "--context",
        "256",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert 0 == process.wait(60)
    assert first.startswith("http://127.0.0.1:")
    assert "/v1   model smollm2" in first
