"""The seams of the layers above L1: what a judge and a self-consistency check are asked, and what they answer.

Models (L2) need none of their own: they are a ``detectors.detector.Detector``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from detectors.detector import Detector
from schemas.claim import CheckItem
from schemas.labels import RiskTier
from schemas.layers import Consistency, LayerReason
from schemas.routes import ConsistencyRule, JudgeRule, Route
from schemas.trace import Trace
from schemas.verdict import ClaimJudgement

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Payer:
    """Whose budget pays: the intent and tier of an answer, and the route that sends it."""

    trace_id: str
    intent: str
    tier: RiskTier
    route: Route


@dataclass(frozen=True, slots=True)
class Spent:
    """What one answer cost a layer; ``took_ms`` is time waited, not time computed."""

    calls: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    took_ms: float = 0.0

    def plus(self, more: "Spent") -> "Spent":
        """Both together but for the time, which is an answer's own, since its calls overlap."""
        return replace(
            self,
            calls=self.calls + more.calls,
            cached=self.cached + more.cached,
            tokens_in=self.tokens_in + more.tokens_in,
            tokens_out=self.tokens_out + more.tokens_out,
            cost_usd=self.cost_usd + more.cost_usd,
        )


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens; 0 for an endpoint that costs nothing by the token."""

    usd_per_million_in: float = 0.0
    usd_per_million_out: float = 0.0

    def spent(self, calls: int, tokens_in: int, tokens_out: int) -> Spent:
        """What so many calls cost."""
        usd = (tokens_in * self.usd_per_million_in + tokens_out * self.usd_per_million_out) / _MILLION
        return Spent(calls=calls, tokens_in=tokens_in, tokens_out=tokens_out, cost_usd=usd)


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """Claims of one answer that a judge is asked about.

    ``wanted`` are indices into ``item.claims``; ``below`` are the judgements of the layer below, one a claim.
    """

    payer: Payer
    item: CheckItem
    wanted: Sequence[int]
    below: Sequence[ClaimJudgement]
    rule: JudgeRule


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """A judgement for each wanted claim: with ``label``, or with ``error``; never neither, never a missing one.

    ``stopped`` says why claims were left unjudged, None where none was.
    """

    judgements: Mapping[int, ClaimJudgement]
    spent: Spent = Spent()
    stopped: LayerReason | None = None


class ClaimJudge(Protocol):
    """A language model that judges claims one at a time. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """Short constant name, fit for a metric label."""
        ...

    @property
    def fingerprint(self) -> str:
        """Version of everything that decides a judgement: model, prompt, schema, settings of the call."""
        ...

    def judge(self, tasks: Sequence[JudgeTask], deadline: float | None = None) -> list[JudgeResult]:
        """One result a task, in order; ``deadline`` is in seconds of ``time.monotonic``.

        Never raises: what goes wrong is ``error:judge_parse``, ``error:timeout``, ``error:too_long``,
        ``error:model`` or ``error:budget`` of the claims that it struck.
        """
        ...


@dataclass(frozen=True, slots=True)
class ConsistencyTask:
    """One answer to be compared with others of the same model."""

    payer: Payer
    trace: Trace
    item: CheckItem
    rule: ConsistencyRule


@dataclass(frozen=True, slots=True)
class ConsistencyResult:
    """``found`` None: nothing could be compared, for the reason in ``stopped``."""

    found: Consistency | None
    spent: Spent = Spent()
    stopped: LayerReason | None = None


class ConsistencyCheck(Protocol):
    """Compares an answer with others to the same prompt. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """Short constant name, fit for a metric label."""
        ...

    @property
    def fingerprint(self) -> str:
        """Version of everything that decides the result: model, settings of the call, rules of the comparison."""
        ...

    def check(self, tasks: Sequence[ConsistencyTask], deadline: float | None = None) -> list[ConsistencyResult]:
        """One result a task, in order; never raises."""
        ...


class Purse(Protocol):
    """The budget as one process sees it. Safe to call from several threads."""

    def may_spend(self, payer: Payer, tokens: int) -> bool:
        """Whether a call of about ``tokens`` (prompt and reply) fits what is left of this hour; it is then reserved."""
        ...

    def settle(self, payer: Payer, reserved: int, spent: Spent) -> None:
        """Replace a reservation of ``reserved`` tokens by what was spent in truth."""
        ...


class JudgeCache(Protocol):
    """Judgements by key (a content hash with the judge's fingerprint). Safe to call from several threads."""

    def get(self, keys: Sequence[str]) -> Mapping[str, ClaimJudgement]:
        """Those that are known. Never raises: a cache that is away knows nothing."""
        ...

    def put(self, judgements: Mapping[str, ClaimJudgement]) -> None:
        """Keep them; errors are never kept. Never raises."""
        ...


class StackedDetector(Detector, Protocol):
    """A ``Detector`` of L1 and L2 together, which can be given what L1 said already."""

    def judge_after(
        self, items: Sequence[CheckItem], below: Sequence[Sequence[ClaimJudgement] | None]
    ) -> list[list[ClaimJudgement]]:
        """As ``judge``, with L1's judgements where they are known (None where not)."""
        ...


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers above L1 that a process has; ``models`` is L2 stacked on L1, which answers in L1's place."""

    models: StackedDetector | None = None
    judge: ClaimJudge | None = None
    consistency: ConsistencyCheck | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    """Why a layer that was asked for is not here, by layer, for people."""
