"""The traces of ``tests/data/traces`` whose answers are known by hand; an unknown key in them is an error.

``<<text>>*3`` in a text stands for the text three times, so that long answers and passages stay readable.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from schemas.document import DocumentVersion
from schemas.finding import StructuralRule
from schemas.labels import ClaimLabel, Containment, FailureLabel, Outcome
from schemas.policy import PolicyDocument
from schemas.trace import Trace

DATA = Path(__file__).parent / "data"
NOON = "2026-03-10T12:00:00Z"
"""When every fixture takes place that does not say otherwise."""
_REPEAT = re.compile(r"<<(.*?)>>\*(\d{1,5})", re.DOTALL)


class Strict(BaseModel):
    """A part of a fixture: frozen, and a misspelt key is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Kind(Strict):
    """A kind of fault, the public reports of it, and the layer that decides it."""

    kind: str
    by: Literal["fixtures", "judge", "models"]
    seen: str
    what: str
    why: str = ""
    also: str = ""


class ExpectedClaim(Strict):
    """A claim as people see it: ``fact`` states something, ``other`` does not, ``any`` may count as either.

    ``left_for`` names who can find the ``human`` label; ``flagged`` says that the embedded layers must at least not let
    it pass as supported. ``times``: so many of these in a row.
    """

    fact: str = ""
    other: str = ""
    any: str = ""
    label: ClaimLabel = ClaimLabel.SUPPORTED
    cites: tuple[str, ...] | None = None
    critical: str = ""
    times: int = 1
    left_for: Literal["model", "judge"] | None = None
    human: ClaimLabel | None = None
    flagged: bool = False

    @model_validator(mode="before")
    @classmethod
    def _text_alone(cls, given: Any) -> Any:
        return {"fact": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if [bool(self.fact), bool(self.other), bool(self.any)].count(True) != 1:
            message = "a claim has exactly one of fact, other and any"
            raise ValueError(message)
        if self.flagged and self.left_for is None:
            message = "flagged is for claims that are left_for a model or judge"
            raise ValueError(message)
        return self

    @property
    def text(self) -> str:
        """The claim's text, whatever it is."""
        return self.fact or self.other or self.any


class ExpectedFinding(Strict):
    """A finding of L0; ``claim`` and ``passage`` are compared where they are given."""

    rule: StructuralRule
    claim: int | None = None
    passage: int | None = None


class Expect(Strict):
    """What people say of the trace. ``left`` and ``left_findings`` may be missed or found by the embedded layers."""

    claims: tuple[ExpectedClaim, ...] | Literal["any"]
    outcome: Outcome
    findings: tuple[ExpectedFinding, ...] = ()
    failures: tuple[FailureLabel, ...] = ()
    containment: Containment | None = None
    precision: float | None = None
    recall: float | None = None
    left: tuple[FailureLabel, ...] = ()
    left_findings: tuple[StructuralRule, ...] = ()
    why_left: str = ""

    @property
    def claim_list(self) -> tuple[ExpectedClaim, ...]:
        """One entry for each claim; empty where any claims will do."""
        claims = () if self.claims == "any" else self.claims
        return tuple(claim for claim in claims for _ in range(claim.times))

    @property
    def left_for(self) -> tuple[str, ...]:
        """Who decides what the embedded layers cannot: model, judge or both."""
        named = {claim.left_for for claim in self.claim_list if claim.left_for}
        return tuple(sorted({*named, *({"judge"} if self.left or self.left_findings else ())}))

    @model_validator(mode="after")
    def _gives_reasons(self) -> Self:
        if self.left_for and not self.why_left:
            message = "say in why_left why something is left for a model or a judge"
            raise ValueError(message)
        return self


class Fixture(Strict):
    """One trace with the policy and the corpus around it, and what is expected of it."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    language: str
    shows: str
    kinds: tuple[str, ...] = ()
    policy: PolicyDocument = PolicyDocument(name="fixture")
    documents: tuple[DocumentVersion, ...] = ()
    trace: Trace
    expect: Expect

    @field_validator("policy", mode="before")
    @classmethod
    def _named_policy(cls, given: dict[str, Any]) -> dict[str, Any]:
        return _known_keys(PolicyDocument, {"name": "fixture", **given})

    @field_validator("trace", mode="before")
    @classmethod
    def _native_trace(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        whole = {"trace_id": info.data["name"], "ts": NOON, "locale": info.data["language"], **given}
        if whole.get("passages") is not None:
            whole["passages"] = [_passage(entry, number) for number, entry in enumerate(whole["passages"], 1)]
        return _known_keys(Trace, _spelled_out(whole))


@cache
def load_fixtures() -> tuple[tuple[str, Fixture], ...]:
    """All fixtures with the name of their file, in order. Raises ValueError for a name that is taken twice."""
    found = [
        (path.stem, Fixture.model_validate(entry)) for path in _files() for entry in yaml.safe_load(_text(path)) or ()
    ]
    names = [fixture.name for _, fixture in found]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        message = f"names taken twice: {', '.join(doubled)}"
        raise ValueError(message)
    return tuple(found)


def load_kinds() -> tuple[Kind, ...]:
    """The kinds of faults that fixtures may name."""
    return tuple(Kind.model_validate(entry) for entry in yaml.safe_load(_text(DATA / "kinds.yaml")))


def file_heading(stem: str) -> str:
    """The comment at the top of a file of fixtures: what they are about."""
    first = _text(DATA / "traces" / f"{stem}.yaml").split("\n- name:", 1)[0]
    return " ".join(line.removeprefix("#").strip() for line in first.splitlines())


def _files() -> Iterator[Path]:
    yield from sorted((DATA / "traces").glob("*.yaml"))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _passage(entry: Any, number: int) -> dict[str, Any]:
    return {"doc_id": f"doc-{number}", "text": entry} if isinstance(entry, str) else entry


def _spelled_out(value: Any) -> Any:
    if isinstance(value, str):
        return _REPEAT.sub(lambda match: match.group(1) * int(match.group(2)), value)
    if isinstance(value, dict):
        return {key: _spelled_out(part) for key, part in value.items()}
    return [_spelled_out(part) for part in value] if isinstance(value, list) else value


def _known_keys(model: type[BaseModel], given: dict[str, Any]) -> dict[str, Any]:
    """``given``, if the model knows every key of it; the models of the product pass over unknown ones."""
    unknown = sorted(_unknown(given, model.model_validate(given).model_dump(mode="json")))
    if unknown:
        message = f"unknown keys: {', '.join(unknown)}"
        raise ValueError(message)
    return given


def _unknown(given: Any, known: Any) -> set[str]:
    if isinstance(given, dict) and isinstance(known, dict):
        deeper = (_unknown(part, known[key]) for key, part in given.items() if key in known)
        return {str(key) for key in given if key not in known}.union(*deeper)
    if isinstance(given, list) and isinstance(known, list):
        return set[str]().union(*(_unknown(one, other) for one, other in zip(given, known, strict=True)))
    return set()
