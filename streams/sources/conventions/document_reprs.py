"""Documents as Python prints them: ``Document(metadata={…}, page_content='…')`` and its relatives.

Producers that log objects without a serialiser send this. The text is cut into tokens in one pass, so that quotes and
braces within a passage are never taken for the end of it, and the time is linear whatever the text is.
"""

import re
from collections.abc import Iterator

from schemas.trace import MAX_ITEMS
from streams.sources.conventions.values import literal, parsed
from streams.sources.raw import Json

_TOKEN = re.compile(
    r"""\\.|(?P<text>'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")|(?P<new>\b(?:Document|TextNode|Node|NodeWithScore)\()"""
    r"""|\b(?P<field>[a-z_]{1,32})=|(?P<open>\{)|(?P<close>\})|(?P<number>(?<![\w.])-?[0-9][0-9.e+-]{0,30})""",
    re.DOTALL,
)
_SCALARS = frozenset({"page_content", "text", "id_", "id", "score"})
_LOOKS = re.compile(r"\b(?:page_content|text)=|\b(?:Document|TextNode|NodeWithScore)\(")
_HEAD_CHARS = 64


def is_repr(text: str) -> bool:
    """Whether the text begins like a printed document or a list of them."""
    return _LOOKS.search(text, 0, _HEAD_CHARS) is not None and ("page_content=" in text or "text=" in text)


def documents_in(text: str, flags: set[str]) -> list[dict[str, Json]]:
    """The printed documents, each as a map of its fields, as many as a trace may have and one more.

    Empty when there is none. Flags ``truncated``.
    """
    found: list[dict[str, Json]] = []
    current: dict[str, Json] = {}
    field = ""
    for kind, token in _tokens(text):
        if kind == "new" or (kind == "field" and token in current):
            _keep(current, found)
            current = {}
            if len(found) > MAX_ITEMS:
                return found
        if kind == "field":
            field = token
        elif kind in ("text", "number") and field in _SCALARS:
            current.setdefault(field, literal(token) if "\\" in token or kind == "number" else token[1:-1])
            field = ""
        elif kind == "map" and field == "metadata":
            current[field] = parsed(token, flags)
    _keep(current, found)
    if text.rstrip()[-1:] not in (")", "]", "}", "'", '"'):
        flags.add("truncated")
    return found


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Kinds and texts of tokens; what stands within braces is one token, and braces that never close are none."""
    depth, begin = 0, 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if kind == "open":
            begin = token.start() if depth == 0 else begin
            depth += 1
        elif kind == "close":
            depth = max(depth - 1, 0)
            if depth == 0:
                yield "map", text[begin : token.end()]
        elif depth == 0:
            yield kind, token[kind] if kind else ""


def _keep(current: dict[str, Json], found: list[dict[str, Json]]) -> None:
    if "page_content" in current or "text" in current:
        found.append(current)
