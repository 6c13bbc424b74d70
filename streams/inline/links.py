"""Links to the sources of an answer, for people: a caller's and a document's words cannot become anything else.

A link is shown only to ``http`` and ``https``, since ``javascript:`` and the like would run where it is shown.
"""

import re
from collections.abc import Iterable, Sequence
from html import escape

from schemas.base import Record
from schemas.visible import visible

MOST_LINKS = 5
_WEB = re.compile(
    r"https?://[^\s\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\\<>\"'`]+", re.IGNORECASE
)


class SourceLink(Record):
    """A document to read. ``url`` is empty where none may be shown; ``title`` is plain text, not escaped."""

    doc_id: str
    title: str
    url: str = ""


def safe_url(url: str) -> str:
    """The address when it is one of the web, without spaces, quotes, brackets and hidden characters; else empty."""
    return url if _WEB.fullmatch(url) else ""


def distinct(links: Iterable[SourceLink]) -> tuple[SourceLink, ...]:
    """The first few of different documents, those without an address last; one without any name is left out."""
    seen: dict[tuple[str, str], SourceLink] = {}
    for link in links:
        if link.title or link.url:
            seen.setdefault((link.doc_id, link.url), link)
    return tuple(sorted(seen.values(), key=lambda link: not link.url)[:MOST_LINKS])


def as_html(text: str, links: Sequence[SourceLink]) -> str:
    """A fragment of HTML: the text in paragraphs, then a list of the sources; every word in it is escaped.

    Titles stand in ``bdi``, so that one which is written from right to left does not turn what is around it.
    """
    paragraphs = [f"<p>{_escaped(part)}</p>" for part in text.split("\n") if part.strip()]
    items = [f"<li>{_item(link)}</li>" for link in links]
    return "".join((*paragraphs, "<ul>" if items else "", *items, "</ul>" if items else ""))


def _item(link: SourceLink) -> str:
    title = f"<bdi>{_escaped(link.title or link.url)}</bdi>"
    return f'<a href="{_escaped(link.url)}" rel="noopener noreferrer">{title}</a>' if link.url else title


def _escaped(text: str) -> str:
    return escape(visible(text), quote=True)
