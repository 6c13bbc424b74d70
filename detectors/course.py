"""The course of one answer through the layers: what has been said so far, and a row of the routing table for each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from detectors.allowance import Allowance
from detectors.detector import Detector
from detectors.layers import Payer, Spent
from detectors.preparation import Prepared
from detectors.routing import UPPER, Plan, not_run, row
from schemas.claim import CheckItem
from schemas.labels import Layer
from schemas.layers import Consistency, LayerReason, LayerRun
from schemas.verdict import ClaimJudgement, HopVerdict


@dataclass(slots=True)
class Course:
    """``judgements`` are those of ``layer``, by ``detector``, which second looks ask again; a judge's have its mark.

    ``hop_of`` says, by the place of a claim, which hop brought it or its evidence.
    """

    ready: Prepared
    plan: Plan
    detector: Detector
    judgements: Sequence[ClaimJudgement]
    layer: Layer = Layer.L1
    consistency: Consistency | None = None
    hops: tuple[HopVerdict, ...] = ()
    hops_left_out: int = 0
    hop_of: Mapping[int, int] = field(default_factory=dict)
    rows: dict[Layer, LayerRun] = field(default_factory=dict)
    _item: CheckItem | None = None

    @property
    def item(self) -> CheckItem:
        """What layers are given; made when the first one asks, as most answers meet none."""
        if self._item is None:
            self._item = self.ready.to_item()
        return self._item

    @property
    def payer(self) -> Payer:
        """Whose budget pays for this answer."""
        trace = self.ready.trace
        return Payer(trace.trace_id, trace.intent, trace.tier, self.plan.route)

    @property
    def table(self) -> tuple[LayerRun, ...]:
        """A row a layer, cheapest first."""
        return tuple(self.rows[layer] for layer in Layer if layer in self.rows)

    def begin(self, l1_ms: float) -> None:
        """Note the layers that every answer has, and those above them that cannot run."""
        count, took = len(self.ready.claims), Spent(took_ms=self.ready.timings_ms.get(Layer.L0, 0.0))
        self.note(row(Layer.L0, LayerReason.ALWAYS, ran=True, claims=count, spent=took))
        if not self.ready.needs_judging:
            for layer in (Layer.L1, *UPPER):
                self.note(not_run(layer, LayerReason.SETTLED))
            return
        took = Spent(took_ms=l1_ms)
        self.note(row(Layer.L1, LayerReason.ALWAYS, ran=True, claims=self.judged(), spent=took))
        for layer in UPPER:
            if why_not := self.plan.why_not(layer):
                self.note(not_run(layer, why_not))

    def note(self, line: LayerRun) -> None:
        """Set the row of a layer."""
        self.rows[line.layer] = line

    def seen_by(self, judgement: ClaimJudgement) -> tuple[Layer, ...]:
        """The layers that looked at the claim of this judgement: those of the whole answer, and the judge if asked."""
        upper = {Layer.L2: self.layer is Layer.L2, Layer.L3: judgement.layer is Layer.L3}
        upper[Layer.L4] = self.consistency is not None
        return (Layer.L0, Layer.L1, *(layer for layer, has_seen in upper.items() if has_seen))

    def factual(self) -> list[ClaimJudgement]:
        """The judgements of claims that state something."""
        return [one for claim, one in zip(self.ready.claims, self.judgements, strict=True) if claim.is_factual]

    def judged(self) -> int:
        """How many claims were judged without an error."""
        return sum(one.error is None for one in self.factual())


def waiting(courses: Iterable[Course], layer: Layer) -> list[Course]:
    """The courses that the layer is in use for and that have no row of it yet."""
    return [course for course in courses if layer not in course.rows]


def have_time(courses: Sequence[Course], layer: Layer, allowance: Allowance) -> bool:
    """Whether the layer may begin; where it may not, each course notes that it was left out."""
    if allowance.has_time_for(layer):
        return True
    for course in courses:
        course.note(not_run(layer, LayerReason.OUT_OF_TIME))
    return False


def by_detector(courses: Sequence[Course]) -> list[list[int]]:
    """The places of the courses, those that the same detector judged together."""
    groups: dict[int, list[int]] = {}
    for place, course in enumerate(courses):
        groups.setdefault(id(course.detector), []).append(place)
    return list(groups.values())
