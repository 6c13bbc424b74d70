"""Screening: L0 and, with a detector, L1 on every trace at ingest, before the draw."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from detectors.detector import Detector, JudgedAnswer
from detectors.fingerprint import screening_fingerprint
from detectors.judging import judge_answers_guarded
from detectors.preparation import Prepared, prepare
from detectors.structural import MAX_ANSWER_BYTES
from schemas.draw import Screening
from schemas.labels import Layer
from schemas.policy import PolicyDocument
from schemas.trace import Trace

_NOT_JUDGED = JudgedAnswer([], None)


@dataclass(frozen=True, slots=True)
class Screener:
    """Screens batches of traces; ``detector`` None leaves L1 out, and no judgement is made.

    ``attempts``: tries per trace before ``error:internal``; ``clock`` counts seconds from any origin.
    """

    detector: Detector | None
    max_answer_bytes: int = MAX_ANSWER_BYTES
    attempts: int = 3
    clock: Callable[[], float] = perf_counter

    def screen(self, traces: Sequence[Trace], policies: Sequence[PolicyDocument]) -> list[Screening]:
        """One screening per trace, in order; ``policies`` are those in force at each trace's event time.

        Never raises for what a trace contains. Raises Retryable when the detector is away.
        """
        began = self.clock()
        prepared = [
            prepare(trace, policy, self.max_answer_bytes, clock=self.clock)
            for trace, policy in zip(traces, policies, strict=True)
        ]
        was_prepared = self.clock()
        judged = self._judge(prepared)
        done, share = self.clock(), 1000 / max(1, len(traces))
        took_ms, judging_ms = (done - began) * share, (done - was_prepared) * share
        return [
            self._screening(item, answer, took_ms, judging_ms) for item, answer in zip(prepared, judged, strict=True)
        ]

    def _judge(self, prepared: Sequence[Prepared]) -> list[JudgedAnswer]:
        if self.detector is None:
            return [_NOT_JUDGED] * len(prepared)
        items = [item.to_item() for item in prepared if item.needs_judging]
        judged = iter(judge_answers_guarded(self.detector, items, self.attempts))
        return [next(judged) if item.needs_judging else _NOT_JUDGED for item in prepared]

    def _screening(self, item: Prepared, judged: JudgedAnswer, took_ms: float, judging_ms: float) -> Screening:
        return Screening(
            claims=item.claims,
            judgements=tuple(judged.claims),
            failures=item.findings.failures,
            outcome=item.findings.outcome,
            score=judged.score,
            fingerprint=screening_fingerprint(self.detector.fingerprint, item.splitter) if self.detector else "",
            is_empty_retrieval=item.findings.is_empty_retrieval,
            took_ms=took_ms,
            timings_ms={**item.timings_ms, Layer.L1.value: judging_ms} if self.detector else item.timings_ms,
        )
