"""The words beside the figures: what a field is for, what its absence costs, what adds it. Data in ``advice.yaml``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

_ANY = "any"


@dataclass(frozen=True, slots=True)
class FieldAdvice:
    """``fixes`` by convention or format."""

    title: str
    need: str
    cost: str
    fixes: Mapping[str, str]

    def for_conventions(self, conventions: Sequence[str]) -> tuple[str, ...]:
        """What to do in the producers that were met, ``openinference: …``; what holds for all of them last."""
        own = [f"{name}: {self.fixes[name]}" for name in conventions if name in self.fixes]
        return (*own, *([self.fixes[_ANY]] if _ANY in self.fixes else []))


@dataclass(frozen=True, slots=True)
class Advice:
    """By field, by reason of a problem, and by outcome."""

    fields: Mapping[str, FieldAdvice]
    problems: Mapping[str, str]
    unresolved: Mapping[str, str]


@cache
def load_advice() -> Advice:
    """What the package ships."""
    data = yaml.safe_load((files("streams.attach") / "advice.yaml").read_text("utf-8"))
    fields = {name: FieldAdvice(**fields) for name, fields in data["fields"].items()}
    return Advice(fields, data["problems"], data["unresolved"])
