"""The local API: who gets in, and what it answers."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from aiohttp.test_utils import TestClient, TestServer

from sampling.policy_file import default_policy_text
from schemas.errors import StoreUnavailable
from schemas.labels import AlertState
from streams.agents.batches import Lifeline
from streams.agents.policies import PolicyPublisher
from streams.broker.publisher import Publisher
from streams.broker.topics import POLICY
from streams.health.metrics import Sources, registry_of
from streams.health.process import Process
from streams.health.server import ProbeRoutes
from streams.health.watchdog import Limits
from streams.store import CheckName, CheckResult, Store, Verification
from streams.web import Api
from tests.agents.flow import Flow
from tests.builders import NOW, alert

TOKEN = "a token for tests"  # noqa: S105  opens nothing
OURS = {"Authorization": f"Bearer {TOKEN}"}


@dataclass
class Site:
    """A running server over fakes."""

    client: TestClient  # type: ignore[type-arg]
    flow: Flow
    process: Process

    async def status(self, path: str, **headers: str) -> int:
        """The status of a GET."""
        return (await self.client.get(path, headers=headers)).status


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """The server on a free port of this machine."""
    flow = Flow()
    process = Process(Lifeline(), Limits(), old_batch_seconds=60.0)
    probes = ProbeRoutes(process, registry_of(Sources(process, lambda: NOW)))
    store = cast("Store", flow.store)
    publisher = PolicyPublisher(flow.known, cast("Publisher", flow.publisher), store)
    api = Api(store, flow.known, publisher, lambda: NOW, probes, token=TOKEN)
    async with TestClient(TestServer(api.application())) as client:
        yield Site(client, flow, process)


@pytest.mark.parametrize("given", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN[::-1]}])
async def test_the_api_needs_the_token(site: Site, given: dict[str, str]) -> None:
    """Whoever may open a port of this machine is not yet its owner."""
    for path in ("/api/v1/alerts", "/api/v1/counts", "/api/v1/policy"):
        assert await site.status(path, **given) == 401


async def test_another_host_name_is_refused(site: Site) -> None:
    """A page elsewhere must not read ours through a name that it makes point to this machine."""
    for path in ("/", "/healthz", "/api/v1/counts"):
        assert await site.status(path, Host="evil.example") == 421


async def test_alerts_are_listed_by_state_and_shown_by_id(site: Site) -> None:
    """What `groundwatch alerts` asks for."""
    site.flow.store.insert_alerts([alert("a-1", state=AlertState.FIRING), alert("a-2", state=AlertState.RESOLVED)])
    found = await (await site.client.get("/api/v1/alerts?state=firing", headers=OURS)).json()
    assert [one["alert_id"] for one in found] == ["a-1"]
    assert (await (await site.client.get("/api/v1/alerts/a-2", headers=OURS)).json())["state"] == "resolved"


async def test_what_is_not_there_or_not_understood_is_said(site: Site) -> None:
    """404 and 400 with an ``error`` text."""
    missing = await site.client.get("/api/v1/alerts/none", headers=OURS)
    wrong = await site.client.get("/api/v1/alerts?state=burning", headers=OURS)
    assert (missing.status, wrong.status) == (404, 400)
    assert "burning" in (await wrong.json())["error"]


async def test_a_policy_is_published(site: Site) -> None:
    """To the topic and to the store's copy, with its author."""
    answer = await site.client.post("/api/v1/policy?author=ana", headers=OURS, data=default_policy_text())
    assert answer.status == 201
    assert len(site.flow.publisher.sent[POLICY]) == 1
    assert [record.author for record in site.flow.store.policy_records()] == ["ana"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("name: x\nsampling:\n  default_probability: 2\n", "line 3"),
        ("name: x\nintents:\n  '*':\n    critical:\n    - {name: amount, pattern: '('}\n", "line 5"),
    ],
)
async def test_a_bad_policy_is_refused_and_nothing_is_published(site: Site, text: str, part: str) -> None:
    """The old one stays in force; the answer says where the mistake is."""
    answer = await site.client.post("/api/v1/policy", headers=OURS, data=text)
    assert answer.status == 400
    assert part in (await answer.json())["error"]
    assert site.flow.publisher.sent[POLICY] == []


async def test_probes_and_metrics_are_here_too_and_need_no_token(site: Site) -> None:
    """A process with the web role shows them on both ports."""
    site.process.look_again()
    for path in ("/healthz", "/readyz", "/metrics"):
        assert await site.status(path) == 200
    site.process.lifeline.stop("test")
    site.process.look_again()
    assert (await site.status("/healthz"), await site.status("/readyz")) == (200, 503)


async def test_every_api_route_needs_the_token_and_is_on_its_page(site: Site) -> None:
    """A route added later is neither open nor unknown."""
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
    app = site.client.app
    assert app is not None
    routes = {
        (route.method, route.resource.canonical)
        for route in app.router.routes()
        if route.resource is not None and route.resource.canonical.startswith("/api/") and route.method != "HEAD"
    }
    assert len(routes) >= 11
    for method, path in routes:
        assert (await site.client.request(method, path.replace("{alert_id}", "a"))).status == 401
        assert f"| `{method} {path}` |" in page


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/api/v1/traces", "say whose traces"),
        ("/api/v1/traces?tenant=", "say whose traces"),
        ("/api/v1/traces/find?id=t", "say whose traces"),
        ("/api/v1/traces?tenants=all&tier=huge", "tier = 'huge': use one of low, medium, high"),
        ("/api/v1/traces?tenants=all&since=noon", "since: give a time with its zone"),
        ("/api/v1/traces?tenants=all&since=2026-03-10T12:00:00", "since: give a time with its zone"),
        ("/api/v1/traces?tenants=all&limit=0", "limit: give a number from 1 to 1000"),
        ("/api/v1/store/verify?limit=-1", "limit: give a number"),
        ("/api/v1/store/verify?until=x", "until: give a time"),
    ],
)
async def test_a_wrong_query_says_what_is_right(site: Site, path: str, says: str) -> None:
    """Also where a tenant is merely left out: nobody sees all by mistake."""
    answer = await site.client.get(path, headers=OURS)
    assert (400, True) == (answer.status, says in (await answer.json())["error"])


async def test_a_verification_that_breaks_off_says_so_in_its_last_line(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status was sent long before."""

    def breaking(_wanted: Verification) -> Iterator[CheckResult]:
        yield CheckResult(name=CheckName.LABELS)
        raise StoreUnavailable("read: away")

    monkeypatch.setattr(site.flow.store, "verify", breaking)
    answer = await site.client.get("/api/v1/store/verify", headers=OURS)
    lines = [json.loads(line) for line in (await answer.text()).splitlines()]
    assert (200, "labels", {"error": "read: away"}) == (answer.status, lines[0]["name"], lines[1])


async def test_a_store_that_is_away_before_the_first_step_is_an_error(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for every other route."""

    def away(_wanted: Verification) -> Iterator[CheckResult]:
        raise StoreUnavailable("read: away")
        yield

    monkeypatch.setattr(site.flow.store, "verify", away)
    assert 503 == await site.status("/api/v1/store/verify", **OURS)


async def test_hours_are_counted_again_on_request(site: Site) -> None:
    """Both ends are asked for, so that nobody recounts everything by a slip."""
    assert 400 == (await site.client.post("/api/v1/store/rebuild", headers=OURS)).status
    whole = {"since": NOW.isoformat(), "until": NOW.isoformat()}
    answer = await site.client.post("/api/v1/store/rebuild", headers=OURS, params=whole)
    assert (202, {"buckets": 0}) == (answer.status, await answer.json())
