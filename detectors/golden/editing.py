"""Changes of a golden set: cases and labels added; what was said before is never lost, and doing it twice is once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from detectors.golden.groups import groups_of
from detectors.golden.near import SIMILARITY
from detectors.golden.sets import GoldenSet
from schemas.errors import ConfigError
from schemas.golden import GoldenCase, Labelled
from schemas.labels import ClaimLabel, Outcome


@dataclass(frozen=True, slots=True)
class Added:
    """A set after cases were added; ids of those that are ``new``, got ``more`` labels, or were there ``already``."""

    golden: GoldenSet
    new: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    refused: tuple[str, ...] = field(default=())
    """Why a case was left out, with its id and the fix."""


def add_cases(golden: GoldenSet, cases: Iterable[GoldenCase], similarity: float = SIMILARITY) -> Added:
    """The set with more cases.

    A case whose id is there already only brings its labels, which are merged by time and author; one that differs in
    anything else is refused. A new case that shares source, trace or question with known ones goes to their split.
    """
    known = golden.by_id()
    new: dict[str, GoldenCase] = {}
    more: dict[str, GoldenCase] = {}
    already: list[str] = []
    refused: list[str] = []
    for case in cases:
        old = more.get(case.case_id) or new.get(case.case_id) or known.get(case.case_id)
        if old is None:
            new[case.case_id] = case
            continue
        if difference := _differs(old, case):
            fix = "give it another id, or change the case in the file"
            refused.append(f"{case.case_id}: {difference} is not as in the set; {fix}")
            continue
        merged = _with_labels_of(old, case)
        if merged == old:
            already.append(case.case_id)
        else:
            (new if case.case_id in new else more)[case.case_id] = merged
    kept = tuple(more.get(case.case_id, case) for case in golden.cases)
    placed = _in_split_of_group((*kept, *new.values()), len(kept), similarity)
    return Added(
        GoldenSet(placed, (*golden.lines, *(0 for _ in new)) if golden.lines else ()),
        tuple(new),
        tuple(more),
        tuple(already),
        tuple(refused),
    )


def relabel_answer(golden: GoldenSet, case_id: str, label: Labelled[Outcome]) -> GoldenSet:
    """The set with one more label on a recorded answer. Raises ConfigError without such a case or answer."""
    case = _case(golden, case_id)
    if not case.answer:
        raise ConfigError(f"case {case_id!r} has no recorded answer that a label could be about; add `answer` first")
    changed = case.model_dump() | {"answer_labels": _merged(case.answer_labels, (label,))}
    return _replaced(golden, GoldenCase.model_validate(changed))


def relabel_claim(golden: GoldenSet, case_id: str, index: int, label: Labelled[ClaimLabel]) -> GoldenSet:
    """The set with one more label on a claim, counted from 0. Raises ConfigError for an unknown case or claim."""
    case = _case(golden, case_id)
    if not 0 <= index < len(case.claims):
        had = f"claims 0 to {len(case.claims) - 1}" if case.claims else "no claims"
        raise ConfigError(f"case {case_id!r} has {had}, and not {index}; `groundwatch golden stats --case {case_id}`")
    claims = list(case.claims)
    claims[index] = claims[index].model_copy(update={"labels": _merged(claims[index].labels, (label,))})
    return _replaced(golden, case.model_copy(update={"claims": tuple(claims)}))


def _case(golden: GoldenSet, case_id: str) -> GoldenCase:
    found = golden.by_id().get(case_id)
    if found is None:
        raise ConfigError(f"no case {case_id!r} in the set; `groundwatch golden stats --cases` lists the ids")
    return found


def _replaced(golden: GoldenSet, changed: GoldenCase) -> GoldenSet:
    cases = tuple(changed if case.case_id == changed.case_id else case for case in golden.cases)
    return GoldenSet(cases, golden.lines)


def _differs(old: GoldenCase, new: GoldenCase) -> str:
    """The first field in which a case said again differs from the known one; labels and the split aside."""
    aside = {"answer_labels", "claims", "split", "format_version"}
    for name in GoldenCase.model_fields:
        if name not in aside and getattr(old, name) != getattr(new, name):
            return name
    texts = [[claim.text for claim in case.claims] for case in (old, new)]
    return "claims" if all(texts) and texts[0] != texts[1] else ""


def _with_labels_of(old: GoldenCase, new: GoldenCase) -> GoldenCase:
    claims = tuple(
        claim.model_copy(update={"labels": _merged(claim.labels, new.claims[place].labels)}) if new.claims else claim
        for place, claim in enumerate(old.claims or new.claims)
    )
    labels = _merged(old.answer_labels, new.answer_labels)
    return old.model_copy(update={"claims": claims, "answer_labels": labels})


def _merged(old: Sequence[Labelled[Any]], new: Sequence[Labelled[Any]]) -> tuple[Labelled[Any], ...]:
    """Both histories in the order of time; one label by one author at one time is there once."""
    every = dict.fromkeys((*old, *new))
    return tuple(sorted(every, key=lambda label: label.at))


def _in_split_of_group(cases: tuple[GoldenCase, ...], known: int, similarity: float) -> tuple[GoldenCase, ...]:
    placed = list(cases)
    for group in groups_of(cases, similarity):
        if group[0] >= known:
            continue
        for place in group:
            if place >= known:
                placed[place] = cases[place].model_copy(update={"split": cases[group[0]].split})
    return tuple(placed)
