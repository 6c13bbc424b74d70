"""Text that a reader of a document does not see and a model does: comments, invisible signs, tags, turned text."""

import re
from collections.abc import Iterator

from detectors.lexicon.acts.phrases import Phrases

_SIGNS = "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
_INVISIBLE = re.compile(_SIGNS)
_ANY_INVISIBLE = Phrases([_SIGNS])  # RE2 looks through a long text ten times as fast
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_TAG_BASE = 0xE0000
_TURNED = re.compile("\u202e([^\u202c\n]{1,4000})")
_LEAST_CHARS = 8
"""Flags of England, Scotland and Wales hold up to six tags."""
_MAX_CHARS = 4000
_OPEN, _CLOSE = "<!--", "-->"


def has_invisible(text: str) -> bool:
    """Whether the text holds characters that nobody sees."""
    return not text.isascii() and _ANY_INVISIBLE.search(text) is not None


def has_comment(text: str) -> bool:
    """Whether a comment begins in the text."""
    return _OPEN in text


def without_invisible(text: str) -> str:
    """The text without zero-width, direction and tag characters, which may be strewn into words to hide them."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def hidden_texts(text: str, *, has_signs: bool = True) -> Iterator[str]:
    """Comments, text spelled in tag characters, and text turned by a right-to-left override; linear in the text.

    At most 4,000 characters of each. Text hidden by a code of its own (base64, variation selectors) is not decoded.
    ``has_signs`` is False where ``has_invisible`` was.
    """
    position = text.find(_OPEN)
    while position >= 0:
        end = text.find(_CLOSE, position)
        yield text[position + len(_OPEN) : end if end >= 0 else len(text)][:_MAX_CHARS]
        position = text.find(_OPEN, end) if end >= 0 else -1
    if not has_signs:
        return
    tags = "".join(_TAGS.findall(text))
    if len(tags) >= _LEAST_CHARS:
        yield "".join(chr(ord(char) - _TAG_BASE) for char in tags[:_MAX_CHARS])
    for match in _TURNED.finditer(text):
        yield match.group(1)[::-1]
