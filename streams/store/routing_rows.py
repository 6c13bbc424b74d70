"""The routing table and the self-consistency of a Verdict as columns of its row, and back."""

from collections.abc import Callable, Mapping
from typing import Any

from schemas.labels import Layer
from schemas.layers import Consistency, LayerReason, LayerRun
from schemas.verdict import Verdict

_WORD = "LowCardinality(String)"
_NUMBERS = {
    "claims": "UInt32",
    "calls": "UInt32",
    "cached": "UInt32",
    "tokens_in": "UInt64",
    "tokens_out": "UInt64",
    "cost_usd": "Float64",
    "took_ms": "Float64",
}
_NAMES = ("layer", "ran", "why", *_NUMBERS)
_NOT_DONE = {
    "source": "",
    "samples": 0,
    "votes": None,
    "agreement": None,
    "unstable_claims": (),
    "mean_logprob": None,
    "is_flagged": False,
}
_CONSISTENCY = {
    "source": _WORD,
    "samples": "UInt32",
    "votes": "Nullable(UInt32)",
    "agreement": "Nullable(Float64)",
    "unstable_claims": "Array(UInt32)",
    "mean_logprob": "Nullable(Float64)",
    "is_flagged": "Bool",
}
Column = tuple[str, str, Callable[[Verdict], Any]]


def routing_of(row: Mapping[str, Any]) -> tuple[LayerRun, ...]:
    """The routing table of one row; empty in rows of older versions."""
    lines = zip(*(row[f"routing.{name}"] for name in _NAMES), strict=True)
    return tuple(_line(dict(zip(_NAMES, line, strict=True))) for line in lines)


def consistency_of(row: Mapping[str, Any]) -> Consistency | None:
    """The self-consistency of one row; None where it was not looked at."""
    if not row["consistency_source"]:
        return None
    found = {name: row[f"consistency_{name}"] for name in _CONSISTENCY}
    return Consistency(**{**found, "unstable_claims": tuple(found["unstable_claims"])})


def _line(values: Mapping[str, Any]) -> LayerRun:
    return LayerRun(**{**values, "layer": Layer(values["layer"]), "why": LayerReason(values["why"])})


def _each(name: str) -> Callable[[Verdict], Any]:
    return lambda verdict: [getattr(line, name) for line in verdict.routing]


def _of_consistency(name: str) -> Callable[[Verdict], Any]:
    return lambda verdict: getattr(verdict.consistency, name) if verdict.consistency else _NOT_DONE[name]


ROUTING: list[Column] = [
    ("routing.layer", f"Array({_WORD})", lambda verdict: [line.layer.value for line in verdict.routing]),
    ("routing.ran", "Array(Bool)", _each("ran")),
    ("routing.why", f"Array({_WORD})", lambda verdict: [line.why.value for line in verdict.routing]),
    *((f"routing.{name}", f"Array({kind})", _each(name)) for name, kind in _NUMBERS.items()),
    *((f"consistency_{name}", kind, _of_consistency(name)) for name, kind in _CONSISTENCY.items()),
]
"""Name, type and value of each column."""
