"""Foreign JSON, read liberally and within bounds."""

import json
from typing import Any

import pytest

from schemas.errors import InvalidMessage
from streams.sources.json_text import clean, load


def read(text: bytes) -> Any:
    """The document as a caller uses it."""
    document, is_dirty = load(text)
    return clean(document)[0] if is_dirty else document


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"a": [1, 2.5, null, true, "x"]}', {"a": [1, 2.5, None, True, "x"]}),
        (b'{"a": "\\ud83d"}', {"a": "�"}),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (b'{"\\udc00": 1}', {"�": 1}),
        (b'{"a": "\xe2\x82"}', {"a": "��"}),
        (b'{"a": "x\x01\n"}', {"a": "x\x01\n"}),
        (b'{"a": "\\u0000"}', {"a": "\0"}),
        (b"[NaN, Infinity, -Infinity]", [None, None, None]),
        (b"[" + b"9" * 400 + b"]", [int("9" * 400)]),
        (b"[" + b"9" * 5000 + b"]", [None]),
        (b"\xef\xbb\xbf[]", []),
        (b'{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_what_has_one_reading_is_read(text: bytes, expected: Any) -> None:
    """Strict parsers refuse most of these."""
    assert expected == read(text)


def test_good_text_needs_no_cleaning() -> None:
    """The fast way; text that only the slow one reads says whether it was mended."""
    assert (["é"], False) == load('["é"]'.encode())
    assert ([None], True) == load(b"[NaN]")
    assert (["a", None], False) == clean(["a", None])
    assert ({"a": ["�"]}, True) == clean({"a": ["\ud800"]})


@pytest.mark.parametrize("text", [b"", b"{", b"{'a': 1}", b"[1,]", b"{} {}", b"\xff\xff", b"nope"])
def test_what_is_no_json_is_refused(text: bytes) -> None:
    """The text itself is never repeated."""
    with pytest.raises(InvalidMessage, match="not_json") as caught:
        load(text)
    assert "nope" not in str(caught.value)


@pytest.mark.parametrize("levels", [300, 500, 5_000, 1_000_000])
def test_depth_has_a_limit(levels: int) -> None:
    """At any number of levels it is a fault of the message, never of ours."""
    with pytest.raises(InvalidMessage, match="too_deep"):
        read(b"[" * levels + b"]" * levels)


def test_two_hundred_levels_are_read() -> None:
    """Both ways."""
    text = b"[" * 200 + b"]" * 200
    assert json.loads(text) == read(text)
    assert json.loads(text.replace(b"[]", b"[null]")) == read(text.replace(b"[]", b"[NaN]"))
