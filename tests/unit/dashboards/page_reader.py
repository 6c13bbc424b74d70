"""Asks the pages without a socket, and reads HTML as a browser would: elements, attributes and text."""

from dataclasses import dataclass, field
from datetime import datetime
from html.parser import HTMLParser

from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from dashboards.routes import add_routes
from streams.store import ALL_TENANTS, Tenants
from tests.builders import NOW


@dataclass
class Page:
    """A response with its HTML taken apart."""

    status: int
    headers: dict[str, str]
    body: str
    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    text: str = ""

    def links(self) -> list[str]:
        """The targets of all links."""
        return [attributes["href"] for tag, attributes in self.tags if tag == "a" and "href" in attributes]


async def get(store: object, path: str, *, tenants: Tenants = ALL_TENANTS, now: datetime = NOW) -> Page:
    """The page at ``path`` over ``store``."""
    app = web.Application()
    add_routes(app, store, now=lambda: now, tenants=tenants)  # type: ignore[arg-type]
    request = make_mocked_request("GET", path, app=app)
    match = await app.router.resolve(request)
    request._match_info = match
    response = await match.handler(request)
    assert isinstance(response, web.Response)
    return read(response.status, dict(response.headers), (response.text or ""))


def read(status: int, headers: dict[str, str], body: str) -> Page:
    """The page that a response's body makes."""
    page = Page(status, headers, body)
    _Reader(page).feed(body)
    return page


class _Reader(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__(convert_charrefs=True)
        self._page = page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._page.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self._page.text += data
