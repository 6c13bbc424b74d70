"""The verify step with a language model as splitter: what it leaves to the rules is logged, counted and stored."""

from dataclasses import dataclass
from typing import cast

from structlog.testing import capture_logs

from detectors.claims.llm import LlmSplitter, fallback_reason
from detectors.completion import Ask, CompletionFailed, Reply
from schemas.codec import decode, encode
from schemas.verdict import Verdict
from streams.agents.verify import Verify
from streams.broker.publisher import Publisher
from streams.broker.topics import DRAWN, VERDICTS
from streams.messages import Message as Record
from tests.agents.flow import FakePublisher, policies
from tests.builders import NOW, drawn_trace
from tests.fakes import FakeDetector


@dataclass
class SilentCompletion:
    """Never answers in time."""

    model: str = "m-1"

    def ask(self, ask: Ask) -> Reply:  # noqa: ARG002 - the seam's own
        """Too late."""
        reason = "timeout"
        raise CompletionFailed(reason)


async def test_answers_that_the_model_did_not_split_are_judged_by_the_rules_and_counted() -> None:
    """The verdict is whole, names the reason, and one line of the log says how many there were."""
    publisher = FakePublisher()
    step = Verify(
        publisher=cast("Publisher", publisher),
        policies=policies(),
        detector=FakeDetector({}),
        now=lambda: NOW,
        max_answer_bytes=1_000_000,
        max_message_bytes=1_000_000,
        splitter=LlmSplitter(SilentCompletion()),
    )
    drawn = [Record(DRAWN, 0, n, None, encode(drawn_trace(f"t-{n}")), (), NOW) for n in range(3)]

    with capture_logs() as logs:
        await step.handle(drawn)

    verdicts = [decode(Verdict, message.value) for message in publisher.messages(VERDICTS)]
    assert ["timeout"] * 3 == [fallback_reason(verdict.splitter) for verdict in verdicts]
    assert [1, 1, 1] == [len(verdict.claims) for verdict in verdicts]
    assert [(3, {"timeout": 3})] == [
        (line["answers"], line["reasons"]) for line in logs if line["event"] == "claims_split_by_rules"
    ]
