"""What is wrong with a case, told so that it can be mended without reading code."""

from dataclasses import dataclass

from schemas.golden import GoldenCase


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault of a case, or with ``is_doubt`` something worth a look; ``line`` is 0 where none can be told."""

    line: int
    case_id: str
    field: str
    text: str
    is_doubt: bool = False

    def __str__(self) -> str:
        return ": ".join(part for part in (f"line {self.line}", self.case_id, self.field, self.text) if part)


def fault(case: GoldenCase, line: int, field: str, text: str) -> Problem:
    """Something that makes a measured number wrong."""
    return Problem(line, case.case_id, field, text)


def doubt(case: GoldenCase, line: int, field: str, text: str) -> Problem:
    """Something that is right more often than not."""
    return Problem(line, case.case_id, field, text, is_doubt=True)
