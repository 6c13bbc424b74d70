"""A golden set in memory: cases in the order of the file, and a version that changes with anything in them.

The version is a hash of the content alone, so the same cases in another order or file are the same version.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

from schemas.golden import GoldenCase, GoldenClaim, Split, answer_label_of
from schemas.labels import Outcome


@dataclass(frozen=True, slots=True)
class LabelledCase:
    """A case whose recorded answer has a label; ``is_from_claims``: it follows from those of all its claims."""

    case: GoldenCase
    label: Outcome
    is_from_claims: bool = False


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Cases with unique ids; ``lines`` are their lines in the file, empty for a set that came from elsewhere."""

    cases: tuple[GoldenCase, ...] = ()
    lines: tuple[int, ...] = field(default=(), compare=False)

    @property
    def version(self) -> str:
        """``g`` and 12 hex digits over all that the cases hold, histories of labels included."""
        return "g" + content_hash(self.cases)

    def part(self, *splits: Split) -> "GoldenSet":
        """The cases of these splits."""
        kept = [place for place, case in enumerate(self.cases) if case.split in splits]
        return GoldenSet(
            tuple(self.cases[place] for place in kept), tuple(self.lines[place] for place in kept if self.lines)
        )

    def labelled(self) -> tuple[LabelledCase, ...]:
        """Cases whose recorded answer has a label, its own or else the one that follows from its claims' labels."""
        found: list[LabelledCase] = []
        for case in self.cases:
            own = case.answer_label
            label = own or answer_label_of([claim.label for claim in case.claims])
            if label is not None:
                found.append(LabelledCase(case, label, is_from_claims=own is None))
        return tuple(found)

    def labelled_claims(self) -> tuple[tuple[GoldenCase, GoldenClaim], ...]:
        """Claims with a label, each with its case."""
        return tuple((case, claim) for case in self.cases for claim in case.claims if claim.label is not None)

    def by_id(self) -> dict[str, GoldenCase]:
        """Cases by id."""
        return {case.case_id: case for case in self.cases}

    def line(self, place: int) -> int:
        """The line of the case at a place of ``cases``, 0 when it has none."""
        return self.lines[place] if self.lines else 0


def content_hash(cases: Iterable[GoldenCase]) -> str:
    """12 hex digits over the content of cases, whatever their order."""
    lines = sorted(canonical(case) for case in cases)
    return blake2b("\n".join(lines).encode(), digest_size=6).hexdigest()


def canonical(case: GoldenCase) -> str:
    """One text per content: JSON with sorted keys and without defaults, so that a new field changes no old version."""
    fields = case.model_dump(mode="json", exclude_defaults=True, exclude={"format_version"})
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))
