"""One answer judged in stages, each a whole verdict: so there is one to answer with whenever time is up.

First L0 and L1, then L2 on top, then L4 and L3. A later stage takes over what an earlier one has judged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic

from detectors.allowance import Allowance
from detectors.detector import Detector
from detectors.layers import Layers
from detectors.routing import UPPER, Plan, plan_of, route_of
from detectors.screening import Screener
from detectors.structural.sources import unfit_passages
from detectors.verification import verify
from sampling.policy_file import default_policy
from schemas.draw import Draw, DrawnTrace, Screening
from schemas.labels import Layer
from schemas.layers import LayerReason, LayerRun
from schemas.policy import PolicyDocument
from schemas.routes import OnFailure
from schemas.trace import Trace
from schemas.verdict import Verdict
from streams.inline.remembering import Remembering
from streams.inline.request import CheckPassage, CheckRequest

EVERY_TRACE = Draw(stratum="rest", u=0.0, inclusion_probability=1.0, min_probability=1.0, policy_id="check", drawn=True)
Annotate = Callable[[Trace], Trace]
"""Tells a trace what is known of its documents."""


@dataclass(frozen=True, slots=True)
class Judges:
    """What judges answers in this process."""

    detector: Detector
    above: Layers
    max_answer_bytes: int
    annotate: Annotate


@dataclass(frozen=True, slots=True)
class Below:
    """An answer as L0 and L1 judged it, in so many ``seconds``.

    ``unfit`` are positions of passages that nobody should be sent to read.
    """

    drawn: DrawnTrace
    policy: PolicyDocument
    now: datetime
    verdict: Verdict
    unfit: frozenset[int]
    seconds: float


def judge_below(judges: Judges, trace: Trace, policy: PolicyDocument, now: datetime) -> Below:
    """L0 and L1. Raises Retryable when the detector is away."""
    began = monotonic()
    told = judges.annotate(trace)
    upper = _upper(plan_of(route_of(policy, told.intent, told.tier), judges.above))
    screening = Screening()
    if upper:  # they take its judgements over
        screening = Screener(judges.detector, judges.max_answer_bytes).screen([told], [policy])[0]
    drawn = DrawnTrace(trace=told, draw=EVERY_TRACE, screening=screening)
    verdict = _verdict(judges, drawn, policy, now, Layers(), Allowance())
    if upper and Layer.L1 not in verdict.layers:  # settled: no layer will run, and the verdict is of the whole route
        verdict = _verdict(judges, drawn, policy, now, judges.above, Allowance())
    unfit = unfit_passages(told, policy.sources)
    return Below(drawn, policy, now, verdict, unfit, monotonic() - began)


def warm_up(judges: Judges, now: datetime) -> None:
    """Read weights and word lists, which takes a second, before somebody waits for it."""
    text = "Lamps may be returned within 30 days of delivery."
    asked = CheckRequest(question="How long?", answer=text, passages=(CheckPassage(text=text),))
    judge_below(judges, asked.to_trace(now, "warm-up"), default_policy(), now)


def layers_in_use(below: Below, above: Layers) -> tuple[Layer, ...]:
    """The layers above L1 that the route of an answer names and that are there; none where L0 settled it."""
    if Layer.L1 not in below.verdict.layers:
        return ()
    trace = below.drawn.trace
    return _upper(plan_of(route_of(below.policy, trace.intent, trace.tier), above))


@dataclass(slots=True)
class Above:
    """The layers above L1 on one answer; ``run_*`` are for threads, and ``best`` may be asked while they run."""

    judges: Judges
    below: Below
    in_use: tuple[Layer, ...]
    verdicts: tuple[Verdict, ...] = ()
    """Of the stages that have ended, in order."""
    models: Remembering | None = None

    def run_models(self) -> None:
        """L2. Raises Retryable when the models are away."""
        if self.judges.above.models is not None:
            self.models = Remembering(self.judges.above.models)
            self._add(Layers(models=self.models), Allowance())

    def run_all(self, allowance: Allowance) -> None:
        """L4 and L3 on top of what L2 has judged, each where it is expected to end in time. Raises Retryable."""
        self._add(replace(self.judges.above, models=self.models), allowance)

    def best(self, on_failure: OnFailure, why_unended: LayerReason) -> Verdict:
        """The last verdict, or where failures are open the last that is no error; with the routing of all stages.

        ``why_unended`` is the reason in the rows of layers whose stage never ended.
        """
        verdicts = (self.below.verdict, *self.verdicts)
        sound = [verdict for verdict in verdicts if not verdict.outcome.is_error]
        chosen = sound[-1] if on_failure is OnFailure.OPEN and sound else verdicts[-1]
        return chosen.model_copy(update={"routing": self._routing(verdicts, why_unended)})

    def _add(self, above: Layers, allowance: Allowance) -> None:
        below = self.below
        verdict = _verdict(self.judges, below.drawn, below.policy, below.now, above, allowance)
        self.verdicts = (*self.verdicts, verdict)

    def _routing(self, verdicts: Sequence[Verdict], why_unended: LayerReason) -> tuple[LayerRun, ...]:
        """The row of the first stage in which a layer ran, else of the last."""
        rows: dict[Layer, LayerRun] = {}
        for verdict in verdicts:
            for row in verdict.routing:
                if row.layer not in rows or not rows[row.layer].ran:
                    rows[row.layer] = row
        return tuple(
            row.model_copy(update={"why": why_unended})
            if row.layer in self.in_use and row.why is LayerReason.NOT_CONFIGURED
            else row
            for row in rows.values()
        )


def _upper(plan: Plan) -> tuple[Layer, ...]:
    return tuple(layer for layer in plan.layers if layer in UPPER)


def _verdict(  # noqa: PLR0913, PLR0917 - what judging takes
    judges: Judges, drawn: DrawnTrace, policy: PolicyDocument, now: datetime, above: Layers, allowance: Allowance
) -> Verdict:
    return verify(
        [drawn],
        [policy],
        judges.detector,
        now,
        above=above,
        allowance=allowance,
        max_answer_bytes=judges.max_answer_bytes,
        attempts=1,
    )[0]
