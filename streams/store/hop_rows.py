"""The hops of a Verdict as columns of its row, and back."""

from collections.abc import Callable, Mapping
from typing import Any

from schemas.labels import ClaimLabel, Outcome
from schemas.verdict import HopVerdict, Verdict
from streams.store.values import clean

_WORD = "LowCardinality(String)"
_COUNTS = ("claims", "supported", "unsupported", "contradicted", "unclear", "errors", "derived", "left_out")
_TEXTS = ("worst", "worst_why", "evidence_doc", "evidence")
_NAMES = ("hop", "name", "outcome", *_COUNTS, "worst_label", *_TEXTS)


def hops_of(row: Mapping[str, Any]) -> tuple[HopVerdict, ...]:
    """The hops of one row; empty in rows of older versions."""
    lines = zip(*(row[f"hops.{name}"] for name in _NAMES), strict=True)
    return tuple(_hop(dict(zip(_NAMES, line, strict=True))) for line in lines)


def _hop(values: Mapping[str, Any]) -> HopVerdict:
    label = values["worst_label"]
    return HopVerdict(
        **{**values, "outcome": Outcome(values["outcome"]), "worst_label": ClaimLabel(label) if label else None}
    )


def _each(value: Callable[[HopVerdict], Any]) -> Callable[[Verdict], Any]:
    return lambda verdict: [value(hop) for hop in verdict.hops]


def _count(name: str) -> Callable[[Verdict], Any]:
    return _each(lambda hop: getattr(hop, name))


def _text(name: str) -> Callable[[Verdict], Any]:
    return _each(lambda hop: clean(getattr(hop, name)))


HOPS: list[tuple[str, str, Callable[[Verdict], Any]]] = [
    ("hops.hop", "Array(UInt32)", _count("hop")),
    ("hops.name", "Array(String)", _text("name")),
    ("hops.outcome", f"Array({_WORD})", _each(lambda hop: hop.outcome.value)),
    *((f"hops.{name}", "Array(UInt32)", _count(name)) for name in _COUNTS),
    ("hops.worst_label", f"Array({_WORD})", _each(lambda hop: hop.worst_label.value if hop.worst_label else "")),
    *((f"hops.{name}", "Array(String)", _text(name)) for name in _TEXTS),
    ("hops_left_out", "UInt32", lambda verdict: verdict.hops_left_out),
]
"""Name, type and value of each column."""
