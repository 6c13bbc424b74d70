"""Commands against the real local API on a port of this machine: both sides must mean the same."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from aiohttp.test_utils import TestServer
from typer.testing import CliRunner, Result

import streams.cli.opened
from sampling.policy_file import default_policy_text
from schemas.errors import ConfigError, NotReached
from schemas.labels import Layer, RiskTier
from schemas.routes import Budget
from schemas.spend import Cost, Spend
from streams.agents.policies import PolicyPublisher
from streams.broker.publisher import Publisher
from streams.cli import completions
from streams.cli.alerts import read_alert, read_alerts
from streams.cli.policy import publish_through_process
from streams.cli.program import app
from streams.cli.reach import RunningProcess
from streams.run_file import RunFile
from streams.settings import Settings
from streams.store import Store
from streams.web import Api
from tests.agents.flow import Flow, native
from tests.builders import NOW, alert, policy, policy_record, verdict

T = TypeVar("T")
HOSTILE = "\x1b[2J\x00\u202e' OR 1=1 --<script>"


@dataclass
class Site:
    """A process as commands find it: its parts, and its settings."""

    flow: Flow
    settings: Settings

    async def command(self, call: Callable[..., T], *arguments: Any) -> T:
        """What a command does, in a thread, as it does it: blocking."""
        return await asyncio.to_thread(call, self.settings, *arguments)

    async def invoke(self, *arguments: str) -> Result:
        """A whole command, as it is typed."""
        runner = CliRunner(env={"COLUMNS": "200"})
        return await asyncio.to_thread(runner.invoke, app, list(arguments))


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """The server over fakes, and commands that find it."""
    flow = Flow()
    store = cast("Store", flow.store)
    publisher = PolicyPublisher(flow.known, cast("Publisher", flow.publisher), store)
    api = Api(store, flow.known, publisher, lambda: NOW)
    async with TestServer(api.application()) as server:
        run_file = RunFile(str(server.make_url("")), api.token, os.getpid())
        monkeypatch.setattr(streams.cli.opened, "running_process", lambda *_: RunningProcess(run_file))
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


async def judged(flow: Flow, *trace_ids: str) -> None:
    """Traces through the steps: drawn, judged, stored, counted."""
    await flow.ingest.handle([flow.message(native(trace_id)) for trace_id in trace_ids])
    await flow.verify_and_sink()
    flow.store.insert_policy(list(flow.known.log.records.values()))
    flow.store.rebuild_tallies(NOW)


async def test_a_trace_is_listed_found_by_its_beginning_and_shown(site: Site) -> None:
    """Claims, evidence, draw and what a user would have got, without any control character of the ids."""
    await judged(site.flow, "t-1", "t-2", f"x{HOSTILE}")
    listed = await site.invoke("traces", "list", "--intent", "returns", "--json")
    assert {"t-1", "t-2"} < {json.loads(line)["trace_id"] for line in listed.stdout.splitlines()}
    shown = (await site.invoke("traces", "show", "x")).output
    wanted = ("You can return a lamp", "supported", "evidence  returns", "π 1", "policy p1", "the answer as it is")
    assert [part for part in wanted if part not in shown] == []
    for output in (shown, (await site.invoke("traces", "list")).output):
        assert [mark for mark in "\x1b\x00\u202e" if mark in output] == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["show", "t-"], "several traces begin with 't-': t-1, t-2; give more of the id"),
        (["show", "nope"], "`groundwatch traces list` shows ids"),
        (["show", "t-1", "--tenant", "globex"], "no trace 't-1'"),
        (["list", "--since", "10"], "--since '10': write 2026-03-10T12:00Z"),
        (["list", "--since", "2026-03-10T12:00"], "has no time zone; for UTC write 2026-03-10T12:00Z"),
    ],
)
async def test_what_cannot_be_shown_says_what_to_do(site: Site, arguments: list[str], says: str) -> None:
    """Ambiguous, missing, another tenant's, or a time that is none."""
    await judged(site.flow, "t-1", "t-2")
    result = await site.invoke("traces", *arguments)
    assert says in str(result.exception)


async def test_stats_and_verification_come_from_the_process(site: Site) -> None:
    """A sound store ends with 0, a faulty one with 1 and what to do; steps arrive one by one."""
    await judged(site.flow, "t-1")
    assert 1 == json.loads((await site.invoke("store", "stats", "--json")).stdout)["traces"]
    sound = await site.invoke("store", "verify")
    assert (0, True) == (sound.exit_code, "All is sound." in sound.output)
    site.flow.store.insert_verdicts([verdict("nowhere", verified_at=NOW)])
    faulty = await site.invoke("store", "verify", "--limit", "1", "--json")
    rows = {row["name"]: row for row in map(json.loads, faulty.stdout.splitlines())}
    assert (1, ["nowhere"]) == (faulty.exit_code, rows["verdicts_traced"]["examples"])


async def test_a_difference_is_reckoned_with_the_traffic_of_the_process(site: Site, tmp_path: Path) -> None:
    """Against the policy in force, with its id."""
    await judged(site.flow, "t-1", "t-2")
    file = tmp_path / "policy.yaml"
    file.write_text(
        "name: half\nsampling: {default_probability: 0.5}\nthresholds: {supported: 0.9}\n", encoding="utf-8"
    )
    shown = (await site.invoke("policy", "diff", str(file))).output
    assert [part for part in ("p1 →", "new fingerprint", "verified traces a day", "-50 %") if part not in shown] == []
    found = json.loads((await site.invoke("policy", "diff", str(file), "--json")).stdout)
    assert ("p1", 2.0) == (found["before"], found["diff"]["checks_per_day"][0] / found["diff"]["checks_per_day"][1])


async def test_spend_is_shown_with_what_is_left_of_each_budget(site: Site) -> None:
    """By hour, with what an hour's budget still holds; an intent's name styles nothing."""
    site.flow.known.add(
        policy_record(
            "p2",
            published_at=NOW - timedelta(hours=1),
            effective_from=NOW - timedelta(minutes=30),
            document=policy("b", budget=Budget(tokens_per_hour=4_000)),
        )
    )
    costs = {"returns": Cost(calls=2, tokens_in=900, tokens_out=100, usd=0.25), HOSTILE: Cost(cached=3, refused=1)}
    rows = [
        Spend(worker="w", minute=NOW, intent=intent, tier=RiskTier.HIGH, layer=Layer.L3, route="*/*", cost=cost)
        for intent, cost in costs.items()
    ]
    site.flow.store.spending.insert(rows, 1)
    shown = (await site.invoke("spend")).output
    wanted = ("all  since 12:00 UTC: 1,000 of 4,000 tokens, $0.25; 75% left", "2026-03-10 12:00", "returns")
    assert [part for part in wanted if part not in shown] == []
    assert [mark for mark in "\x1b\x00\u202e" if mark in shown] == []
    found = json.loads((await site.invoke("spend", "--by", "day", "--json")).stdout)
    assert (4_000, [2, 0]) == (
        found["pots"][0]["tokens_limit"],
        sorted(row["cost"]["calls"] for row in found["rows"])[::-1],
    )


async def test_a_policy_with_judges_says_what_they_would_cost(site: Site, tmp_path: Path) -> None:
    """Before it is published, by the last day; what exceeds the budget stands out. Without judges nothing is said."""
    await judged(site.flow, "t-1", "t-2")
    file = tmp_path / "policy.yaml"
    judging = "name: judging\nroutes: [{judge: {band_low: 0.0, band_high: 1.0}}]\nbudget: {tokens_per_hour: 10}\n"
    file.write_text(judging, encoding="utf-8")
    shown = (await site.invoke("policy", "diff", str(file))).output
    wanted = (
        "judges, an hour  0.0 → 0.4 calls, 0 → 600 tokens",
        "! all: ",
        "π would be lowered to about × 0.10",
        "1,500 tokens a call are assumed",
    )
    assert [part for part in wanted if part not in shown] == []
    found = json.loads((await site.invoke("policy", "diff", str(file), "--json")).stdout)
    assert found["spend"][0]["calls"] == 0 < found["spend"][1]["calls"]
    applied = await site.invoke("policy", "apply", str(file))
    assert ["! all: " in applied.stderr, "published" in applied.stdout] == [True, True]
    file.write_text("name: plain\n", encoding="utf-8")
    assert "judges" not in (await site.invoke("policy", "apply", str(file))).output


async def test_completion_asks_the_process(site: Site) -> None:
    """Ids of alerts and policies and intents; what cannot stand on a command line is left out."""
    site.flow.store.insert_alerts([alert("a-1"), alert("a\x1b")])
    await judged(site.flow, "t-1")
    assert [("a-1", "refunds/medium firing")] == await asyncio.to_thread(completions.alert_ids, "a")
    assert ["p1"] == [name for name, _ in await asyncio.to_thread(completions.policy_ids, "")]
    assert ["returns"] == [name for name, _ in await asyncio.to_thread(completions.intents, "re")]
