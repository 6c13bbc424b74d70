"""Golden sets as text: JSON Lines to cases and back; every fault names line, field and fix.

Messages on topics ignore unknown fields; a file that people write does not, because a misspelt key would silently drop
a label. All faults are told at once, so that a set of a thousand cases is not mended line by line.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from detectors.golden.sets import GoldenSet
from schemas.errors import ConfigError
from schemas.golden import GoldenCase, GoldenClaim, GoldenPassage, Labelled
from schemas.labels import ClaimLabel

MAX_SHOWN = 20
_ALWAYS_WRITTEN = {"case_id", "question", "is_answerable", "intent", "tier", "split"}
_PARTS: dict[str, type[BaseModel]] = {
    "claims": GoldenClaim,
    "passages": GoldenPassage,
    "given": GoldenPassage,
    "labels": Labelled[ClaimLabel],
    "answer_labels": Labelled[ClaimLabel],
}
_FIXES = {
    "model_type": "write a JSON object {…}",
    "timezone_aware": "give the time its zone, for UTC a Z at its end (2026-03-10T12:00:00Z)",
}


@dataclass(frozen=True, slots=True)
class LineFault:
    """What is wrong with a line: ``field`` is a path like ``claims[0].labels[1].at``, empty for the whole line."""

    line: int
    field: str
    fault: str

    def __str__(self) -> str:
        where = f"line {self.line}: {self.field}" if self.field else f"line {self.line}"
        return f"{where}{'' if self.fault.startswith(' ') else ': '}{self.fault}"


def parse_golden(lines: Iterable[bytes | str]) -> tuple[GoldenSet, list[LineFault]]:
    """The cases that are well formed, and a fault for every line that is not; blank lines are passed over.

    A case whose id an earlier line has is a fault, and left out.
    """
    cases: list[GoldenCase] = []
    numbers: list[int] = []
    faults: list[LineFault] = []
    first: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        text = (line.encode("utf-8", "replace") if isinstance(line, str) else line).removeprefix(b"\xef\xbb\xbf")
        if not text.strip():
            continue
        case, found = _case(text, number)
        faults += found
        if case is None:
            continue
        earlier = first.setdefault(case.case_id, number)
        if earlier != number:
            fault = f" {case.case_id!r} is on line {earlier} already; give one of the two another id, or remove it"
            faults.append(LineFault(number, "case_id", fault))
            continue
        cases.append(case)
        numbers.append(number)
    return GoldenSet(tuple(cases), tuple(numbers)), faults


def read_golden_lines(path: Path) -> tuple[GoldenSet, list[LineFault]]:
    """What ``parse_golden`` says of a file. Raises ConfigError when it cannot be read."""
    try:
        return parse_golden(path.read_bytes().splitlines())
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}: {error.strerror}; give the path of a golden set (JSON Lines)"
        ) from error


def read_well_formed(path: Path) -> GoldenSet:
    """The set in a file. Raises ConfigError: every fault (the first 20) with line, field and fix."""
    found, faults = read_golden_lines(path)
    if faults:
        shown = [f"{path}: {fault}" for fault in faults[:MAX_SHOWN]]
        if len(faults) > len(shown):
            shown.append(f"{path}: and {len(faults) - len(shown)} more; `groundwatch golden check {path}` lists all")
        raise ConfigError("\n".join(shown))
    return found


def golden_text(cases: Sequence[GoldenCase]) -> str:
    """The cases as a file: one line each, without fields at their defaults except those that people look for."""
    return "".join(f"{_line(case)}\n" for case in cases)


def _line(case: GoldenCase) -> str:
    fields = case.model_dump(mode="json", exclude_defaults=True)
    named = case.model_dump(mode="json", include=_ALWAYS_WRITTEN)
    ordered = {name: {**fields, **named}[name] for name in GoldenCase.model_fields if name in fields or name in named}
    return json.dumps(ordered, ensure_ascii=False, separators=(", ", ": "))


def _case(text: bytes, number: int) -> tuple[GoldenCase | None, list[LineFault]]:
    try:
        return GoldenCase.model_validate_json(text, strict=True, extra="forbid"), []
    except ValidationError as error:
        return None, [_fault(detail, number) for detail in error.errors(include_url=False)]


def _fault(detail: ErrorDetails, number: int) -> LineFault:
    return LineFault(number, _dotted(detail["loc"]), _complaint(detail))


def _complaint(detail: ErrorDetails) -> str:
    match detail["type"]:
        case "json_invalid":
            return f"not JSON ({detail['ctx']['error']}); write one JSON object a line, in UTF-8"
        case "extra_forbidden":
            return f" is not a key; {_known_keys(detail['loc'])}"
        case "missing":
            return " is missing; add it"
        case "value_error":
            return str(detail["ctx"]["error"])
    fix = _FIXES.get(detail["type"], _lower_first(detail["msg"]))
    return f"{fix}, not {_shown(detail['input'])}"


def _known_keys(place: tuple[int | str, ...]) -> str:
    parents = [part for part in place[:-1] if isinstance(part, str)]
    model = _PARTS.get(parents[-1], GoldenCase) if parents else GoldenCase
    known = list(model.model_fields)
    near = get_close_matches(str(place[-1]), known, n=1)
    return f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}"


def _dotted(place: Sequence[int | str]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def _shown(value: object) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "…"  # noqa: PLR2004 — about half a line of a terminal


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
