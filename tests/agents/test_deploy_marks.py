"""Deploys that people and pipelines mark: through the API and the command, into the alert and onto the page."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

import numpy as np
import pytest
from aiohttp.test_utils import TestClient, TestServer
from typer.testing import CliRunner, Result

import streams.cli.opened
from alerts.config import JumpConfig
from alerts.folder import Folder
from alerts.rules import jump_rule, unmapped_rule
from alerts.unmapped import UnmappedConfig
from schemas.alert import Alert
from schemas.labels import AlertState
from schemas.tally import BUCKET, Tally
from schemas.trace import Versions
from streams.agents.alert import AlertStep
from streams.agents.notified import Notified
from streams.agents.policies import PolicyPublisher
from streams.agents.telling import Teller
from streams.broker.publisher import Publisher
from streams.cli.program import app
from streams.cli.reach import RunningProcess
from streams.run_file import RunFile
from streams.store import Deploy, Store, StoreCounts, Watermark
from streams.web import Api
from tests.agents.flow import Flow, native
from tests.agents.test_alert_step import Clock, mark, step_on
from tests.builders import NOW
from tests.fakes_notifiers import CollectingNotifier
from tests.fakes_store import MemoryStore
from tests.unit.alerts.worlds import DAY, START, World

MINUTE = timedelta(minutes=1)
GIVEN = {"field": "prompt", "value": "p-2", "at": NOW.isoformat()}
ALL_TOKEN, MARKS_TOKEN = "token of the process", "token of a pipeline"
ALL, MARKS = ({"Authorization": f"Bearer {token}"} for token in (ALL_TOKEN, MARKS_TOKEN))


@dataclass
class Site:
    """A running server over a store in memory."""

    client: TestClient  # type: ignore[type-arg]
    store: MemoryStore

    async def mark(self, path: str = "/v1/deploys", token: dict[str, str] = ALL, **fields: Any) -> tuple[int, Any]:
        """Status and body of a mark."""
        answer = await self.client.post(path, headers=token, json={**GIVEN, **fields})
        return answer.status, await answer.json()

    async def invoke(self, *arguments: str) -> Result:
        """A whole command, as it is typed."""
        return await asyncio.to_thread(CliRunner(env={"COLUMNS": "200"}).invoke, app, list(arguments))


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """The server, and commands that find it; the clock of commands is this machine's."""
    flow = Flow()
    store = cast("Store", flow.store)
    publisher = PolicyPublisher(flow.known, cast("Publisher", flow.publisher), store)
    api = Api(
        store,
        flow.known,
        publisher,
        lambda: NOW,
        token=ALL_TOKEN,
        deploys_token=MARKS_TOKEN,
    )
    async with TestClient(TestServer(api.application())) as client:
        run_file = RunFile(str(client.make_url("")), api.token, os.getpid())
        monkeypatch.setattr(streams.cli.opened, "running_process", lambda *_: RunningProcess(run_file))
        monkeypatch.setattr(streams.cli.deploy, "utc_now", lambda: NOW)
        yield Site(client, flow.store)


@pytest.mark.parametrize("path", ["/v1/deploys", "/api/v1/deploys"])
async def test_a_mark_is_stored_once_however_often_it_is_sent(site: Site, path: str) -> None:
    """201 and then 200, with the note as it was said last."""
    first, again = await site.mark(path, note="a"), await site.mark(path, note="b")
    assert (201, 200, "b") == (first[0], again[0], again[1]["note"])
    assert [Deploy(at=NOW, field="prompt", value="p-2", note="b")] == site.store.deploys(NOW)


@pytest.mark.parametrize("path", ["/v1/deploys", "/api/v1/deploys"])
async def test_a_pipelines_token_marks_and_does_nothing_else(site: Site, path: str) -> None:
    """Not even reading what it marked; without a token, or with a wrong one, nobody marks."""
    assert 201 == (await site.mark(path, MARKS))[0]
    for refused in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer x"}):
        assert 401 == (await site.client.post(path, headers=refused, json=GIVEN)).status
    for other in ("/api/v1/deploys", "/api/v1/alerts", "/api/v1/traces?tenants=all"):
        assert 401 == (await site.client.get(other, headers=MARKS)).status
    assert 401 == (await site.client.post("/api/v1/policy", headers=MARKS, data="name: x")).status


async def test_no_token_of_pipelines_lets_no_empty_token_in() -> None:
    """Its default is nobody."""
    flow = Flow()
    store = cast("Store", flow.store)
    publisher = PolicyPublisher(flow.known, cast("Publisher", flow.publisher), store)
    api = Api(store, flow.known, publisher, lambda: NOW)
    async with TestClient(TestServer(api.application())) as client:
        assert 401 == (await client.post("/v1/deploys", headers={"Authorization": "Bearer "}, json=GIVEN)).status


async def test_a_wrong_mark_is_refused_with_the_fix(site: Site) -> None:
    """Nothing is stored."""
    status, body = await site.mark(field="modle")
    assert (400, True) == (status, "use one of model, prompt" in body["error"])
    assert [] == site.store.deploys(NOW - DAY)


async def test_the_command_marks_and_lists_through_the_process(site: Site) -> None:
    """With the time that was meant, for the intent that was meant; hidden characters stay hidden."""
    site.store.insert_deploys([Deploy(at=NOW - DAY, field="model", value="m\x1b[2J\u202e", source="detected")])
    options = ("--field", "app", "--value", "guard off", "--intent", "refunds", "--at", "20m", "--author", "zoë")
    done = await site.invoke("deploy", "mark", *options, "--note", "ticket 4711")
    assert (0, True) == (
        done.exit_code,
        "Marked: app guard off at 2026-03-10 11:40 UTC for intent refunds." in done.output,
    )
    rows = [json.loads(line) for line in (await site.invoke("deploy", "list", "--json")).stdout.splitlines()]
    assert [("mark", "zoë"), ("detected", "")] == [(row["source"], row["author"]) for row in rows]
    listed = (await site.invoke("deploy", "list")).output
    assert [part for part in ("app → guard off", "a mark", "ticket 4711", "the traces") if part not in listed] == []
    assert [sign for sign in "\x1b\u202e" if sign in listed] == []
    assert "No deploys" in (await site.invoke("deploy", "list", "--since", "1m")).output


async def test_the_command_says_what_is_wrong(site: Site) -> None:
    """Before anything is sent."""
    wrong = await site.invoke("deploy", "mark", "--field", "modle", "--value", "x")
    assert "use one of model, prompt" in str(wrong.exception)
    late = await site.invoke("deploy", "mark", "--field", "app", "--value", "x", "--at", "2026-03-11")
    assert "still to come" in str(late.exception)


async def test_the_mark_is_on_the_page(site: Site) -> None:
    """Among what changed, as marked, for all intents."""
    await site.mark(value="<b>p-2</b>", note="a & b")
    page = await (await site.client.get("/")).text()
    assert [part for part in ("&lt;b&gt;p-2&lt;/b&gt;", "a &amp; b", "all intents", "marked") if part not in page] == []


class WorldStore(MemoryStore):
    """A store whose tallies are those of a made-up world."""

    def __init__(self, tallies: list[Tally]) -> None:
        super().__init__()
        self.world = tallies

    def tallies(self, since: datetime, until: datetime, **_how: Any) -> list[Tally]:
        """The world's."""
        return [row for row in self.world if since <= row.bucket < until]

    def counts(self) -> StoreCounts:
        """The world began then."""
        return StoreCounts(first_ts=START)


JUMP = START + 15 * DAY


def world() -> list[Tally]:
    """One slice whose rate rises fourfold at the jump while no trace shows any new version."""
    made = World(per_day=1000, ratio=4.0, jump_at=JUMP, is_deploy=False)
    rows = [row for bucket in made.buckets(np.random.default_rng(1), JUMP + DAY) for row in bucket.tallies]
    return [row.model_copy(update={"versions": Versions(model="m-1")}) for row in rows]


async def alerts_over(store: MemoryStore, marked: Deploy, marked_at: datetime) -> list[Alert]:
    """What people are told while the world goes by, an hour at a time; the mark is made at ``marked_at``."""
    flow, receiver, moment = Flow(), CollectingNotifier(), [START]
    real, publisher = cast("Store", store), cast("Publisher", flow.publisher)
    step = AlertStep(
        store=real,
        policies=PolicyPublisher(flow.known, publisher, real),
        folder=Folder(jump_rule(JumpConfig())),
        unmapped=Folder(unmapped_rule(UnmappedConfig())),
        teller=Teller([receiver], Notified(), publisher),
        now=lambda: moment[0],
    )
    for hour in (*range(0, 24 * 15, 24), *range(24 * 15, 24 * 16 + 1)):
        moment[0] = START + timedelta(hours=hour)
        if moment[0] >= marked_at:
            store.insert_deploys([marked])
        store.insert_watermarks([Watermark(topic="traces", partition=0, event_time=moment[0], at=moment[0])])
        await step.tick()
    return store.alerts(states=[AlertState.FIRING])


@pytest.mark.parametrize("delay", [timedelta(0), timedelta(hours=3)])
async def test_an_alert_names_a_marked_deploy_that_no_trace_shows(delay: timedelta) -> None:
    """Also when the mark comes hours after its bucket was folded: that bucket is folded again."""
    told = Deploy(at=JUMP + MINUTE, field="prompt", value="p-2", note="by hand")
    store = WorldStore(world())
    (alert,) = await alerts_over(store, told, JUMP + delay)
    assert [("prompt", "p-2", JUMP)] == [(change.field, change.after, change.at) for change in alert.changes]
    assert [told] == store.deploys(JUMP - BUCKET)


async def test_a_mark_is_not_taken_for_something_seen(site: Site) -> None:
    """A detected deploy of the same moment would take its place, note and author with it."""
    del site
    flow = Flow()
    step = step_on(flow, Clock())
    for minute in range(60, 0, -1):
        ts = (NOW - timedelta(minutes=minute)).isoformat()
        await flow.ingest.handle([flow.message(native(f"t-{minute}", ts=ts))])
    await flow.verify_and_sink()
    mark(flow, NOW - 30 * MINUTE)
    await step.tick()
    told = Deploy(at=NOW - 20 * MINUTE, field="prompt", value="p-2", author="ci")
    step._recorded.add(("returns", "model", "m-1"))  # so it knows something and would not look again
    flow.store.insert_deploys([told])
    mark(flow, NOW)
    await step.tick()
    await step.tick()
    assert [told] == flow.store.deploys(NOW - DAY)
