"""Text as it is compared word for word: what differs between a source and a faithful copy of it is taken away.

White space, case, Unicode compatibility forms, quotation marks, apostrophes, emphasis marks, escapes and invisible
characters carry no wording; letters, digits and all other signs do. Both sides are folded, so nothing has to be undone.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from html import unescape

_DROPPED = "\"'`*_«»‹›‘’‚‛“”„‟「」『』〝〞〟′″‵‶❛❜❝❞＂＇｀｢｣ʼʹʺˈ´\u00ad\u034f\u061c\u180e\ufeff"
_DASHES = "‐‑‒–—―−﹘﹣－~〜～"
_TABLE: dict[int, str | None] = {
    **{ord(char): None for char in _DROPPED},
    **dict.fromkeys(range(0x200B, 0x2010), None),  # zero width and direction marks
    **dict.fromkeys(range(0x202A, 0x202F), None),  # direction overrides
    **dict.fromkeys(range(0x2060, 0x2070), None),  # joiners, isolates, invisible operators
    **dict.fromkeys(range(0xFE00, 0xFE10), None),  # variation selectors
    **dict.fromkeys(range(0xE0000, 0xE0080), None),  # tags
    **dict.fromkeys(range(0xD800, 0xE000), None),  # halves of pairs
    **{ord(char): "-" for char in _DASHES},
}
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")
_CODE_POINT = re.compile(r"\\u([0-9a-fA-F]{4})")
# CPython sorts a run of combining marks in quadratic time; no word has 64 signs in a row
_LONG_RUN = re.compile(r"([^\w\s]{64})[^\w\s]+")
_CLOSING = ",.;:!?)]%-"
_OPENING = "([¿¡-"
_MAX_COMPARED_CHARS = 200_000_000
_MAX_CUT_NUMBERS = 1000


def fold(text: str) -> str:
    """The wording of ``text``; linear in its length, and empty for text without any."""
    if "&" in text:
        text = _ENTITY.sub(lambda match: unescape(match.group()), text)
    if "\\" in text:
        text = _unescaped(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _LONG_RUN.sub(r"\1", text))
    return _tightened(" ".join(text.translate(_TABLE).casefold().split()))


def straightened(text: str) -> str:
    """Lower-cased text with straight apostrophes and single spaces: what phrase patterns are searched in."""
    return " ".join(text.replace("’", "'").replace("ʼ", "'").lower().split())


def _unescaped(text: str) -> str:
    for escape in ("\\n", "\\r", "\\t"):
        text = text.replace(escape, " ")
    if "\\u" in text:
        text = _CODE_POINT.sub(lambda match: chr(int(match.group(1), 16)), text)
    return text.replace("\\", "")


def _tightened(text: str) -> str:
    """Without blanks around dashes and before closing signs, which printed and tokenised texts set differently."""
    for sign in _CLOSING:
        text = text.replace(" " + sign, sign)
    for sign in _OPENING:
        text = text.replace(sign + " ", sign)
    while "--" in text:
        text = text.replace("--", "-")
    return text


class FoldedTexts:
    """Texts that are searched for wordings; each is folded once, when a search first needs it.

    All searches together compare at most ``max_compared_chars`` characters; what comes after that counts as found, so
    that no text, however long, costs more than a second or is accused without a look.
    """

    def __init__(self, texts: Iterable[str], max_compared_chars: int = _MAX_COMPARED_CHARS) -> None:
        """Nothing is read before the first search."""
        self._texts = texts
        self._left = max_compared_chars

    @cached_property
    def raw(self) -> Sequence[str]:
        """The texts as they are, each once; empty ones are left out."""
        return tuple(dict.fromkeys(text for text in self._texts if text))

    @cached_property
    def folded(self) -> Sequence[str]:
        """The wordings of the texts."""
        return tuple(dict.fromkeys(fold(text) for text in self.raw))

    @property
    def is_spent(self) -> bool:
        """True when the limit of comparisons is reached."""
        return self._left <= 0

    def hold_as_is(self, part: str) -> bool:
        """Whether one text holds the part letter by letter: most quotations are found so, with nothing folded."""
        return bool(part) and not self.is_spent and any(self._holds(text, (part,)) for text in self.raw)

    def hold(self, parts: Sequence[str]) -> bool:
        """Whether one text holds all the folded ``parts``, in this order and without overlap."""
        return self.is_spent or any(self._holds(text, parts) for text in self.folded)

    def _holds(self, text: str, parts: Sequence[str]) -> bool:
        position = 0
        for part in parts:
            found = find_whole(text, part, position)
            self._left -= (len(text) if found < 0 else found) - position
            if found < 0:
                return False
            position = found + len(part)
        return True


def find_whole(text: str, part: str, start: int = 0) -> int:
    """Where ``part`` stands in ``text`` from ``start`` on without cutting a number; -1 where it does not.

    After a thousand places that cut a number the next one counts.
    """
    found = text.find(part, start)
    for _ in range(_MAX_CUT_NUMBERS):
        if found < 0 or not _cuts_number(text, part, found):
            break
        found = text.find(part, found + 1)
    return found


def _cuts_number(text: str, part: str, found: int) -> bool:
    """``5 days`` is not in ``15 days``, nor ``a fee of 5`` in ``a fee of 5.50``."""
    end = found + len(part)
    if part[:1].isdigit() and found > 0:
        before = text[found - 1]
        if before.isdigit() or (before in ".," and found > 1 and text[found - 2].isdigit()):
            return True
    if part[-1:].isdigit() and end < len(text):
        after = text[end]
        return after.isdigit() or (after in ".," and text[end + 1 : end + 2].isdigit())
    return False
