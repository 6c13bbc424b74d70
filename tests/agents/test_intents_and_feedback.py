"""What is known of intents and feedback: asked by commands, and what late feedback does to a trace and its draw."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

import pytest
from aiohttp.test_utils import TestClient, TestServer
from typer.testing import CliRunner, Result

import streams.cli.opened
from schemas.span import Feedback, SpanKind
from streams.agents.policies import PolicyPublisher
from streams.broker.publisher import Publisher
from streams.cli.program import app
from streams.cli.reach import RunningProcess
from streams.run_file import RunFile
from streams.settings import Settings
from streams.store import ALL_TENANTS, Store, WantedLeads
from streams.web import Api
from tests.agents.flow import Flow, native
from tests.agents.test_assemble_step import BEGAN, close, messages, stored
from tests.builders import NOW
from tests.spans import TRACE_ID, request, span

HOUR = timedelta(hours=1)
OURS = {"Authorization": "Bearer t"}


@dataclass
class Site:
    """A running server over fakes, and commands that find it."""

    client: TestClient  # type: ignore[type-arg]
    flow: Flow

    async def invoke(self, *arguments: str) -> Result:
        """A whole command, as it is typed."""
        return await asyncio.to_thread(CliRunner(env={"COLUMNS": "200"}).invoke, app, list(arguments))


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """The server on a free port of this machine; the clock of commands is that of the tests."""
    flow = Flow()
    store = cast("Store", flow.store)
    publisher = PolicyPublisher(flow.known, cast("Publisher", flow.publisher), store)
    negative = Settings().web.negative_feedback
    api = Api(store, flow.known, publisher, lambda: NOW, token="t", negative_feedback=negative)  # noqa: S106  opens nothing
    async with TestClient(TestServer(api.application())) as client:
        run_file = RunFile(str(client.make_url("")), api.token, os.getpid())
        monkeypatch.setattr(streams.cli.opened, "running_process", lambda *_: RunningProcess(run_file))
        monkeypatch.setattr(streams.cli.intents, "utc_now", lambda: NOW)
        yield Site(client, flow)


async def traces(site: Site, **intents: str) -> None:
    """One trace for each id and intent."""
    sent = [site.flow.message(native(trace_id, intent=intent)) for trace_id, intent in intents.items()]
    await site.flow.ingest.handle(sent)


async def test_intents_are_listed_with_share_and_advice(site: Site) -> None:
    """An intent is the producer's text: nothing in it moves the cursor."""
    await traces(site, a="returns", b="returns", c="unmapped", d="unmapped")
    listed = (await site.invoke("intents", "list")).output
    wanted = ("returns", "50.0%", "2026-03-10 11:50 UTC", "50.0% has no intent", "`groundwatch intents unmapped`")
    assert [part for part in wanted if part not in listed] == []
    rows = [json.loads(line) for line in (await site.invoke("intents", "list", "--json")).stdout.splitlines()]
    assert [("returns", 2, 0.5), ("unmapped", 2, 0.5)] == [
        (row["intent"], row["traffic"], row["share"]) for row in rows
    ]


async def test_unmapped_traffic_is_shown_by_topic_and_hour(site: Site) -> None:
    """Only hours above a share, where that is asked for."""
    await traces(site, a="returns", c="unmapped")
    shown = (await site.invoke("intents", "unmapped")).output
    assert [part for part in ("traces", "2026-03-10 11:00 UTC", "50.0%") if part not in shown] == []
    (row,) = [json.loads(line) for line in (await site.invoke("intents", "unmapped", "--json")).stdout.splitlines()]
    assert ("traces", 2, 1) == (row["topic"], row["traffic"], row["unmapped"])
    assert "No hour is above" in (await site.invoke("intents", "unmapped", "--above", "0.5")).output


async def test_nothing_unmapped_is_said(site: Site) -> None:
    """And that there is nothing at all is another thing."""
    assert "No traces in this time" in (await site.invoke("intents", "unmapped")).output
    assert "No traces are stored" in (await site.invoke("intents", "list")).output
    await traces(site, a="returns")
    assert "Every trace has an intent" in (await site.invoke("intents", "unmapped")).output


async def test_traces_with_feedback_are_listed_with_it(site: Site) -> None:
    """By the command and by the API; a word that is neither true nor false is refused."""
    await site.flow.ingest.handle(
        [site.flow.message(native("a", feedback="thumbs down: wrong")), site.flow.message(native("b"))]
    )
    listed = (await site.invoke("traces", "list", "--has-feedback")).output
    assert ("thumbs down: wrong" in listed, "\nb " in listed) == (True, False)
    wrong = await site.client.get("/api/v1/traces?tenants=all&has_feedback=1", headers=OURS)
    assert (400, "has_feedback = '1': use true or false") == (wrong.status, (await wrong.json())["error"])


async def test_leads_are_on_their_page_negative_first(site: Site) -> None:
    """With the configured pattern."""
    await site.flow.ingest.handle(
        [site.flow.message(native("a", feedback="user_score=0")), site.flow.message(native("b", feedback="great"))]
    )
    page = await (await site.client.get("/review-leads")).text()
    assert page.index("user_score=0") < page.index("great")
    assert 1 == page.count(">negative<")


async def test_late_feedback_makes_a_revision_a_lead_and_no_other_draw() -> None:
    """It comes after the draw, so it cannot be a stratum: who was drawn, and how likely, stays as it was."""
    flow = Flow()
    step = flow.assemble
    await step.handle(messages(*request()))
    await close(step, 5)
    first = stored(flow)
    said = span("f", SpanKind.FEEDBACK, feedback=(Feedback(name="thumb", value="down", comment="wrong sum"),))
    await step.handle(messages(said, first_offset=9, at=BEGAN + timedelta(minutes=3)))
    await close(step, 600)
    second = stored(flow)
    assert ("", "thumb=down (wrong sum)") == (first.trace.feedback, second.trace.feedback)
    assert (first.trace.revision + 1, 1) == (second.trace.revision, second.trace.late_spans)
    assert (first.draw, first.trace.ts) == (second.draw, second.trace.ts)
    assert (first.trace.answer, first.trace.passages) == (second.trace.answer, second.trace.passages)
    wanted = WantedLeads(NOW - 10 * HOUR, Settings().web.negative_feedback)
    (lead,) = flow.store.leads(wanted, tenants=ALL_TENANTS)
    assert (TRACE_ID, True) == (lead.trace.trace_id, lead.is_negative)
