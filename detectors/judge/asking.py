"""The verdict on one claim: each run is asked once more where its reply cannot be used, then the runs are settled."""

from collections.abc import Sequence
from dataclasses import dataclass

from detectors.completion import Ask, Choice, Message, tokens_of
from detectors.judge.calling import Bill, Line, Unjudged
from detectors.judge.prompting import Inquiry
from detectors.judge.reply import JudgeReply, read_verdict, schema
from detectors.judge.stability import Settled, settle
from detectors.layers import Payer
from detectors.replies import ReplyRefused, asked_again
from schemas.labels import Outcome

ATTEMPTS = 2
REPEAT_TEMPERATURE = 0.7
"""Of claims that are judged several times; a single run is greedy, and runs that are all greedy would be one."""
_COPIES = 2
"""The claim is copied into the reply, and JSON may lengthen it."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a claim is asked about: ``reply_tokens`` beside the copy of the claim."""

    reply_tokens: int
    runs: int


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks about one claim: through what, who pays, until when; ``bill`` adds up what it takes."""

    line: Line
    payer: Payer
    deadline: float | None
    bill: Bill


def verdict_on(inquiry: Inquiry, manner: Manner, asker: Asker) -> Settled:
    """What the runs say together. Raises Unjudged with the reason of the last run that failed."""
    replies: list[JudgeReply] = []
    failed = Unjudged(Outcome.ERROR_JUDGE_PARSE)
    for run in range(manner.runs):
        try:
            replies.append(_one_run(inquiry, manner, run, asker))
        except Unjudged as error:
            failed = error
            if error.stopped is not None:
                break
    settled = settle(replies, manner.runs)
    if settled is None:
        raise failed
    return settled


def _one_run(inquiry: Inquiry, manner: Manner, run: int, asker: Asker) -> JudgeReply:
    messages: list[Message] = list(inquiry.messages)
    temperature = REPEAT_TEMPERATURE if manner.runs > 1 else 0.0
    most = manner.reply_tokens + _COPIES * tokens_of(inquiry.claim)
    for attempt in range(ATTEMPTS):
        ask = Ask(messages, most, schema(), schema_name="verdict", temperature=temperature, seed=run)
        try:
            choice = asker.line.call(asker.payer, ask, asker.deadline, asker.bill)
        except Unjudged as error:
            if attempt and error.outcome is Outcome.ERROR_TOO_LONG:
                break  # the claim did fit; the reply that cannot be used does not fit beside it
            raise
        try:
            return _read(choice, inquiry)
        except ReplyRefused as error:
            asker.line.counts.add("retried" if attempt == 0 else "refused")
            asker.line.counts.add(f"refused_{error.reason}")
            messages += asked_again(choice.text, error)
    raise Unjudged(Outcome.ERROR_JUDGE_PARSE)


def _read(choice: Choice, inquiry: Inquiry) -> JudgeReply:
    try:
        return read_verdict(choice.text, inquiry.claim, len(inquiry.shown))
    except ReplyRefused as error:
        if choice.is_cut:
            raise ReplyRefused("cut", "the reply was cut off; keep the reason short") from error
        raise


def reasons(settled: Settled, runs: int, note: str) -> Sequence[str]:
    """Parts of the explanation: how many runs said so, the judge's reason, what it was not shown."""
    stable = f"{settled.votes} of {settled.runs} runs" if runs > 1 else ""
    return [part for part in (stable, settled.reason.strip(), note) if part]
