"""Labels of reviewers into the store: every row is checked, and nothing is taken from a file with a fault.

A label that its reviewer gave before changes nothing, so a file may be handed in twice, or once more when more of it is
filled in. Earlier labels are never replaced.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from pydantic import Field, ValidationError

from schemas.base import Record
from schemas.codec import invalid_message
from schemas.errors import ConfigError
from schemas.golden import ANSWER_LABELS, answer_label_of
from schemas.labels import ClaimLabel
from schemas.review import ReviewLabel
from streams.reviews.given import GivenLabel, RowFault
from streams.reviews.refs import ReviewRef, opened
from streams.store import AllTenants, ReviewFilter, Store, Tenants

W = TypeVar("W", bound=StrEnum)
FROM_CLAIMS = "from the labels of its claims"
_Said = tuple[object, ...]
_NEXT = timedelta(microseconds=1)
_AHEAD = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for rows that do not say it: who labelled, and when; ``is_adjudication`` settles disagreements."""

    now: datetime
    reviewer: str = ""
    is_adjudication: bool = False


class ReviewImport(Record):
    """What became of a file: labels taken, labels that were known, and the faults for which nothing was taken.

    ``derived`` labels of answers that the reviewer left empty follow from those of all their claims; they are taken.
    """

    taken: int = 0
    derived: int = 0
    unchanged: int = 0
    answers: int = 0
    faults: tuple[RowFault, ...] = Field(default=())


@dataclass(slots=True)
class _Read:
    labels: list[ReviewLabel] = field(default_factory=list)
    derived: list[ReviewLabel] = field(default_factory=list)
    faults: list[RowFault] = field(default_factory=list)


def import_labels(  # noqa: PLR0913 — a store, what was given, and how to read it
    store: Store,
    rows: Iterable[GivenLabel],
    salt: bytes,
    defaults: Defaults,
    tenants: Tenants,
    *,
    check_only: bool = False,
) -> ReviewImport:
    """Check all rows, then store what is new in them; with a fault, or ``check_only``, nothing. Raises as the store."""
    read = _read(rows, salt, defaults, tenants)
    every = [*read.labels, *read.derived]
    known = _known(store, every, tenants)
    new = [label for label in every if _said(label, None if label.at == defaults.now else label.at) not in known]
    if not read.faults and not check_only:
        store.reviews.insert_labels(new, tenants=tenants)
    taken = [] if read.faults else new
    return ReviewImport(
        taken=len(taken),
        derived=sum(label.note == FROM_CLAIMS for label in taken),
        unchanged=len(every) - len(new),
        answers=len({(label.ts, label.trace_id) for label in taken}),
        faults=tuple(read.faults),
    )


def _read(rows: Iterable[GivenLabel], salt: bytes, defaults: Defaults, tenants: Tenants) -> _Read:
    read = _Read()
    refs: dict[tuple[datetime, str, str], ReviewRef] = {}
    for row in rows:
        try:
            ref = _ref(row, salt, tenants)
            label = _label(row, ref, defaults)
        except _Refused as refused:
            read.faults.append(RowFault(row=row.row, field=refused.field, text=str(refused)))
            continue
        read.labels.append(label)
        refs[label.ts, label.trace_id, label.reviewer] = ref
    read.faults += _twice(read.labels)
    read.derived = _derived(read.labels, refs)
    return read


class _Refused(Exception):
    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.field = name


def _ref(row: GivenLabel, salt: bytes, tenants: Tenants) -> ReviewRef:
    try:
        ref = opened(row.ref, salt)
    except ConfigError as error:
        raise _Refused("ref", str(error)) from error
    if not isinstance(tenants, AllTenants) and ref.tenant not in tenants:
        raise _Refused("ref", "is an answer of another tenant; import it with that tenant's rights")
    if row.trace_id and row.trace_id != ref.trace_id:
        raise _Refused("trace_id", f"{row.trace_id[:60]!r} is not the answer of this row's ref; did rows get mixed up?")
    return ref


def _label(row: GivenLabel, ref: ReviewRef, defaults: Defaults) -> ReviewLabel:
    reviewer = row.reviewer or defaults.reviewer
    if not reviewer:
        raise _Refused("reviewer", "is empty; fill it in, or give --reviewer")
    claim = _claim(row.claim, ref)
    fields = ref.model_dump(exclude={"claims", "frame"}) | {
        "frame": ref.frame,
        "reviewer": reviewer,
        "at": _time(row.labelled_at, ref, defaults.now),
        "note": row.note,
        "is_adjudication": defaults.is_adjudication,
    }
    if claim is None:
        fields["answer_label"] = _word(row.label, ANSWER_LABELS)
    else:
        fields |= {"claim_index": claim, "claim_label": _word(row.label, ClaimLabel)}
    try:
        return ReviewLabel(**fields)
    except ValidationError as error:
        name, _, text = invalid_message(error).detail.partition(": ")
        raise _Refused(name, text) from error


def _claim(text: str, ref: ReviewRef) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or int(text) >= ref.claims:
        had = f"0 to {ref.claims - 1}" if ref.claims else "none"
        raise _Refused("claim", f"{text[:20]!r} is no claim of this answer ({had}); leave the cell as it was exported")
    return int(text)


def _time(text: str, ref: ReviewRef, now: datetime) -> datetime:
    if not text:
        return now
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise _Refused(
            "labelled_at", f"{text[:40]!r} is no time; write 2026-03-10T12:00Z, or leave it empty"
        ) from error
    if found.tzinfo is None:
        raise _Refused("labelled_at", f"{text!r} has no time zone; for UTC write {text}Z, or leave it empty")
    if found > now + _AHEAD:
        raise _Refused("labelled_at", f"{text!r} lies in the future; correct it, or leave it empty")
    if found < ref.ts:
        raise _Refused("labelled_at", f"{text!r} is before the answer itself ({ref.ts.isoformat()}); correct it")
    return found


def _word(text: str, known: Collection[W] | type[W]) -> W:
    found = next((word for word in known if word.value == text.casefold()), None)
    if found is None:
        allowed = ", ".join(sorted(word.value for word in known))
        raise _Refused("label", f"{text[:40]!r} is no label; use one of {allowed}, or leave it empty")
    return found


def _twice(labels: Sequence[ReviewLabel]) -> list[RowFault]:
    """One reviewer who gives one thing two labels at one time: which of them is meant cannot be told."""
    said: dict[tuple[object, ...], ReviewLabel] = {}
    found = []
    for label in labels:
        first = said.setdefault((label.ts, label.trace_id, label.claim_index, label.reviewer, label.at), label)
        if first.label != label.label:
            what = "the answer" if label.claim_index is None else f"claim {label.claim_index}"
            text = f"{label.reviewer} calls {what} of {label.trace_id} both {first.label} and {label.label}; keep one"
            found.append(RowFault(row=0, field="label", text=text))
    return found


def _derived(labels: Sequence[ReviewLabel], refs: dict[tuple[datetime, str, str], ReviewRef]) -> list[ReviewLabel]:
    """Labels of answers whose reviewer labelled the claims only, where those decide."""
    by_answer: dict[tuple[datetime, str, str], dict[int | None, ReviewLabel]] = {}
    for label in labels:
        by_answer.setdefault((label.ts, label.trace_id, label.reviewer), {})[label.claim_index] = label
    found = []
    for key, given in by_answer.items():
        if None in given:
            continue
        claims: list[ClaimLabel | None] = [
            given[n].claim_label if n in given else None for n in range(refs[key].claims)
        ]
        outcome = answer_label_of(claims)
        if outcome is not None:
            newest = max(given.values(), key=lambda label: label.at)
            changes = {"claim_index": None, "claim_label": None, "answer_label": outcome, "note": FROM_CLAIMS}
            found.append(newest.model_copy(update=changes))
    return found


def _known(store: Store, labels: Sequence[ReviewLabel], tenants: Tenants) -> set[_Said]:
    """What was said before of these answers, with its time, and for labels without one of their own without it."""
    if not labels:
        return set()
    times = [label.ts for label in labels]
    stored = store.reviews.labels(ReviewFilter(min(times), max(times) + _NEXT), tenants=tenants)
    return {said for label in stored for said in (_said(label, label.at), _said(label, None))}


def _said(label: ReviewLabel, at: datetime | None) -> _Said:
    who = label.ts, label.trace_id, label.claim_index, label.reviewer, label.is_adjudication
    return who, label.label.value, label.note, at
