"""Which label of an answer holds when several were given: that of an adjudication, else the one that all share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sampling.review_draw import probability_at
from schemas.labels import ClaimLabel, Outcome
from schemas.review import ReviewFrame, ReviewLabel, ReviewStratum

Item = tuple[datetime, str, int | None]
"""Time and id of an answer, and the index of a claim of it; None for the answer as a whole."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What people said of one answer or claim; ``label`` is None while they disagree.

    ``latest`` holds each reviewer's newest label, the first reviewer first. ``drawn`` is the label that the review draw
    asked for, None when the item was labelled for another reason only.
    """

    item: Item
    label: Outcome | ClaimLabel | None
    latest: tuple[ReviewLabel, ...]
    drawn: ReviewLabel | None

    @property
    def is_settled(self) -> bool:
        """True when somebody adjudicated, or nobody disagrees."""
        return self.label is not None


def reviewed(labels: Iterable[ReviewLabel]) -> list[Reviewed]:
    """Every answer and claim that was labelled, in the order of first labels."""
    by_item: dict[Item, list[ReviewLabel]] = {}
    for label in labels:
        by_item.setdefault((label.ts, label.trace_id, label.claim_index), []).append(label)
    return [_reviewed(item, sorted(given, key=lambda label: label.at)) for item, given in by_item.items()]


def answers_of(items: Iterable[Reviewed]) -> list[Reviewed]:
    """Those that are about whole answers."""
    return [one for one in items if one.item[2] is None]


def weights_of(labels: Sequence[ReviewLabel]) -> list[float]:
    """How many answers of all traffic each drawn label stands for, whatever draws it is in.

    Draws overlap: a slice is drawn again for more labels, last week's answers once more. All use one random number an
    answer, so an answer is in their union when that lies below the largest of the limits that hold for it; with each
    draw's own probability such a slice would count twice.
    """
    frames: dict[tuple[str, str], set[ReviewFrame]] = {}
    for label in labels:
        if label.frame is not None:
            frames.setdefault((label.stratum, label.fingerprint), set()).add(label.frame)
    return [_weight(label, frames.get((label.stratum, label.fingerprint), set())) for label in labels]


def _weight(label: ReviewLabel, frames: Iterable[ReviewFrame]) -> float:
    limits = [frame.limit for frame in frames if _covers(frame, label)]
    if not limits:
        return label.weight
    largest = None if None in limits else max(limit for limit in limits if limit is not None)
    return 1 / (probability_at(largest, label.draw_probability) * label.draw_probability)


def _covers(frame: ReviewFrame, label: ReviewLabel) -> bool:
    return (
        frame.since <= label.ts < frame.until
        and (not frame.intents or label.intent in frame.intents)
        and frame.tier in {None, label.tier}
        and (not frame.tenants or label.tenant in frame.tenants)
    )


def opinions(one: Reviewed) -> tuple[ReviewLabel, ReviewLabel] | None:
    """The newest labels of the first two reviewers, adjudications aside; None when only one looked."""
    given = [label for label in one.latest if not label.is_adjudication]
    return (given[0], given[1]) if len(given) > 1 else None


def _reviewed(item: Item, given: list[ReviewLabel]) -> Reviewed:
    latest: dict[tuple[str, bool], ReviewLabel] = {}
    for label in given:
        latest[label.reviewer, label.is_adjudication] = label
    settled = [label for label in latest.values() if label.is_adjudication]
    said = {label.label for label in (settled[-1:] or latest.values())}
    drawn = next((label for label in given if label.stratum is not ReviewStratum.ASKED), None)
    return Reviewed(item, said.pop() if len(said) == 1 else None, tuple(latest.values()), drawn)
