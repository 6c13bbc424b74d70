"""Kinds that become traces, whatever they hold, and those that are only counted as expired."""

import gzip
from datetime import datetime, timedelta
from typing import Any

from tests.hostile.injections import INJECTIONS
from tests.hostile.message import Fate, Hostile, Kind, Maker


def _good(m: Maker) -> Hostile:
    return m.stored(m.encoded())


def _changed(outcome: str = "", flag: str = "", **fields: Any) -> Kind:
    return lambda m: m.stored(m.encoded(**fields), outcome, flag)


def _passage(flag: str, **texts: str) -> Kind:
    return lambda m: m.stored(m.passage(**texts), flag=flag)


def _written(field: str, text: str, flag: str = "") -> Kind:
    return lambda m: m.stored(m.written(field, text), flag=flag)


def _epoch(per_second: int) -> Kind:
    def make(m: Maker) -> Hostile:
        moment = m.now - timedelta(seconds=m.rng.randrange(60, 3600))
        return m.stored(m.encoded(ts=int(moment.timestamp()) * per_second), flag="epoch_time")

    return make


def _injected(m: Maker) -> Hostile:
    """An injection in every text field at once, the id too."""
    text = m.rng.choice(INJECTIONS)
    trace_id = f"{m.trace_id} {text}"[:256]
    passage = dict.fromkeys(("doc_id", "chunk_id", "version", "superseded_by", "text"), text)
    texts = ("question", "answer", "intent", "tenant", "conversation_id", "user_id", "locale", "region", "feedback")
    fields: dict[str, Any] = {
        **dict.fromkeys(texts, text),
        "versions": dict.fromkeys(("model", "prompt", "corpus", "retriever", "app"), text),
        "passages": [{**passage, "allowed_roles": [text]}],
        "tool_calls": [{"name": text, "arguments": text, "output": text}],
        **{name: [text] for name in ("rewrites", "alternatives", "roles")},
        "packed_prompt": text * 3,
    }
    return m.stored(m.encoded(trace_id=trace_id, **fields), trace_id=trace_id)


def _clock_ahead(m: Maker) -> Hostile:
    later = m.now + timedelta(days=m.rng.randrange(1, 27_000))
    return m.stored(m.encoded(ts=later.isoformat()), flag="clock_ahead")


def _no_record_time(m: Maker) -> Hostile:
    return m.stored(m.encoded(), at=datetime.fromtimestamp(0, m.now.tzinfo))


def _expired(year: int) -> Kind:
    def make(m: Maker) -> Hostile:
        value = m.encoded(ts=f"{year:04}-01-01T00:00:00Z")
        return Hostile(m.kind, value, Fate.EXPIRED, key=m.trace_id.encode(), trace_id=m.trace_id)

    return make


def _new_intent(m: Maker) -> Hostile:
    return m.stored(m.encoded(intent=f"intent {m.number}"))


ODD = "\udcff"
"""A header name that holds it stands for one that is not UTF-8."""
_HEADERS = (("gw-reason", b"forged"), ("traceparent", b"\xff\x00\x80"), ("empty", b""))

ACCEPTED: dict[str, Kind] = {
    "surrogate_escape": _written("answer", r'"Within 30 days \ud83d"', "surrogate_replaced"),
    "surrogate_pair_reversed": _written("answer", r'"\ude00\ud83d within 30 days"', "surrogate_replaced"),
    "surrogate_bytes": _written("answer", '"Within 30 days \ud83d"', "surrogate_replaced"),
    "surrogate_key": lambda m: m.stored(m.encoded()[:-1] + rb', "\ud83d": {"\udc00": 1}}'),
    "surrogate_key_bytes": lambda m: m.stored(m.encoded()[:-1] + b', "\xed\xa0\xbd": 1}'),
    "nul": _changed(question="\x00", answer="Lamps\x00 may be returned\x00 within 30 days."),
    "only_nul": _changed("unresolved:no_answer", answer="\x00" * 100),
    "right_to_left": _changed(answer="\u202eYou can return a lamp within 30 days\u202c \u2066x\u2069."),
    "combining": _changed(answer="a" + "\u0301" * 5000),
    "number_in_quotes": _passage("text_as_number", score='"0.83"', rank='"3"'),
    "nan": _passage("number_dropped", score="NaN"),
    "infinity": _passage("number_dropped", score="-Infinity"),
    "overflow": _passage("number_dropped", score="1e999"),
    "huge_rank": _passage("number_dropped", rank="1" + "0" * 400),
    "negative_rank": _passage("number_dropped", rank="-1"),
    "logprobs_nan": _written("token_logprobs", "[-0.1, NaN]", "number_dropped"),
    "timings_infinite": _written("timings", '{"total_ms": 1e999}', "number_dropped"),
    "boolean_in_quotes": _passage("text_as_boolean", archived='"False"', cited='"true"'),
    "empty_words": _passage("blank_as_missing", trust='""', cited='""', updated_at='""'),
    "date_without_zone": _passage("utc_assumed", updated_at='"2026-02-01"'),
    "date_unreadable": _passage("time_dropped", updated_at='"soon"', effective_from='"9999-12-31T23:00:00-12:00"'),
    "date_extreme": _passage("", updated_at='"0001-01-01T00:00:00Z"', effective_from='"9999-12-31T23:59:59Z"'),
    "doc_id_number": _passage("number_as_text", doc_id="17"),
    "nulls_everywhere": _written("rewrites", 'null, "intent": null, "versions": null', "null_as_missing"),
    "tier_in_capitals": _changed(flag="word_respelled", tier="HIGH"),
    "tier_empty": _changed(flag="blank_as_missing", tier=""),
    "gzip": lambda m: m.stored(gzip.compress(m.encoded(), mtime=0)),
    "byte_order_mark": lambda m: m.stored(b"\xef\xbb\xbf" + m.encoded(), flag="bom_removed"),
    "duplicate_keys": _written("answer", '"a", "answer": "You can return a lamp within 30 days."'),
    "unknown_fields": lambda m: m.stored(m.encoded(**{f"f{n}": n for n in range(1000)})),
    "deep_but_allowed": _written("extra", "[" * 150 + "]" * 150),
    "long_intent": _changed(flag="name_dropped", intent="i" * 100_000),
    "intent_with_controls": _changed(flag="name_dropped", intent="a\r\nb\x1b[31m\x00"),
    "long_version": _changed(flag="name_dropped", versions={"model": "m" * 100_000}),
    "long_user": _changed(user_id="u" * 100_000, conversation_id="c" * 100_000),
    "injection": _injected,
    "foreign_flags": _changed(flag="flags_dropped", flags=["x" * 1000] * 100),
    "forged_revision": _changed(revision=2**31 - 1, late_spans=5, decoder="x" * 1000),
    "headers": lambda m: m.stored(m.encoded(), headers=_HEADERS),
    "header_name_of_bytes": lambda m: m.stored(m.encoded(), headers=((ODD, b"v"),)),
    "no_key": lambda m: m.stored(m.encoded(), key=None),
    "binary_key_good": lambda m: m.stored(m.encoded(), key=b"\xff\xfe\x00"),
    "clock_ahead": _clock_ahead,
    "no_record_time": _no_record_time,
    "seconds": _epoch(1),
    "milliseconds": _epoch(1_000),
    "microseconds": _epoch(1_000_000),
    "nanoseconds": _epoch(1_000_000_000),
    "year_1": _expired(1),
    "year_1899": _expired(1899),
    "year_1970": _expired(1970),
    "year_2015": _expired(2015),
    "no_answer": _changed("unresolved:no_answer", answer=None),
    "no_passages_field": _changed("unresolved:no_context", passages=None),
    "open_markdown": _changed(answer="```" * 2000 + "|" * 2000 + "> " * 2000 + "**" * 2000),
}
GOOD: dict[str, Kind] = {"good": _good}
INTENTS: dict[str, Kind] = {"new_intent": _new_intent}
