"""The verify step: a drawn trace becomes a verdict on ``gw.verdicts``, durable there before the store sees it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from detectors.claims.llm import LlmSplitter, fallback_reason
from detectors.detector import Detector
from detectors.layers import Layers
from detectors.verification import give_up, verify
from schemas.draw import DrawnTrace
from schemas.verdict import Verdict
from streams.agents.deadletter import DeadLetter, bury, read_each, reader_of
from streams.agents.fitting import send_fitting, verdict_forms
from streams.agents.layer_counts import LayerCounts
from streams.agents.policies import KnownPolicies
from streams.broker.publisher import Publisher
from streams.broker.topics import VERDICTS
from streams.deadletters.letters import POISON
from streams.messages import Message

log = structlog.get_logger(__name__)
STAGE = "verify"


@dataclass(slots=True)
class Verify:
    """Handles batches of ``gw.drawn``."""

    publisher: Publisher
    policies: KnownPolicies
    detector: Detector
    now: Callable[[], datetime]
    max_answer_bytes: int
    max_message_bytes: int
    splitter: LlmSplitter | None = None
    """A language model that splits answers; None for the rules."""
    layers: Layers = field(default_factory=Layers)
    """What the process has above the detector."""
    counts: LayerCounts = field(default_factory=LayerCounts)
    read: Callable[[Message], DrawnTrace] = field(default_factory=lambda: reader_of(DrawnTrace))
    last_look: Callable[[Message], DrawnTrace | None] = lambda _: None
    """Reads a trace at which processes died; None where nobody can."""

    async def handle(self, messages: Sequence[Message]) -> None:
        """Publish one verdict a trace; scoring that fails again and again, or kills, gives ``error:internal``.

        Raises Retryable.
        """
        read, letters = read_each(messages, self.read, STAGE)
        drawn = [item for _, item in read]
        documents = [self.policies.at(item.trace.ts).document for item in drawn]
        verdicts = await asyncio.to_thread(
            verify,
            drawn,
            documents,
            self.detector,
            self.now(),
            above=self.layers,
            max_answer_bytes=self.max_answer_bytes,
            splitter=self.splitter,
        )
        verdicts += self._given_up(letters)
        shortened = await send_fitting(
            self.publisher, VERDICTS, [verdict_forms(verdict) for verdict in verdicts], self.max_message_bytes
        )
        if shortened:
            log.warning("verdicts_shortened", verdicts=shortened, topic=VERDICTS)
        if failed := Counter(reason for verdict in verdicts if (reason := fallback_reason(verdict.splitter))):
            log.warning("claims_split_by_rules", answers=failed.total(), reasons=dict(failed))
        await bury(letters, self.publisher, self.max_message_bytes)
        self.counts.add(verdicts)
        for verdict in verdicts:
            _log_verdict(verdict)

    def _given_up(self, letters: Sequence[DeadLetter]) -> list[Verdict]:
        """A trace that was set aside was drawn and has an outcome; its letter is for whoever mends what it killed."""
        looks = [self.last_look(letter.message) for letter in letters if letter.reason == POISON]
        drawn = [item for item in looks if item is not None]
        documents = [self.policies.at(item.trace.ts).document for item in drawn]
        return give_up(drawn, documents, self.detector, self.now(), self.layers)


def _log_verdict(verdict: Verdict) -> None:
    log.info(
        "verdict",
        trace_id=verdict.trace_id,
        intent=verdict.intent,
        tier=verdict.tier.value,
        outcome=verdict.outcome.value,
        containment=verdict.containment.value,
        labels=dict(Counter(claim.label.value for claim in verdict.claims)),
        layers=[layer.value for layer in verdict.layers],
        cost_usd=round(verdict.cost_usd, 6),
        took_ms=round(verdict.took_ms, 1),
    )
