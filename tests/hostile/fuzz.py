"""Messages that nobody thought of: Hypothesis makes them from a seed, and any fate but loss is right."""

import json
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

_TEXTS = st.text(st.characters(), max_size=30)
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | _TEXTS
_JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4), max_leaves=12
)
_TIMES = st.datetimes().map(lambda moment: f"{moment.isoformat()}Z") | st.integers(-(10**20), 10**20) | _JSON
_PASSAGE = st.fixed_dictionaries(
    {"text": _TEXTS | _JSON},
    optional={
        **dict.fromkeys(("doc_id", "version", "score", "rank", "trust", "archived", "cited"), _JSON),
        "updated_at": _TIMES,
    },
)
_TRACE = st.fixed_dictionaries(
    {"trace_id": _TEXTS | st.uuids().map(str), "ts": _TIMES},
    optional={
        **dict.fromkeys(
            ("question", "answer", "intent", "tenant", "tier", "versions", "timings", "roles"), _JSON | _TEXTS
        ),
        "passages": st.lists(_PASSAGE | _JSON, max_size=3) | _JSON,
        "tool_calls": _JSON,
        "token_logprobs": st.lists(st.floats() | st.none(), max_size=4) | _JSON,
        "flags": st.lists(_TEXTS, max_size=3),
        "revision": _JSON,
    },
)


@st.composite
def _damaged(draw: st.DrawFn) -> bytes:
    """A trace in which some bytes were changed, cut out or put in."""
    value = bytearray(_dump(draw(_TRACE)))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(value)))
        value[start : start + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(value)


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


VALUES: st.SearchStrategy[bytes] = st.one_of(_TRACE.map(_dump), _damaged(), _JSON.map(_dump), st.binary(max_size=200))


def fuzzed(seed_number: int, count: int) -> list[bytes]:
    """``count`` values; the same for the same seed and version of Hypothesis."""
    found: list[bytes] = []

    @seed(seed_number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(VALUES)
    def collect(value: bytes) -> None:
        found.append(value)

    collect()
    return found[:count]
