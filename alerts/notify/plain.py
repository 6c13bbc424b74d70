"""Untrusted text made safe for terminals and chat: nothing invisible, nothing that moves a cursor, bounded length."""

import unicodedata

JOINERS = frozenset("\u200c\u200d")
"""Invisible, but part of the spelling in Persian, Hindi and of emoji."""
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
REPLACEMENT = "\ufffd"


def plain(text: str, limit: int = 300) -> str:
    r"""One line of at most ``limit`` code points; what is hidden (controls, escapes, direction marks) becomes U+FFFD.

    >>> plain("paid\x1b[31m in\n full", 40) == "paid\ufffd[31m in full"
    True
    """
    line = " ".join(text[: limit * 4].split())
    shown = "".join(REPLACEMENT if _is_hidden(character) else character for character in line)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _is_hidden(character: str) -> bool:
    return character not in JOINERS and unicodedata.category(character) in _HIDDEN
