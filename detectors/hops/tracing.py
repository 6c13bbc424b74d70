"""Tracing claims back: what rests on the output of an earlier hop is as supported as the claims that it rests on there.

A hop can rest on earlier ones alone, so every chain ends, at a source or at the hop that made the claim up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from detectors.hops.steps import Step
from detectors.outcome import BAD, WORST_FIRST, label_claim
from schemas.claim import Claim
from schemas.labels import ClaimLabel, FailureLabel
from schemas.policy import Thresholds
from schemas.trace import Hop
from schemas.verdict import ClaimJudgement

_NOTHING_GIVEN = ClaimJudgement(support=0.0, contradiction=0.0, why="this hop was given nothing")
_MOST_NAME = 60
_ENDS = {
    ClaimLabel.CONTRADICTED: "what it was given contradicts it",
    ClaimLabel.UNSUPPORTED: "what it was given does not support it",
    ClaimLabel.UNCLEAR: "it is not known whether what it was given supports it",
    ClaimLabel.SUPPORTED: "what it was given supports it",
}


class Against(Enum):
    """What claims are held against."""

    SOURCES = "sources"
    """Claims of a hop: its own passages and tool outputs. Claims of the answer: those of all, without echoes."""
    EARLIER = "earlier"
    """The outputs of the hops before."""


ANSWER = -1
"""Stands for the answer where steps stand by their place."""
Key = tuple[int, Against]
"""A step by its place, or the answer, and what its claims are held against."""
Answers = Mapping[Key, Sequence[ClaimJudgement]]
"""A judgement for each claim that was asked about.

Evidence in sources counts in the context of the whole trace, in outputs in the steps that the claims may rest on.
"""


@dataclass(frozen=True, slots=True)
class Traced:
    """A claim with its judgement after tracing.

    ``hop`` is the one whose sources decided it, or which made it up; ``via`` are the hops that handed it on, the
    nearest first, empty where nothing did. ``link`` is the label of the claim that it rests on there.
    """

    claim: Claim
    judgement: ClaimJudgement
    hop: int
    via: tuple[int, ...] = ()
    link: ClaimLabel | None = None


@dataclass(frozen=True, slots=True)
class Trail:
    """Steps with their claims after tracing, by place."""

    steps: Sequence[Step]
    thresholds: Thresholds
    traced: list[list[Traced]] = field(default_factory=list)


def trace_steps(steps: Sequence[Step], answers: Answers, thresholds: Thresholds) -> Trail:
    """By step its claims, in order; a step rests on steps before it, which are traced by then."""
    trail = Trail(steps, thresholds)
    for place, step in enumerate(steps):
        own = answers.get((place, Against.SOURCES), [_NOTHING_GIVEN] * len(step.claims))
        through = answers.get((place, Against.EARLIER), [_NOTHING_GIVEN] * len(step.claims))
        trail.traced.append(
            [
                _follow(Traced(claim, judged, step.number), said, step.earlier, trail)
                for claim, judged, said in zip(step.claims, own, through, strict=True)
            ]
        )
    return trail


def trace_claim(
    claim: Claim, own: ClaimJudgement, said: ClaimJudgement, earlier: Sequence[int], trail: Trail
) -> Traced | None:
    """A claim of the answer after tracing; None where no hop before it says so.

    ``own`` is the judgement on the sources of all hops, ``said`` the one on the outputs of the ``earlier`` steps.
    """
    found = _follow(Traced(claim, own, ANSWER), said, earlier, trail)
    return found if found.via else None


def is_open(judgement: ClaimJudgement, thresholds: Thresholds) -> bool:
    """Whether the sources alone do not support a claim, so that it is worth asking which hop it comes from."""
    labelled = label_claim(judgement, thresholds)
    is_bare = labelled.label in BAD or labelled.label is ClaimLabel.UNCLEAR
    return labelled.error is None and is_bare


def named(number: int, hops: Sequence[Hop]) -> str:
    """``hop 2 (lookup)``, as people count."""
    name = " ".join(hops[number].name.split())[:_MOST_NAME]
    return f"hop {number + 1} ({name})" if name else f"hop {number + 1}"


def explained(found: Traced, hops: Sequence[Hop], thresholds: Thresholds) -> ClaimJudgement:
    """The judgement of a claim that was traced back, with the reason in words."""
    if found.link is None:
        return found.judgement
    chain = " and ".join(named(number, hops) for number in found.via if number != found.hop)
    says = f"{named(found.hop, hops)} says so{', through ' if chain else ''}{chain}, and {_ENDS[found.link]}"
    is_cleared = label_claim(found.judgement, thresholds).label is ClaimLabel.SUPPORTED
    own = "" if is_cleared else found.judgement.why
    return found.judgement.model_copy(update={"why": f"{own}; {says}" if own else says})


def _follow(found: Traced, said: ClaimJudgement, earlier: Sequence[int], trail: Trail) -> Traced:
    """The claim as it stands after looking at what earlier hops said; itself where they did not say it."""
    thresholds = trail.thresholds
    if not is_open(found.judgement, thresholds):
        return found
    place, rests = _rests(said, earlier, trail)
    if not rests:
        return found
    weakest = min(rests, key=lambda one: _rank(one.judgement, thresholds))
    judgement = _derived(found.judgement, said, weakest.judgement, thresholds)
    link = label_claim(weakest.judgement, thresholds).label
    return Traced(found.claim, judgement, weakest.hop, (trail.steps[place].number, *weakest.via), link)


def _rests(said: ClaimJudgement, earlier: Sequence[int], trail: Trail) -> tuple[int, list[Traced]]:
    """The step that says so, and those of its claims that the deciding words belong to."""
    evidence = said.evidence
    if label_claim(said, trail.thresholds).label is not ClaimLabel.SUPPORTED or evidence is None:
        return -1, []
    place = earlier[evidence.passage]
    return place, [
        one for one in trail.traced[place] if one.claim.start < evidence.end and evidence.start < one.claim.end
    ]


def _derived(
    own: ClaimJudgement, said: ClaimJudgement, weakest: ClaimJudgement, thresholds: Thresholds
) -> ClaimJudgement:
    """As supported as the weakest link; what the sources contradict, or say both ways, no hop can mend.

    A claim of which the sources left doubt is unsupported where the hop that says so made it up.
    """
    labelled, link = label_claim(own, thresholds), label_claim(weakest, thresholds)
    if labelled.label is ClaimLabel.CONTRADICTED or labelled.failure is FailureLabel.CONFLICTING_SOURCES:
        return own
    support = min(said.support or 0.0, weakest.support or 0.0)
    if link.label is ClaimLabel.SUPPORTED:
        return own.model_copy(update={"support": support, "evidence": weakest.evidence})
    if labelled.label is ClaimLabel.UNCLEAR and link.label in BAD:
        return own.model_copy(update={"support": min(own.support or 0.0, support)})
    return own


def _rank(judgement: ClaimJudgement, thresholds: Thresholds) -> tuple[int, float]:
    """The worst first, and of equals the one with the least support."""
    return WORST_FIRST.index(label_claim(judgement, thresholds).label), judgement.support or 0.0
