"""What another policy would change, before it is published: thresholds, who is drawn how often, rules, texts.

Named things (strata, rules) are compared by name, so moving one is no change unless its order decides something.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from sampling.effective import ANY, EffectivePolicy, compose
from schemas.base import Record
from schemas.labels import RiskTier
from schemas.policy import REST, Overlay, PolicyDocument

_THRESHOLDS = "thresholds."
_SERIES = (_THRESHOLDS, "claims.")
"""What is part of the fingerprint."""
_STRATA = "sampling.strata."
_BY_CELL = ("sampling.allocations", "sampling.default_probability")
"""Shown as probabilities of cells, because that is what they come to."""


class CellTraffic(Record):
    """How many traces a day a stratum of a cell gets, drawn or not."""

    intent: str
    tier: RiskTier
    stratum: str
    traces_per_day: float


class Change(Record):
    """One value that differs; None where it is not given."""

    path: str
    before: Any = None
    after: Any = None


class CellChange(Record):
    """An inclusion probability that differs; None where the stratum does not exist.

    Intent ``*`` stands for all that no allocation names. ``traces_per_day`` is None where no traffic is known.
    """

    intent: str
    tier: RiskTier
    stratum: str
    before: float | None
    after: float | None
    traces_per_day: float | None = None


class PolicyDiff(Record):
    """The differences, empty when there are none.

    ``starts_new_series``: thresholds and ``claims`` are part of the fingerprint, so rates begin a new baseline. What
    changes in ``routes`` may begin one too, for answers of that route and in processes that have the layers it names.
    ``checks_per_day`` is how many traces are verified a day, before and after; None without traffic.
    ``is_approximate``: strata differ, and which traces fall into a new one is not known, so they are reckoned as
    ``rest``.
    """

    thresholds: tuple[Change, ...] = ()
    starts_new_series: bool = False
    strata: tuple[Change, ...] = ()
    probabilities: tuple[CellChange, ...] = ()
    rules: tuple[Change, ...] = ()
    routes: tuple[Change, ...] = ()
    other: tuple[Change, ...] = ()
    checks_per_day: tuple[float, float] | None = None
    is_approximate: bool = False

    @property
    def is_empty(self) -> bool:
        """True when nothing differs."""
        return not (self.thresholds or self.strata or self.probabilities or self.rules or self.routes or self.other)


def diff_policies(
    before: PolicyDocument,
    after: PolicyDocument,
    traffic: Sequence[CellTraffic] = (),
    overlays: Iterable[tuple[str, Overlay]] = (),
) -> PolicyDiff:
    """What changes when ``after`` takes the place of ``before``; overlays (id and overlay) stay in force over both."""
    named = tuple(overlays)
    old, new = compose("before", before, named), compose("after", after, named)
    changes = list(_changes(before, after))
    thresholds = tuple(change for change in changes if change.path.startswith(_THRESHOLDS))
    strata = tuple(change for change in changes if change.path.startswith(_STRATA))
    rules = tuple(
        change for change in changes if change.path.startswith("intents.") and ".fallbacks" not in change.path
    )
    shown = {change.path for change in (*thresholds, *strata, *rules)}
    return PolicyDiff(
        thresholds=thresholds,
        starts_new_series=any(change.path.startswith(_SERIES) for change in changes),
        strata=strata,
        probabilities=tuple(_cells(old, new, traffic)),
        rules=rules,
        routes=tuple(_route_changes(before, after)),
        other=tuple(change for change in changes if change.path not in shown and not change.path.startswith(_BY_CELL)),
        checks_per_day=(_checks(old, traffic), _checks(new, traffic)) if traffic else None,
        is_approximate=bool(strata) and bool(traffic),
    )


def _changes(before: PolicyDocument, after: PolicyDocument) -> Iterator[Change]:
    old, new = (_leaves(one.model_dump(mode="json", exclude={"routes"})) for one in (before, after))
    for path in [*old, *(path for path in new if path not in old)]:
        if old.get(path) != new.get(path):
            yield Change(path=path, before=old.get(path), after=new.get(path))
    first, second = ([rule.name for rule in document.sampling.strata] for document in (before, after))
    if first != second and sorted(first) == sorted(second):
        yield Change(path=f"{_STRATA}order", before=first, after=second)


def _route_changes(before: PolicyDocument, after: PolicyDocument) -> Iterator[Change]:
    """Routes by the answers that they take; one is added, removed or changed whole, since its parts hold together."""
    old, new = _routes(before), _routes(after)
    for name in [*old, *(name for name in new if name not in old)]:
        if old.get(name) != new.get(name):
            yield Change(path=name, before=old.get(name), after=new.get(name))
    if list(old) != list(new) and sorted(old) == sorted(new):
        yield Change(path="routes.order", before=list(old), after=list(new))


def _routes(document: PolicyDocument) -> dict[str, Any]:
    given = {}
    for route in document.routes:
        name = f"routes.{route.intent}/{route.tier or ANY}"
        given[name] = route.model_dump(mode="json", exclude_defaults=True, exclude={"intent", "tier"})
    return given


def _leaves(value: Any) -> dict[str, Any]:
    """Values by path; what is named is one value under its name, so that it is added, removed or changed whole."""
    return dict(_walk(value, ""))


def _walk(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _walk(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        seen: Counter[str] = Counter()
        for item in value:
            name = item.get("name") if isinstance(item, Mapping) else None
            label = str(item) if name is None else str(name)
            seen[label] += 1
            yield f"{path}.{label}" + (f"#{seen[label]}" if seen[label] > 1 else ""), _given(item)
    elif value not in (None, "", False):
        yield path, value


def _given(item: Any) -> Any:
    """A named thing without its name and without what is left open."""
    if not isinstance(item, Mapping):
        return item
    return {key: value for key, value in item.items() if key != "name" and value not in (None, [], "")}


def _cells(old: EffectivePolicy, new: EffectivePolicy, traffic: Sequence[CellTraffic]) -> Iterator[CellChange]:
    intents = sorted(_named(old) | _named(new))
    strata = list(dict.fromkeys([*_strata(old), *_strata(new)]))
    known: dict[tuple[str, RiskTier, str], float] = defaultdict(float)
    for cell in traffic:
        known[cell.intent if cell.intent in intents else ANY, cell.tier, cell.stratum] += cell.traces_per_day
    for intent, tier, stratum in product(intents, RiskTier, strata):
        before, after = _probability(old, intent, tier, stratum), _probability(new, intent, tier, stratum)
        if before != after:
            yield CellChange(
                intent=intent,
                tier=tier,
                stratum=stratum,
                before=before,
                after=after,
                traces_per_day=known.get((intent, tier, stratum), 0.0) if traffic else None,
            )


def _named(policy: EffectivePolicy) -> set[str]:
    lines = policy.document.sampling.allocations
    return {ANY, *(line.intent for line in lines), *(overlay.intent for overlay in policy.overlays)}


def _strata(policy: EffectivePolicy) -> list[str]:
    return [*(rule.name for rule in policy.document.sampling.strata), REST]


def _probability(policy: EffectivePolicy, intent: str, tier: RiskTier, stratum: str) -> float | None:
    return policy.probability(intent, tier, stratum) if stratum in _strata(policy) else None


def _checks(policy: EffectivePolicy, traffic: Sequence[CellTraffic]) -> float:
    strata = set(_strata(policy))
    return sum(
        cell.traces_per_day
        * policy.probability(cell.intent, cell.tier, cell.stratum if cell.stratum in strata else REST)
        for cell in traffic
    )
