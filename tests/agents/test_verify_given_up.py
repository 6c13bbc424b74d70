"""A drawn trace at which processes died: nobody looks at its texts again, and it has an outcome all the same."""

from collections.abc import Sequence
from typing import cast

from schemas.claim import CheckItem
from schemas.codec import decode
from schemas.draw import DrawnTrace
from schemas.errors import InvalidMessage
from schemas.labels import Containment, Layer, Outcome
from schemas.layers import LayerReason
from schemas.verdict import ClaimJudgement, Verdict
from streams.agents.deadletter import reader_of
from streams.agents.verify import Verify
from streams.broker.publisher import Publisher
from streams.broker.topics import DEADLETTER, DRAWN, VERDICTS
from streams.deadletters.letters import POISON
from streams.messages import Message
from tests.agents.flow import Flow, native
from tests.fakes import FakeDetector

read = reader_of(DrawnTrace)


class Fatal(FakeDetector):
    """Fails the test when it is asked about what kills."""

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """Judges the others."""
        assert not any("fatal" in (item.answer or "") for item in items)
        return super().judge(items)


def _read(message: Message) -> DrawnTrace:
    if b"fatal" in (message.value or b""):
        raise InvalidMessage(POISON, "(message): set aside")
    return read(message)


async def _verdicts(*, is_readable: bool) -> tuple[Flow, dict[str, Verdict]]:
    running = Flow(detector=Fatal({}))
    for name, answer in (("t-1", "It is 30 days."), ("t-2", "This is fatal."), ("t-3", "It is 30 days.")):
        await running.ingest.handle([running.message(native(name, answer=answer))])
    step = Verify(
        cast("Publisher", running.publisher), running.known, running.detector, running.now, 262_144, 16_000_000
    )
    step.read = _read
    step.last_look = read if is_readable else lambda _: None
    await step.handle(running.publisher.messages(DRAWN))
    found = [decode(Verdict, message.value) for message in running.publisher.messages(VERDICTS)]
    return running, {verdict.trace_id: verdict for verdict in found}


async def test_its_verdict_is_an_error_and_its_letter_stays() -> None:
    """So drawn is judged and errors, its interval closes, and the message is there for whoever mends the cause."""
    running, verdicts = await _verdicts(is_readable=True)
    assert {"t-1", "t-2", "t-3"} == set(verdicts)
    given_up = verdicts["t-2"]
    assert (Outcome.ERROR_INTERNAL, Containment.HOLD_FOR_REVIEW, ()) == (
        given_up.outcome, given_up.containment, given_up.claims,
    )  # fmt: skip
    assert (False, None) == (given_up.passed, given_up.score)
    assert {LayerReason.SETTLED} == {line.why for line in given_up.routing if line.layer is not Layer.L0}
    assert verdicts["t-1"].fingerprint == given_up.fingerprint
    assert 1 == len(running.publisher.messages(DEADLETTER))


async def test_one_that_cannot_even_be_read_has_its_letter_alone() -> None:
    """The process that reads it would die again."""
    running, verdicts = await _verdicts(is_readable=False)
    assert {"t-1", "t-3"} == set(verdicts)
    assert 1 == len(running.publisher.messages(DEADLETTER))
