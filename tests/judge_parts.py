"""A judge for tests: scripted replies, a clock that stands still, a purse that remembers, a cache in memory."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from detectors.breaker import Breaker, BreakerRule
from detectors.completion import Ask, Completion, Message
from detectors.judge import Counts, JudgePrompt, Limits, Line, LlmJudge
from detectors.layers import JudgeCache, JudgeTask, Payer, Prices, Purse, Spent
from schemas.claim import CheckItem
from schemas.labels import RiskTier
from schemas.routes import JudgeRule, Route
from schemas.verdict import ClaimJudgement
from tests.builders import check_item, claim, judgement, passage

PATIENCE_SECONDS = 20.0
CLAIM = "You can return it within 30 days of delivery [1]."


@dataclass
class FakePurse:
    """Allows ``calls``; ``settled`` has what was reserved and spent, in order."""

    calls: int = 1_000
    reserved: list[int] = field(default_factory=list)
    settled: list[tuple[int, Spent]] = field(default_factory=list)

    def may_spend(self, payer: Payer, tokens: int) -> bool:  # noqa: ARG002 - the seam's own
        """Whether there is a call left."""
        self.calls -= 1
        if self.calls >= 0:
            self.reserved.append(tokens)
        return self.calls >= 0

    def settle(self, payer: Payer, reserved: int, spent: Spent) -> None:  # noqa: ARG002 - as above
        """Remember it."""
        self.settled.append((reserved, spent))


@dataclass
class MemoryCache:
    """Implements ``JudgeCache``."""

    held: dict[str, ClaimJudgement] = field(default_factory=dict)

    def get(self, keys: Sequence[str]) -> Mapping[str, ClaimJudgement]:
        """Those that are held."""
        return {key: self.held[key] for key in keys if key in self.held}

    def put(self, judgements: Mapping[str, ClaimJudgement]) -> None:
        """Hold them."""
        assert all(one.error is None for one in judgements.values())
        self.held.update(judgements)


@dataclass
class Clock:
    """Seconds that pass when told to."""

    now: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let them pass."""
        self.now += seconds


def judge(  # noqa: PLR0913 - all parts have defaults
    completion: Completion,
    purse: Purse | None = None,
    cache: JudgeCache | None = None,
    *,
    clock: Clock | None = None,
    prompt: JudgePrompt | None = None,
    failures: int = 3,
    calls_at_once: int = 1,
) -> LlmJudge:
    """A judge that costs 1 dollar a million tokens in and 2 out."""
    time = clock or Clock()
    line = Line(
        completion,
        purse or FakePurse(),
        Breaker(BreakerRule(failures, 30.0), time),
        Prices(1.0, 2.0),
        Counts(),
        time,
        time.sleep,
        PATIENCE_SECONDS,
    )
    limits = Limits(calls_at_once=calls_at_once)
    return LlmJudge(line, prompt or JudgePrompt(8000), cache or MemoryCache(), limits)


def task(*texts: str, repeats: int = 1, below: ClaimJudgement | None = None, **fields: Any) -> JudgeTask:
    """All claims of one answer, each wanted, with a middling score below."""
    item = answer(*(texts or (CLAIM,)), **fields)
    payer = Payer("t-1", "refunds", RiskTier.MEDIUM, Route())
    scores = below or judgement(0.5)
    return JudgeTask(payer, item, range(len(item.claims)), [scores] * len(item.claims), JudgeRule(repeats=repeats))


def answer(*texts: str, **fields: Any) -> CheckItem:
    """An answer of these claims."""
    whole = " ".join(texts)
    starts = [len(" ".join(texts[:n])) + (n > 0) for n in range(len(texts))]
    claims = [claim(text, start=start, index=n) for n, (text, start) in enumerate(zip(texts, starts, strict=True))]
    return check_item(whole, **{"claims": claims, "passages": (passage(),), **fields})


def reply(label: str = "supported", text: str = CLAIM, **fields: Any) -> str:
    """A reply in the form that the prompt asks for."""
    plain = {"claim": text, "evidence": ["P1"], "reason": "P1 says so.", "label": label, "confidence": 0.9}
    return json.dumps({**plain, **fields})


def honest(ask: Ask) -> str:
    """Calls every claim that is asked about ``supported`` by the first passage, as an endpoint that works."""
    return reply(text=asked_about(ask.messages)["claim"])


def asked_about(messages: Sequence[Message]) -> dict[str, Any]:
    """What the message with the claim holds, read as JSON."""
    texts = [message["content"] for message in messages if message["role"] == "user"]
    found: dict[str, Any] = json.loads(next(text for text in reversed(texts) if text.startswith("{")))
    return found
