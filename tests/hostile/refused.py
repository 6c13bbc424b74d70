"""Kinds that become dead letters, each with its reason."""

import gzip
import json
from datetime import timedelta

from tests.hostile.message import Hostile, Kind, Maker

_YEARS = timedelta(days=365)


def _encoded_in(codec: str) -> Kind:
    return lambda m: m.letter(json.dumps(m.fields(), ensure_ascii=False).encode(codec), "not_utf8")


def _cut(m: Maker) -> Hostile:
    value = m.encoded()
    return m.letter(value[: m.rng.randrange(1, len(value) - 1)], "not_json")


def _wrong_byte(m: Maker) -> Hostile:
    return m.letter(m.encoded(answer="caf_ is open").replace(b"caf_", b"caf\xe9"), "not_utf8")


def _two_wrong_clocks(m: Maker) -> Hostile:
    later = m.now + m.rng.randrange(2, 70) * _YEARS
    return m.letter(m.encoded(ts=later.isoformat()), "clock_ahead", at=later)


def _many_headers(m: Maker) -> Hostile:
    headers = (("gw-reason", b"fine"), *((f"h{n}", b"\xff\x00" * 10) for n in range(1000)))
    return m.letter(b"not json", "not_json", headers=headers)


REFUSED: dict[str, Kind] = {
    "tombstone": lambda m: m.letter(None, "tombstone"),
    "tombstone_without_key": lambda m: m.letter(None, "tombstone", key=None),
    "empty_value": lambda m: m.letter(b"", "not_json"),
    "empty_key": lambda m: m.letter(b"", "not_json", key=b""),
    "binary_key": lambda m: m.letter(b"x", "not_json", key=b"\xff\x00\xfe"),
    "spaces": lambda m: m.letter(b" \n\t ", "not_json"),
    "text": lambda m: m.letter(b"hello, world", "not_json"),
    "xml": lambda m: m.letter(b"<?xml version='1.0'?><trace/>", "not_json"),
    "cut_off": _cut,
    "two_objects": lambda m: m.letter(m.encoded() + m.encoded(), "not_json"),
    "python_repr": lambda m: m.letter(str(m.fields()).encode(), "not_json"),
    "trailing_comma": lambda m: m.letter(m.encoded()[:-1] + b",}", "not_json"),
    "raw_control": lambda m: m.letter(m.encoded(answer="X").replace(b'"X"', b'"\x00\x01"'), "not_json"),
    "list": lambda m: m.letter(b"[" + m.encoded() + b"]", "wrong_type"),
    "string": lambda m: m.letter(json.dumps(m.encoded().decode()).encode(), "wrong_type"),
    "number": lambda m: m.letter(str(m.rng.random()).encode(), "wrong_type"),
    "null": lambda m: m.letter(b"null", "wrong_type"),
    "latin_1": _wrong_byte,
    "utf_16": _encoded_in("utf-16"),
    "utf_16_without_mark": lambda m: m.letter(m.encoded().decode().encode("utf-16-le"), "not_json"),
    "utf_32": _encoded_in("utf-32"),
    "utf_32_without_mark": lambda m: m.letter(m.encoded().decode().encode("utf-32-be"), "not_json"),
    "gzip_cut": lambda m: m.letter(gzip.compress(m.encoded(), mtime=0)[:-20], "bad_compression"),
    "gzip_of_text": lambda m: m.letter(gzip.compress(b"hello, world", mtime=0), "not_json"),
    "protobuf": lambda m: m.letter(b"\x0a\x96\x01\xff" + m.rng.randbytes(200), "not_utf8"),
    "avro": lambda m: m.letter(b"\x00\x00\x00\x00\x07\x0ahello", "not_json"),
    "deep_list": lambda m: m.letter(b"[" * 10_000 + b"]" * 10_000, "too_deep"),
    "deep_ignored_list": lambda m: m.letter(m.written("extra", "[" * 10_000 + "]" * 10_000), "too_deep"),
    "deep_ignored_object": lambda m: m.letter(m.written("extra", '{"a":' * 10_000 + "1" + "}" * 10_000), "too_deep"),
    "deep_answer": lambda m: m.letter(m.written("answer", "[" * 10_000), "too_deep"),
    "no_id": lambda m: m.letter(m.written("trace_id", "null"), "missing_field"),
    "no_time": lambda m: m.letter(m.written("ts", "null"), "missing_field"),
    "empty_id": lambda m: m.letter(m.encoded(trace_id=""), "wrong_type"),
    "long_id": lambda m: m.letter(m.encoded(trace_id="t" * 100_000), "wrong_type"),
    "long_tenant": lambda m: m.letter(m.encoded(tenant="t" * 100_000), "wrong_type"),
    "answer_is_a_number": lambda m: m.letter(m.encoded(answer=17), "wrong_type"),
    "answer_is_an_object": lambda m: m.letter(m.encoded(answer={"text": "x"}), "wrong_type"),
    "passages_are_texts": lambda m: m.letter(m.encoded(passages=["a", "b"]), "wrong_type"),
    "passage_without_text": lambda m: m.letter(m.encoded(passages=[{"doc_id": "a"}]), "missing_field"),
    "many_wrong_passages": lambda m: m.letter(m.encoded(passages=[{}] * 5000), "missing_field"),
    "too_many_passages": lambda m: m.letter(m.encoded(passages=[{"text": ""}] * 10_001), "too_large"),
    "tier_unknown": lambda m: m.letter(m.encoded(tier="urgent"), "wrong_type"),
    "score_is_true": lambda m: m.letter(m.passage(score="true"), "wrong_type"),
    "score_with_comma": lambda m: m.letter(m.passage(score='"0,83"'), "wrong_type"),
    "archived_perhaps": lambda m: m.letter(m.passage(archived='"perhaps"'), "wrong_type"),
    "huge_integer": lambda m: m.letter(m.written("extra", "1" * 10_000), "not_json"),
    "time_without_zone": lambda m: m.letter(m.encoded(ts="2026-03-10T12:00:00"), "wrong_type"),
    "time_is_zero": lambda m: m.letter(m.encoded(ts=0), "wrong_type"),
    "time_is_nan": lambda m: m.letter(m.written("ts", "NaN"), "wrong_type"),
    "time_is_a_word": lambda m: m.letter(m.encoded(ts="yesterday"), "wrong_type"),
    "time_before_the_calendar": lambda m: m.letter(m.encoded(ts="0001-01-01T00:00:00+14:00"), "wrong_type"),
    "time_after_the_calendar": lambda m: m.letter(m.encoded(ts="9999-12-31T23:59:59-12:00"), "wrong_type"),
    "two_wrong_clocks": _two_wrong_clocks,
    "many_headers": _many_headers,
    "large_header": lambda m: m.letter(b"x", "not_json", headers=(("h", b"\xff" * 200_000),)),
    "large_key": lambda m: m.letter(b"x", "not_json", key=b"k" * 200_000),
}
