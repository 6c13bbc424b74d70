"""The local API: who gets in, and what it answers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import cast

import pytest
from aiohttp.test_utils import TestClient, TestServer

from sampling.policy_file import default_policy_text
from schemas.labels import AlertState
from streams.agents.policies import PolicyPublisher
from streams.broker.publisher import Publisher
from streams.broker.topics import POLICY
from streams.store import Store
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
    waiting: list[str] = field(default_factory=list)

    async def status(self, path: str, **headers: str) -> int:
        """The status of a GET."""
        return (await self.client.get(path, headers=headers)).status


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """The server on a free port of this machine."""
    flow, waiting = Flow(), list[str]()
    store = cast("Store", flow.store)
    publisher = PolicyPublisher(flow.known, cast("Publisher", flow.publisher), store)
    api = Api(store, flow.known, publisher, lambda: NOW, lambda: waiting, token=TOKEN)
    async with TestClient(TestServer(api.application())) as client:
        yield Site(client, flow, waiting)


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


async def test_ready_once_every_role_is_at_work(site: Site) -> None:
    """A process in a rebalance is alive but not ready."""
    site.waiting.append("verify")
    assert (await site.status("/healthz"), await site.status("/readyz")) == (200, 503)
    site.waiting.clear()
    assert await site.status("/readyz") == 200
