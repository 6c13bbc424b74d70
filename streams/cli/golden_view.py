"""What the commands of ``groundwatch golden`` show; texts of cases are untrusted and go through ``plain``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from detectors.golden import GoldenSet
from detectors.golden.diffing import GoldenDiff
from detectors.golden.editing import Added
from detectors.golden.problem import Problem
from detectors.golden.stats import GoldenStats, PartStats
from schemas.base import Record
from schemas.golden import GoldenCase, Labelled, Split
from schemas.labels import ClaimLabel, Outcome
from streams.cli.display import columns, moment, plain

_LONG = 80


class CheckedProblem(Record):
    """A line of ``golden check --json``; ``line`` is 0 where none can be told, ``case_id`` empty for a faulty line."""

    file: str
    line: int
    case_id: str
    field: str
    text: str
    is_doubt: bool

    @classmethod
    def of(cls, file: Path, problem: Problem) -> "CheckedProblem":
        """The problem of a file."""
        return cls(
            file=str(file),
            line=problem.line,
            case_id=problem.case_id,
            field=problem.field,
            text=problem.text,
            is_doubt=problem.is_doubt,
        )


class SplitResult(Record):
    """What ``golden split`` and ``golden lock`` print: cases by split, ids that moved or were relocked, the version."""

    version: str
    cases: dict[Split, int]
    moved: tuple[str, ...]
    is_written: bool

    @classmethod
    def of(cls, golden: GoldenSet, moved: Sequence[str], *, is_written: bool) -> "SplitResult":
        """The numbers of a set."""
        cases = {split: len(golden.part(split).cases) for split in Split}
        return cls(version=golden.version, cases=cases, moved=tuple(moved), is_written=is_written)


class Relabelled(Record):
    """What ``golden relabel`` prints: the history of labels, oldest first."""

    case_id: str
    claim: int | None
    version: str
    labels: tuple[Labelled[Outcome] | Labelled[ClaimLabel], ...]


class GoldenAdded(Record):
    """What ``golden add`` and ``golden import`` print: ids by what became of them, refusals with their reasons."""

    version: str
    cases: int
    new: tuple[str, ...]
    more_labels: tuple[str, ...]
    already: tuple[str, ...]
    refused: tuple[str, ...]
    is_written: bool

    @classmethod
    def of(cls, added: Added, refused: Sequence[str], *, is_written: bool) -> "GoldenAdded":
        """The numbers of an addition; ``refused`` are rows that never became cases."""
        return cls(
            version=added.golden.version,
            cases=len(added.golden.cases),
            new=added.new,
            more_labels=added.more,
            already=added.already,
            refused=(*refused, *added.refused),
            is_written=is_written,
        )


def describe_added(done: GoldenAdded) -> Text:
    """One line with the numbers."""
    told = f"{len(done.new)} new, {len(done.more_labels)} with more labels, {len(done.already)} there already"
    wrote = "" if done.is_written else " (nothing written)"
    return Text(f"{told}, {len(done.refused)} refused; {done.cases:,} cases, version {done.version}{wrote}")


def describe_split(done: SplitResult) -> Text:
    """One line with the numbers."""
    parts = ", ".join(f"{split} {number:,}" for split, number in done.cases.items())
    wrote = "" if done.is_written else " (nothing written)"
    return Text(f"{parts}; {len(done.moved)} moved; version {done.version}{wrote}")


def describe_stats(found: GoldenStats) -> Group:
    """The set by split and by slice."""
    state = "hold-out locked" if found.is_locked else "hold-out not locked"
    parts: list[Any] = [Text(f"version {found.version}, {state}"), _table("split", found.splits, found.whole)]
    parts.append(_table("intent, tier", found.slices, None))
    for split, missing in found.missing_labels.items():
        parts.append(Text(f"{split}: {missing} labelled answers are missing to choose or measure a threshold"))
    return Group(*parts)


def describe_diff(found: GoldenDiff) -> Group:
    """Ids added and removed, then every changed field."""
    if found.is_same:
        return Group(Text(f"the same content, version {found.version_after}"))
    lines = [Text(f"{found.version_before} → {found.version_after}")]
    lines += [Text(plain(f"+ {case_id}"), style="green") for case_id in found.added]
    lines += [Text(plain(f"- {case_id}"), style="red") for case_id in found.removed]
    for change in found.changes:
        lines.append(Text(plain(f"  {change.case_id}  {change.field}"), style="bold"))
        lines.append(Text(plain(f"    - {_short(change.before)}"), style="red"))
        lines.append(Text(plain(f"    + {_short(change.after)}"), style="green"))
    return Group(*lines)


def case_line(case: GoldenCase) -> Text:
    """A case in one line."""
    label = case.answer_label or ("no label" if case.answer else "no answer")
    return Text(plain(f"{case.case_id}  {case.split}  {label}  {_short(case.question)}"))


def case_text(case: GoldenCase) -> Text:
    """A case with its claims and the history of every label."""
    lines = [f"{case.case_id}  {case.split}  {case.intent}/{case.tier}", f"question  {case.question}"]
    if case.answer:
        lines += [f"answer    {case.answer}", *_history(case.answer_labels)]
    for index, claim in enumerate(case.claims):
        lines += [f"claim {index}   {claim.text}", *_history(claim.labels)]
    return Text(plain("\n".join(lines)))


def _history(labels: Sequence[Labelled[Any]]) -> list[str]:
    return [
        f"          {given.label}  {given.author}, {moment(given.at)}{f'  {given.note}' if given.note else ''}"
        for given in labels
    ]


def _table(name: str, parts: Sequence[PartStats], whole: PartStats | None) -> Table:
    table = columns(name, "cases", "answerable", "answers", "labelled", "labels", right=slice(1, 5))
    for part in parts:
        of_slice = f"{part.intent}, {part.tier}" if part.tier else ""
        table.add_row(Text(plain(part.split or of_slice)), *_cells(part))
    if whole is not None:
        table.add_row(Text("all"), *_cells(whole))
    return table


def _cells(part: PartStats) -> tuple[str, ...]:
    labels = ", ".join(f"{label} {number}" for label, number in part.labels.items())
    return str(part.cases), str(part.answerable), str(part.with_answer), str(part.labelled), labels


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _LONG else one_line[: _LONG - 1] + "…"
