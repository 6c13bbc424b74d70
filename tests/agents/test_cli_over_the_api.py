"""Commands against the real local API on a port of this machine: both sides must mean the same."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import pytest
from aiohttp.test_utils import TestServer

import streams.cli.opened
from sampling.policy_file import default_policy_text
from schemas.errors import ConfigError, NotReached
from streams.agents.policies import PolicyPublisher
from streams.broker.publisher import Publisher
from streams.cli.alerts import read_alert, read_alerts
from streams.cli.policy import publish_through_process
from streams.cli.reach import RunningProcess
from streams.run_file import RunFile
from streams.settings import Settings
from streams.store import Store
from streams.web import Api
from tests.agents.flow import Flow
from tests.builders import NOW, alert

T = TypeVar("T")


@dataclass
class Site:
    """A process as commands find it: its parts, and its settings."""

    flow: Flow
    settings: Settings

    async def command(self, call: Callable[..., T], *arguments: Any) -> T:
        """What a command does, in a thread, as it does it: blocking."""
        return await asyncio.to_thread(call, self.settings, *arguments)


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """The server over fakes, and commands that find it."""
    flow = Flow()
    store = cast("Store", flow.store)
    publisher = PolicyPublisher(flow.known, cast("Publisher", flow.publisher), store)
    api = Api(store, flow.known, publisher, lambda: NOW, list)
    async with TestServer(api.application()) as server:
        run_file = RunFile(str(server.make_url("")), api.token, os.getpid())
        monkeypatch.setattr(streams.cli.opened, "running_process", lambda _: RunningProcess(run_file))
        yield Site(flow, Settings())


async def test_the_author_of_a_policy_arrives(site: Site) -> None:
    """In the log, in the store's copy and in the answer, whatever letters the name has."""
    record = await site.command(publish_through_process, default_policy_text(), "Zoë & co ?author=eve")
    assert record is not None
    assert "Zoë & co ?author=eve" == record.author
    assert [record] == site.flow.store.policy_records()


async def test_a_refused_policy_says_where(site: Site) -> None:
    """The text of the API's error reaches the user, not its JSON."""
    with pytest.raises(ConfigError) as refused:
        await site.command(publish_through_process, "name: x\nsampling:\n  default_probability: 2\n", "ana")
    assert str(refused.value).startswith("line 3: sampling.default_probability")


async def test_alerts_are_read(site: Site) -> None:
    """By state and by id; an unknown id is said in a sentence."""
    site.flow.store.insert_alerts([alert("a/1 ?"), alert("a-2", state="resolved")])
    assert ["a/1 ?"] == [row.alert_id for row in await site.command(read_alerts, [alert().state], 10)]
    assert alert("a/1 ?") == await site.command(read_alert, "a/1 ?")
    with pytest.raises(NotReached, match=r"^no alert .nowhere."):
        await site.command(read_alert, "nowhere")
