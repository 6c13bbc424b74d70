"""The pages over the real store, with texts that mean harm."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from yarl import URL

from dashboards.routes import add_routes
from schemas.alert import AlertExample, VersionChange
from schemas.draw import DrawnTrace
from schemas.labels import ClaimLabel, Outcome, RiskTier
from schemas.slice import Slice
from schemas.verdict import Verdict
from streams.store import ALL_TENANTS, Deploy, Store
from tests.builders import (
    ANSWER,
    FINGERPRINT,
    NOW,
    alert,
    claim,
    claim_verdict,
    draw,
    evidence,
    passage,
    screening,
    trace,
    verdict,
    versions,
)
from tests.unit.dashboards.page_reader import Page, read

pytestmark = pytest.mark.integration

HARM = {
    "script": "<script>alert(1)</script>",
    "attribute": '" onmouseover="alert(1)" x="',
    "scheme": "javascript:alert(1)",
    "template": "{{ 7*7 }}{% include '/etc/passwd' %}",
    "right to left": "\u202eevil\u2066 مرحبا",
    "nul": "before\x00after",
    "dots": "..",
    "path": "../../a/b?c#d%2fe&f=g",
    "comment": "--><!-- ]]></style></title>",
}


def harmful(number: int, text: str) -> tuple[DrawnTrace, Verdict]:
    """A hallucinated answer in which every text that a producer chooses is ``text``; its id too."""
    seen = trace(
        text,
        ts=NOW - timedelta(minutes=10 * number + 1, microseconds=7),
        question=text,
        answer=f"{text} {ANSWER}",
        intent=text,
        tenant=text,
        passages=(passage(text, doc_id=text, version=text),),
        versions=versions(model=text, prompt=text),
    )
    bad = claim_verdict(
        ClaimLabel.UNSUPPORTED,
        claim=claim(text, citations=(text,)),
        evidence=evidence(text, doc_id=text),
        why=text,
    )
    found = verdict(seen.trace_id, Outcome.HALLUCINATED, ts=seen.ts, intent=seen.intent, claims=(bad,))
    return DrawnTrace(trace=seen, draw=draw(), screening=screening()), found


def plain(number: int) -> tuple[DrawnTrace, Verdict]:
    """Answers of ``refunds``: one in four hallucinated in the last two hours, none before."""
    at = NOW - timedelta(minutes=4 * number + 1)
    is_bad = number < 30 and number % 4 == 0
    outcome = Outcome.HALLUCINATED if is_bad else Outcome.GROUNDED
    prompt = versions(prompt="p-2" if number < 30 else "p-1")
    seen = trace(f"plain-{number}", ts=at, versions=prompt)
    found = verdict(seen.trace_id, outcome, ts=at, versions=prompt)
    return DrawnTrace(trace=seen, draw=draw(), screening=screening()), found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A fresh embedded store with plain and harmful answers, and an alert."""
    path: Path = tmp_path_factory.mktemp("dashboards") / "store"
    opened = Store.open(f"chdb://{path}")
    opened.migrate(retention_days=3650, hourly_days=3650)  # the tests' clock stands still, the store's does not
    pairs = [plain(number) for number in range(200)]
    pairs += [harmful(number, text) for number, text in enumerate(HARM.values())]
    opened.insert_traces([pair[0] for pair in pairs])
    opened.insert_verdicts([pair[1] for pair in pairs])
    change = VersionChange(field="prompt", before="p-1", after="p-2", at=NOW - timedelta(hours=2))
    example = AlertExample(
        trace_id=HARM["path"],
        ts=NOW - timedelta(minutes=10 * [*HARM].index("path") + 1, microseconds=7),
        question=HARM["script"],
        claim=HARM["script"],
        label="unsupported",
        evidence=HARM["attribute"],
        doc_id=HARM["scheme"],
    )
    opened.insert_alerts(
        [
            alert("jump-plain", changes=(change,), fingerprint=FINGERPRINT),
            alert(HARM["path"], slice=Slice(intent=HARM["script"], tier=RiskTier.HIGH), examples=(example,)),
        ]
    )
    opened.insert_deploys([Deploy(at=NOW - timedelta(hours=2), field="prompt", value=HARM["script"], note=HARM["nul"])])
    opened.rebuild_tallies(NOW)
    yield opened
    opened.close()


@pytest.fixture
async def server(store: Store) -> AsyncIterator[TestServer]:
    """The pages on a free port of this machine."""
    app = web.Application()
    add_routes(app, store, now=lambda: NOW, tenants=ALL_TENANTS)
    running = TestServer(app)
    async with running:
        yield running


async def fetch(server: TestServer, path: str) -> Page:
    """The page at ``path``, which is already encoded."""
    address = URL(f"{server.make_url('/').origin()}{path}", encoded=True)
    async with ClientSession() as session, session.get(address) as got:
        return read(got.status, dict(got.headers), await got.text())


async def test_every_page_over_the_real_store_is_inert(server: TestServer) -> None:
    """Each link of each page answers, and no element, handler or foreign link comes from a text."""
    seen: dict[str, Page] = {}
    waiting = ["/", "/?period=24h", "/?period=21d", "/alerts", "/flagged"]
    while waiting:
        path = waiting.pop()
        page = seen[path] = await fetch(server, path)
        found = {link.partition("#")[0] for link in page.links()} - {""}
        waiting += sorted(found - seen.keys() - set(waiting))
    assert {200} == {page.status for page in seen.values()}
    assert len(HARM) <= sum(path.startswith("/traces/") for path in seen)
    for page in seen.values():
        assert 1 == sum(tag == "script" for tag, _ in page.tags)
        assert not [tag for tag, _ in page.tags if tag in {"img", "iframe", "style", "object", "base"}]
        assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
        assert all(link.startswith(("/", "#")) for link in page.links())
        assert "\x00" not in page.body
        assert "7*7" not in page.text or "{{ 7*7 }}" in page.text


async def test_overview_shows_the_rate_that_was_stored(server: TestServer) -> None:
    """Eight hallucinated of 200 judged."""
    page = await fetch(server, "/")
    assert "4.0 %" in page.text
    assert "n = 200" in page.text
    assert "200 judged of 200 drawn" in page.text


async def test_alert_page_compares_the_versions(server: TestServer) -> None:
    """Eight of thirty under the new prompt, none of 170 under the old one."""
    page = await fetch(server, "/alerts/jump-plain")
    assert "26.7 %" in page.text
    assert "n = 170" in page.text
    assert 3 <= sum(link.startswith("/traces/") for link in page.links())


async def test_pages_answer_while_others_are_read(server: TestServer) -> None:
    """Store reads run in threads, so readers do not wait for each other's turn at the loop."""
    pages = await asyncio.gather(*(fetch(server, path) for path in ("/", "/flagged", "/alerts", "/live", "/")))
    assert [200] * 5 == [page.status for page in pages]
