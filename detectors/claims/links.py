"""Finds web addresses in a text and brings them into one form, so that two spellings of an address are equal.

Scheme, ``www.``, letter case of the host, fragment, query and a slash at the end make no difference; the path does.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

_URL = re.compile(r"(?:https?://|(?<![\w.@/-])www\.)[^\s<>\"`|\\^{}\[\]【】（）「」。，、；]{1,2000}", re.IGNORECASE)
_TARGET = re.compile(r"\]\(\s?<?([^\s()<>]{1,500})>?(?:\s[^()\n]{0,200})?\)")
_HREF = re.compile(r"\bhref\s?=\s?[\"']?([^\s\"'<>]{1,500})", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]{1,64}@((?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24})")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,15}:/{0,2}", re.IGNORECASE)
_HOST = re.compile(r"(?:[\w-]{1,63}\.){1,8}[\w-]{2,24}(?::\d{1,5})?")
_LOCAL = re.compile(r"(?:localhost|127\.|10\.|192\.168\.|0\.0\.0\.0|\[)")
_TRAILING = ".,;:!?'\"*_~…’”»"


@dataclass(frozen=True, slots=True)
class Link:
    """A web address at ``text[start:end]``; ``address`` is its one form: host and path."""

    start: int
    end: int
    address: str

    @property
    def host(self) -> str:
        """The host without ``www.``, with its port."""
        return self.address.partition("/")[0]

    @property
    def is_site_only(self) -> bool:
        """True for an address without a path."""
        return "/" not in self.address


def find_links(text: str) -> Iterator[Link]:
    """Absolute web addresses in order: bare, in Markdown, in HTML; not e-mail, not this machine or a private net."""
    if "://" not in text and "www." not in text and "WWW." not in text:
        return
    for match in _URL.finditer(text):
        found = _without_trailing(match.group())
        address = normal_address(found)
        if address:
            yield Link(match.start(), match.start() + len(found), address)


def link_targets(text: str) -> tuple[str, ...]:
    """Targets of Markdown links and of ``href`` that are no absolute address: ids, files, anchors, as written."""
    found = _TARGET.findall(text) if "](" in text else []
    found += _HREF.findall(text) if "<" in text else []
    return tuple(dict.fromkeys(target for target in found if not _SCHEME.match(target)))


def mail_hosts(text: str) -> Iterator[str]:
    """Hosts of the e-mail addresses of a text, in lower case."""
    if "@" in text:
        for match in _MAIL.finditer(text):
            yield match.group(1).lower()


def normal_address(url: str) -> str:
    """Host and path in one form, empty for what is no public web address."""
    scheme = _SCHEME.match(url)
    if scheme is not None and not scheme.group().lower().startswith(("http:", "https:")):
        return ""
    rest = url[scheme.end() :] if scheme else url
    rest = rest.partition("#")[0].partition("?")[0]
    host, _, path = rest.partition("/")
    host = host.rpartition("@")[2].lower().removeprefix("www.")
    if not _HOST.fullmatch(host) or _LOCAL.match(host):
        return ""
    path = unquote(path).rstrip("/")
    return f"{host}/{path}" if path else host


def _without_trailing(url: str) -> str:
    """The address without the signs of the sentence around it; a closing bracket stays when it has its opening one."""
    while url:
        last = url[-1]
        if last in _TRAILING or (last == ")" and url.count(")") > url.count("(")):
            url = url[:-1]
        else:
            break
    return url
