"""Second looks at answers that were judged: outdated versions, doubtful citations, what only the user may have said.

Each answer is looked at again by the detector that judged it, in one call for all answers of the same one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from detectors.attribution import find_misattributed
from detectors.course import Course, by_detector
from detectors.newest import settle_by_newest
from detectors.provenance import find_said_by_user
from schemas.finding import Finding
from schemas.labels import ClaimLabel
from schemas.policy import PolicyDocument


@dataclass(frozen=True, slots=True)
class Looked:
    """What a second look found on one answer."""

    findings: Sequence[Finding] = ()
    said_by_user: frozenset[int] = frozenset()


def settle_outdated(
    courses: Sequence[Course], policies: Sequence[PolicyDocument], attempts: int
) -> list[Sequence[Finding]]:
    """Judge again what rests on outdated versions; for each answer the claims that rested on them. Raises Retryable."""
    found: list[Sequence[Finding]] = [()] * len(courses)
    for places in by_detector(courses):
        some = [courses[place] for place in places]
        settled, rested = settle_by_newest(
            [course.ready for course in some],
            [course.judgements for course in some],
            [policies[place] for place in places],
            some[0].detector,
            attempts,
        )
        for place, judgements, findings in zip(places, settled, rested, strict=True):
            courses[place].judgements = judgements
            found[place] = findings
    return found


def look_again(
    courses: Sequence[Course],
    policies: Sequence[PolicyDocument],
    rested: Sequence[Sequence[Finding]],
    attempts: int,
) -> list[Looked]:
    """For each answer what its citations and the user's words show, with what rested on outdated versions.

    A claim that a judge found supported by the versions in force rested on the outdated one no longer. Raises
    Retryable.
    """
    looked = [Looked()] * len(courses)
    for places in by_detector(courses):
        some, rules = [courses[place] for place in places], [policies[place] for place in places]
        prepared, judgements = [course.ready for course in some], [course.judgements for course in some]
        wrong = find_misattributed(prepared, judgements, rules, some[0].detector, attempts)
        said = find_said_by_user(prepared, judgements, rules, some[0].detector, attempts)
        for place, attributed, by_user in zip(places, wrong, said, strict=True):
            still = [one for one in rested[place] if not _is_cleared(courses[place], one)]
            looked[place] = Looked((*still, *attributed), by_user)
    return looked


def _is_cleared(course: Course, finding: Finding) -> bool:
    return any(
        claim.index == finding.claim and judged.label is ClaimLabel.SUPPORTED
        for claim, judged in zip(course.ready.claims, course.judgements, strict=False)
    )
