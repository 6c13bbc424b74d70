"""What a golden set holds: how many cases and labels per split, intent and tier, and whether that is enough."""

from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from detectors.golden.sets import GoldenSet, LabelledCase
from schemas.base import Record
from schemas.golden import GoldenCase, Split
from schemas.labels import ClaimLabel, Outcome, RiskTier

ENOUGH_LABELS = 200
"""Labelled answers below which a threshold or a rate from them is a guess; calibration says so, too."""


class PartStats(Record):
    """Cases of one part: a split, or an intent and tier; ``labels`` counts recorded answers by the label that holds."""

    split: Split | None = None
    intent: str = ""
    tier: RiskTier | None = None
    cases: int = 0
    answerable: int = 0
    with_answer: int = 0
    labelled: int = 0
    relabelled: int = 0
    """Answers whose label was changed at least once."""
    labels: dict[Outcome, int] = Field(default_factory=dict)
    claim_labels: dict[ClaimLabel, int] = Field(default_factory=dict)


class GoldenStats(Record):
    """The whole set and its parts; ``missing_labels`` is what ``dev`` and ``holdout`` each lack to be enough."""

    version: str
    is_locked: bool = False
    whole: PartStats
    splits: tuple[PartStats, ...] = ()
    slices: tuple[PartStats, ...] = ()
    owners: dict[str, int] = Field(default_factory=dict)
    missing_labels: dict[Split, int] = Field(default_factory=dict)


def stats_of(golden: GoldenSet, *, is_locked: bool = False) -> GoldenStats:
    """The numbers of a set, slices in the order of their names."""
    labelled = {item.case.case_id: item for item in golden.labelled()}

    def part(cases: Iterable[GoldenCase], **names: object) -> PartStats:
        return _part(list(cases), labelled, **names)

    slices = sorted({(case.intent, case.tier) for case in golden.cases})
    splits = tuple(part(golden.part(split).cases, split=split) for split in Split)
    return GoldenStats(
        version=golden.version,
        is_locked=is_locked,
        whole=part(golden.cases),
        splits=splits,
        slices=tuple(
            part(
                (case for case in golden.cases if (case.intent, case.tier) == (intent, tier)), intent=intent, tier=tier
            )
            for intent, tier in slices
        ),
        owners=dict(Counter(case.owner for case in golden.cases).most_common()),
        missing_labels={
            found.split: ENOUGH_LABELS - found.labelled
            for found in splits
            if found.split in {Split.DEV, Split.HOLDOUT} and found.labelled < ENOUGH_LABELS
        },
    )


def _part(cases: list[GoldenCase], labelled: dict[str, LabelledCase], **names: object) -> PartStats:
    own = [labelled[case.case_id] for case in cases if case.case_id in labelled]
    return PartStats(
        **names,
        cases=len(cases),
        answerable=sum(case.is_answerable for case in cases),
        with_answer=sum(bool(case.answer) for case in cases),
        labelled=len(own),
        relabelled=sum(len({given.label for given in case.answer_labels}) > 1 for case in cases),
        labels=dict(Counter(item.label for item in own)),
        claim_labels=dict(Counter(claim.label for case in cases for claim in case.claims if claim.label is not None)),
    )
