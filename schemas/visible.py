"""Text that a page can carry: what strangers wrote, without what HTML or UTF-8 has no place for."""

import re

_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def visible(text: str) -> str:
    """``text`` with U+FFFD for each control character, lone surrogate and noncharacter; escaping is the page's."""
    return _UNSAFE.sub("\ufffd", text)
