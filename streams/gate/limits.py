"""The limits that a run must keep, as people write them: a YAML file over documented defaults, unknown keys refused."""

import json
from collections.abc import Mapping
from difflib import get_close_matches
from enum import StrEnum
from importlib.resources import files
from typing import Any

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from detectors.gate import CitationRule, Rules
from sampling.policy_yaml import Located, dotted, load
from schemas.base import Record
from schemas.errors import ConfigError
from schemas.labels import RiskTier


class Bound(StrEnum):
    """What of a share is compared with its limit."""

    POINT = "point"
    UPPER = "upper"


class TierLimits(Record):
    """The limits of one tier; None is no limit. What each means stands in ``default_gates.yaml``."""

    max_hallucinated: float | None = Field(default=None, ge=0, le=1)
    max_failed: float | None = Field(default=None, ge=0, le=1)
    bound: Bound = Bound.POINT
    max_contradicted_critical: int | None = Field(default=None, ge=0)
    max_missing: int | None = Field(default=None, ge=0)
    max_errors: int | None = Field(default=None, ge=0)
    min_recall_at_1: float | None = Field(default=None, ge=0, le=1)
    min_recall_at_3: float | None = Field(default=None, ge=0, le=1)
    min_recall_at_5: float | None = Field(default=None, ge=0, le=1)
    min_recall_at_10: float | None = Field(default=None, ge=0, le=1)
    min_mrr: float | None = Field(default=None, ge=0, le=1)
    max_regressions: int | None = Field(default=None, ge=0)
    unclear_fails: bool = False
    citations: CitationRule = CitationRule.WHERE_ANY
    owner: str = ""


class GatesFile(Record):
    """A file of limits; what it leaves out is inherited."""

    significance: float | None = Field(default=None, ge=0, le=1)
    max_regressions: int | None = Field(default=None, ge=0)
    every_tier: TierLimits = TierLimits()
    tiers: dict[RiskTier, TierLimits] = Field(default_factory=dict)


class Limits(Record):
    """The limits in force, every tier written out."""

    significance: float | None
    max_regressions: int | None
    tiers: dict[RiskTier, TierLimits]

    def rules(self) -> dict[RiskTier, Rules]:
        """What decides about single cases."""
        return {
            tier: Rules(is_unclear_failed=own.unclear_fails, citations=own.citations, owner=own.owner)
            for tier, own in self.tiers.items()
        }


def default_limits_text() -> str:
    """The annotated file of defaults."""
    return (files("streams.gate") / "default_gates.yaml").read_text("utf-8")


def limits_of(text: str = "", for_every_tier: Mapping[str, Any] | None = None) -> Limits:
    """The limits of a YAML text over the defaults; ``for_every_tier`` wins over both, in all tiers.

    For a tier the later one of these holds: the defaults of all tiers and of the tier, ``every_tier`` of the text, the
    tier in the text. Raises ConfigError: one line per fault, naming line, key and fix.
    """
    default, given = _parsed(default_limits_text()), _parsed(text)
    over = {name: value for name, value in (for_every_tier or {}).items() if value is not None}
    tiers = {
        tier: TierLimits(
            **{
                **_set(default.every_tier),
                **_set(default.tiers.get(tier)),
                **_set(given.every_tier),
                **_set(given.tiers.get(tier)),
                **over,
            }
        )
        for tier in RiskTier
    }
    whole = {**default.model_dump(exclude_unset=True), **given.model_dump(exclude_unset=True)}
    return Limits(significance=whole["significance"], max_regressions=whole["max_regressions"], tiers=tiers)


def _set(limits: TierLimits | None) -> dict[str, Any]:
    return {} if limits is None else limits.model_dump(exclude_unset=True)


def _parsed(text: str) -> GatesFile:
    located = load(text)
    if located.data is None:
        return GatesFile()
    if not isinstance(located.data, dict):
        raise ConfigError("line 1: a file of gates is a mapping; begin with 'every_tier:' or 'tiers:'")
    try:
        return GatesFile.model_validate_json(json.dumps(located.data), strict=True, extra="forbid")
    except ValidationError as error:
        raise ConfigError("\n".join(_fault(located, one) for one in error.errors(include_url=False))) from error


def _fault(located: Located, detail: ErrorDetails) -> str:
    path = tuple(part for part in detail["loc"] if part != "[key]")
    start = f"line {located.line(path)}: {dotted(path)}"
    if detail["type"] == "extra_forbidden":
        known = sorted((GatesFile if len(path) == 1 else TierLimits).model_fields)
        near = get_close_matches(str(path[-1]), known, n=1)
        return f"{start} is not a key; " + (f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}")
    return f"{start} = {json.dumps(detail['input'])[:60]}: {detail['msg'][:1].lower()}{detail['msg'][1:]}"
