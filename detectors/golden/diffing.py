"""What changed between two versions of a golden set, label by label, so that a moved number can be explained."""

from collections.abc import Iterator, Sequence
from typing import Any

from detectors.golden.sets import GoldenSet
from schemas.base import Record
from schemas.golden import GoldenCase, Labelled


class CaseChange(Record):
    """One changed field of a case: ``before`` and ``after`` as text, labels by their word."""

    case_id: str
    field: str
    before: str
    after: str


class GoldenDiff(Record):
    """The versions, and the cases that were added, removed and changed, by id."""

    version_before: str
    version_after: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changes: tuple[CaseChange, ...] = ()

    @property
    def is_same(self) -> bool:
        """True when both hold the same, whatever the order."""
        return self.version_before == self.version_after


def diff_golden(before: GoldenSet, after: GoldenSet) -> GoldenDiff:
    """Everything that differs between two sets; histories of labels count, order does not."""
    old, new = before.by_id(), after.by_id()
    return GoldenDiff(
        version_before=before.version,
        version_after=after.version,
        added=tuple(case_id for case_id in new if case_id not in old),
        removed=tuple(case_id for case_id in old if case_id not in new),
        changes=tuple(
            change for case_id, case in new.items() if case_id in old for change in _changes(old[case_id], case)
        ),
    )


def _changes(old: GoldenCase, new: GoldenCase) -> Iterator[CaseChange]:
    before, after = _fields(old), _fields(new)
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name, ""), after.get(name, "")
        if one != other:
            yield CaseChange(case_id=new.case_id, field=name, before=one, after=other)


def _fields(case: GoldenCase) -> dict[str, str]:
    """Each field as text; labels and claims apart, since those are what people look for."""
    fields = {
        name: _text(value)
        for name, value in case.model_dump(mode="json", exclude={"claims", "answer_labels", "format_version"}).items()
    }
    fields["answer_labels"] = _labels(case.answer_labels)
    for index, claim in enumerate(case.claims):
        fields[f"claims[{index}].text"] = claim.text
        fields[f"claims[{index}].labels"] = _labels(claim.labels)
        fields[f"claims[{index}].evidence"] = ", ".join(claim.evidence)
    return fields


def _labels(labels: Sequence[Labelled[Any]]) -> str:
    return " → ".join(f"{given.label.value} ({given.author}, {given.at:%Y-%m-%d %H:%M})" for given in labels)


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(
            str(item["doc_id"]) + ": " + str(item["text"]) if isinstance(item, dict) else str(item) for item in value
        )
    return str(value)
