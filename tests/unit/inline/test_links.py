"""Links to sources: what may be shown, and that it can be nothing but a link."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.inline.links import MOST_LINKS, SourceLink, as_html, distinct, safe_url


class Tags(HTMLParser):
    """Collects tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str | None] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One more tag."""
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name == "href"]


@pytest.mark.parametrize(
    "url",
    [
        "https://help.example.com/a?b=1&c=2#d",
        "http://127.0.0.1:8080/x",
        "HTTPS://EXAMPLE.COM/%20",
        "https://bücher.example/ä",
    ],
)
def test_addresses_of_the_web_are_shown(url: str) -> None:
    """As they were sent."""
    assert url == safe_url(url)


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "JaVaScRiPt:alert(1)", " https://a.example", "data:text/html,x", "//a.example", "/a"),
        *("https://", "https://a b", 'https://a"b', "https://a'b", "https://a<b", "https://a\nb", "https://a\u202eb"),
        *("https://a\\b", "ftp://a.example", "https:/a", "https://a\u200bb", "file:///etc/passwd", ""),
    ],
)
def test_anything_else_is_no_link(url: str) -> None:
    """What could run, hide, or end the attribute that it stands in."""
    assert "" == safe_url(url)


@given(st.text(), st.text(), st.text())
def test_no_text_can_become_a_tag(text: str, title: str, url: str) -> None:
    """Only our own tags are in the fragment, and only addresses of the web in its links."""
    page = as_html(text, [SourceLink(doc_id="d", title=title, url=safe_url(url)), SourceLink(doc_id="d", title=title)])
    page.encode()
    found = Tags(page)
    assert {*found.tags} <= {"p", "ul", "li", "a", "bdi"}
    assert ["ul", "li", "bdi", "li", "bdi"] == [tag for tag in found.tags if tag not in {"p", "a"}]
    assert all((link or "").lower().startswith(("http://", "https://")) for link in found.links)


def test_a_document_is_shown_once_and_those_with_an_address_first() -> None:
    """Few enough to be read."""
    many = [SourceLink(doc_id=f"d{n}", title=f"d{n}", url=f"https://a.example/{n}") for n in range(9)]
    bare = SourceLink(doc_id="bare", title="bare")
    assert [*many[:2], bare] == list(distinct([bare, many[0], many[0], many[1], SourceLink(doc_id="", title="")]))
    assert MOST_LINKS == len(distinct(many))
