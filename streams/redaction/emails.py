"""E-mail addresses, found from each "@" outwards, so that a text without one costs nothing."""

import re
from collections.abc import Iterator

from streams.redaction.hits import Hit, Recogniser
from streams.redaction.kinds import Kind

MAX_LOCAL_CHARS = 64
_LOCAL_SIGNS = frozenset(".%+-_'")
_DOMAIN = re.compile(r"[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,126}+")
_ESCAPES = frozenset("nrtbf")
# "icon@2x.png" is a file.
_FILE_ENDINGS = frozenset(("png", "jpg", "jpeg", "gif", "webp", "svg"))


def find_emails(text: str) -> Iterator[Hit]:
    """Addresses with a dotted domain that ends in letters; the value is in lower case."""
    at = text.find("@")
    while at >= 0:
        start = _local_start(text, at)
        end = _domain_end(text, at + 1)
        if start < at and end:
            yield Hit(Kind.EMAIL, start, end, text[start:end].lower())
        at = text.find("@", max(end, at + 1))


def _local_start(text: str, at: int) -> int:
    start = at
    while start > max(0, at - MAX_LOCAL_CHARS) and (text[start - 1].isalnum() or text[start - 1] in _LOCAL_SIGNS):
        start -= 1
    if start > 0 and text[start - 1] == "\\" and text[start] in _ESCAPES:  # "\n" in JSON that is kept as text
        start += 1
    while start < at and not (text[start].isalnum() or text[start] == "_"):
        start += 1
    return start


def _domain_end(text: str, start: int) -> int:
    """Where the domain ends; 0 when there is none. Labels after a last one of letters do not belong to it."""
    found = _DOMAIN.match(text, start)
    if found is None:
        return 0
    labels = found.group().split(".")
    while len(labels) > 1 and not _is_top_level(labels[-1].rstrip("-_")):
        labels.pop()
    if len(labels) == 1 or labels[-1].lower() in _FILE_ENDINGS or not labels[0].strip("-_"):
        return 0
    return start + len(".".join(labels).rstrip("-_"))


def _is_top_level(label: str) -> bool:
    return len(label) > 1 and (label.isalpha() or label.lower().startswith("xn--"))


EMAILS = Recogniser(Kind.EMAIL, r"@[^@.]{1,63}\.", find_emails)
