"""Rules that find intent, tier, tenant and the like in what a span or a document says besides its content.

No format has a standard key for them. A rule names a dotted path, may pick a part of the value by a pattern and
translate it; the first rule of a field's list that gives a value wins on its span, and over the spans of a trace the
rule that stands first in the list wins.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, get_args

from schemas.labels import RiskTier
from schemas.patterns import Pattern, compile_pattern
from schemas.span import MappedValue
from schemas.trace import MAX_NAME_CHARS
from streams.sources.checked import is_name
from streams.sources.conventions.values import name
from streams.sources.raw import Json

FIELDS: tuple[str, ...] = get_args(MappedValue.model_fields["field"].annotation)
MAX_RULES = 100
"""Rules of one field."""
LAST_RANK = 1_000
"""Rank of what a mapping file says by itself: any rule of the configuration comes before it."""
_MAX_LISTED = 1_000
_TIERS = frozenset(RiskTier)


@dataclass(frozen=True, slots=True)
class Rule:
    """One place to look at.

    ``pattern`` (RE2, case ignored) must match; its first group is the value, the whole match where it has none.
    ``values`` translates, case ignored; what it does not know becomes ``default``, or nothing where that is empty. A
    rule without a path gives ``default`` always.
    """

    path: str = ""
    pattern: Pattern | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    default: str = ""

    @classmethod
    def of(
        cls, path: str = "", pattern: str = "", values: Mapping[str, str] | None = None, default: str = ""
    ) -> "Rule":
        """The compiled rule. Raises ConfigError for a pattern that RE2 cannot run, and for a rule that says nothing."""
        folded = {key.casefold(): value for key, value in (values or {}).items()}
        return cls(path, compile_pattern(pattern) if pattern else None, folded, default)

    def value(self, lookup: Callable[[str], Json]) -> str:
        """What the rule finds, empty when that is nothing; of a list the first item that gives something."""
        if not self.path:
            return self.default
        found = lookup(self.path)
        if found is None:  # nearly always: most rules look where a format has nothing
            return ""
        items = found[:_MAX_LISTED] if isinstance(found, list) else [found]
        texts = [_text(item) for item in items]
        if isinstance(found, list) and self.pattern is None and not self.values:
            return ",".join(text for text in texts if text)
        return next((value for text in texts if text and (value := self._picked(text))), "")

    def _picked(self, text: str) -> str:
        part = self.pattern.captured(text) if self.pattern else text
        if part is None:
            return self.default
        if not self.values:
            return part.strip()
        return self.values.get(part.strip().casefold(), self.default)


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return name(value, set())


_NAMES = {"intent": ("intent",), "tier": ("risk_tier", "tier"), "tenant": ("tenant", "tenant_id")}
_PLACES = ("metadata.{}", "association.{}", "mlflow.traceTag.{}", "tags.{}", "app.{}", "{}")
DEFAULT_RULES: Mapping[str, tuple[Rule, ...]] = MappingProxyType(
    {
        target: tuple(Rule(path=place.format(key)) for place in _PLACES for key in keys)
        for target, keys in {**_NAMES, "roles": ("roles",), "locale": ("locale",), "region": ("region",)}.items()
    }
)
"""What holds for a field without rules of its own: the field's plain name where applications put such things."""


@dataclass(frozen=True, slots=True)
class FieldRules:
    """The rules by field. A field that is not in it is not looked for."""

    rules: Mapping[str, Sequence[Rule]] = field(default_factory=lambda: DEFAULT_RULES)

    @classmethod
    def of(cls, own: Mapping[str, Sequence[Rule]]) -> "FieldRules":
        """``own`` rules, and the default ones of the fields that it does not name; an empty list turns a field off."""
        return cls({**DEFAULT_RULES, **own})

    def mapped(self, lookup: Callable[[str], Json]) -> tuple[MappedValue, ...]:
        """The first value of each field that fits it: names that can be shown, tiers that exist. Never raises."""
        found = []
        for target, rules in self.rules.items():
            for rank, rule in enumerate(rules):
                value = rule.value(lookup)
                if value and (value := fitting(target, value)):
                    found.append(_mapped(target, rank, value))
                    break
        return tuple(found)


def _mapped(target: Any, rank: int, value: str) -> MappedValue:
    """Without validation: the field comes out of the list of fields, and the value fits."""
    return MappedValue.model_construct(field=target, rank=rank, value=value)


def fitting(target: str, value: str) -> str:
    """``value`` as the field ``target`` takes it, empty where it cannot be one."""
    if target == "tier":
        folded = value.casefold()
        return folded if folded in _TIERS else ""
    return value if len(value) <= MAX_NAME_CHARS and value.strip() and is_name(value) else ""


@dataclass(frozen=True, slots=True)
class TierRules:
    """Which risk tier a trace has: the one that it states, else that of the first rule on its intent, else the default.

    To let the rules decide alone, give the field ``tier`` an empty list of rules, so that nothing counts as stated.
    """

    by_intent: Sequence[tuple[Pattern, RiskTier]] = ()
    default: RiskTier = RiskTier.MEDIUM

    def tier_of(self, intent: str, traced: str) -> RiskTier:
        """The tier; ``traced`` is what was found on the trace, empty for nothing."""
        if traced in _TIERS:
            return RiskTier(traced)
        return next((tier for pattern, tier in self.by_intent if pattern.is_in(intent)), self.default)
