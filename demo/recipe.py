"""How much demo traffic there is, how often it is wrong, and what was deployed when: data only, no chance in here."""

from datetime import timedelta
from typing import Literal

from pydantic import Field

from demo.corpus import AnswerKind
from schemas.base import Record
from schemas.labels import RiskTier
from schemas.slice import Slice
from schemas.trace import Versions


class CellRecipe(Record):
    """Traffic of one intent at one tier over the whole window; ``hallucinated_rate`` is of the judged answers."""

    intent: str
    tier: RiskTier
    answers: int = Field(gt=0)
    hallucinated_rate: float = Field(gt=0, lt=1)

    @property
    def slice(self) -> Slice:
        """The alert cell."""
        return Slice(intent=self.intent, tier=self.tier)


class BadDeploy(Record):
    """A deploy after which one cell answers worse; ``answers_after`` come on top of the cell's traffic before it."""

    intent: str
    tier: RiskTier
    before_now: timedelta
    hallucinated_rate: float = Field(gt=0, lt=1)
    answers_after: int = Field(gt=0)


class VersionStep(Record):
    """A version tag that changes for ``intent`` (``*``: all of them) at ``before_now`` before the end of the window."""

    field: Literal["model", "prompt", "corpus", "retriever", "app"]
    value: str
    before_now: timedelta
    intent: str = "*"


class AsideShares(Record):
    """Shares of all traces that assert nothing and so stay outside the rate; the rest asserts facts."""

    abstention: float = Field(default=0.025, ge=0, lt=1)
    clarification: float = Field(default=0.015, ge=0, lt=1)
    greeting: float = Field(default=0.01, ge=0, lt=1)
    over_refusal: float = Field(default=0.01, ge=0, lt=1)

    def items(self) -> tuple[tuple[AnswerKind, float], ...]:
        """The shares by kind, in a fixed order."""
        return (
            (AnswerKind.ABSTENTION, self.abstention),
            (AnswerKind.CLARIFICATION, self.clarification),
            (AnswerKind.GREETING, self.greeting),
            (AnswerKind.OVER_REFUSAL, self.over_refusal),
        )


class Recipe(Record):
    """The demo's traffic. ``missing_citation_share`` and ``wrong_citation_share`` are of the sound judged answers."""

    window: timedelta
    cells: tuple[CellRecipe, ...] = Field(min_length=1)
    deploy: BadDeploy
    first_versions: Versions
    steps: tuple[VersionStep, ...] = ()
    aside: AsideShares = AsideShares()
    missing_citation_share: float = Field(default=0.02, ge=0, lt=1)
    wrong_citation_share: float = Field(default=0.01, ge=0, lt=1)
    live_traces_per_second: float = Field(default=3.0, gt=0)

    @property
    def total(self) -> int:
        """Traces in the window."""
        return sum(cell.answers for cell in self.cells) + self.deploy.answers_after


BUSY_INTENT = "billing.refund"
BUSY_TIER = RiskTier.HIGH
DEPLOY_BEFORE_NOW = timedelta(hours=12)

_CELLS = (
    # about 310 a day over the 20.5 days before the deploy: old enough for a baseline of its own
    (BUSY_INTENT, BUSY_TIER, 6400, 0.05),
    (BUSY_INTENT, RiskTier.MEDIUM, 150, 0.05),
    ("billing.invoice", RiskTier.MEDIUM, 300, 0.05),
    ("billing.invoice", RiskTier.LOW, 130, 0.05),
    ("account.access", RiskTier.MEDIUM, 270, 0.04),
    ("account.access", RiskTier.HIGH, 140, 0.04),
    ("shipping.delivery", RiskTier.LOW, 300, 0.06),
    ("shipping.delivery", RiskTier.MEDIUM, 190, 0.06),
    ("product.specs", RiskTier.LOW, 300, 0.06),
    ("product.specs", RiskTier.MEDIUM, 110, 0.05),
    ("product.specs", RiskTier.HIGH, 90, 0.04),
    ("warranty.claims", RiskTier.MEDIUM, 200, 0.05),
    ("warranty.claims", RiskTier.HIGH, 130, 0.05),
    ("privacy.data", RiskTier.HIGH, 150, 0.04),
    ("privacy.data", RiskTier.MEDIUM, 140, 0.04),
)

DEMO_RECIPE = Recipe(
    window=timedelta(days=21),
    cells=tuple(
        CellRecipe(intent=intent, tier=tier, answers=answers, hallucinated_rate=rate)
        for intent, tier, answers, rate in _CELLS
    ),
    deploy=BadDeploy(
        intent=BUSY_INTENT,
        tier=BUSY_TIER,
        before_now=DEPLOY_BEFORE_NOW,
        hallucinated_rate=0.20,
        answers_after=1000,
    ),
    first_versions=Versions(
        model="mossline-large-4",
        prompt="p-14",
        corpus="kb-41",
        retriever="r-7",
        app="5.18.0",
    ),
    steps=(
        VersionStep(field="corpus", value="kb-42", before_now=timedelta(days=9, hours=3)),
        VersionStep(field="app", value="5.19.0", before_now=timedelta(days=2, hours=17)),
        # two harmless changes near the bad one, so that finding the cause takes more than "what changed today"
        VersionStep(field="retriever", value="r-8", before_now=timedelta(hours=40), intent="shipping.delivery"),
        VersionStep(field="app", value="5.19.1", before_now=timedelta(hours=31)),
        VersionStep(field="prompt", value="p-15", before_now=DEPLOY_BEFORE_NOW, intent=BUSY_INTENT),
    ),
)
"""About 10,000 traces over 21 days; half a day before now the prompt of the busy intent goes bad (rate × 4)."""
