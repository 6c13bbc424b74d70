"""The three routes, and where they are."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestClient, TestServer

from schemas.errors import ConfigError
from streams.agents.batches import Lifeline
from streams.agents.vitals import Vitals
from streams.health.metrics import Sources, registry_of
from streams.health.process import STORE, Process, Service
from streams.health.server import ProbeRoutes, serve_probes, write_address
from streams.health.watchdog import Limits
from tests.builders import NOW
from tests.unit.health.hands import Hand, member_of

Client = TestClient[web.Request, web.Application]


@pytest.fixture
def hand() -> Hand:
    """The clock of the process."""
    return Hand()


@pytest.fixture
def process(hand: Hand) -> Process:
    """A process with one role, at work."""
    found = Process(Lifeline(), Limits(idle=100.0, loop=60.0), old_batch_seconds=60.0, clock=hand)
    found.services = {STORE: Service()}
    found.services[STORE].answered(hand())
    vitals = found.lifeline.vitals.agents["verify"] = Vitals(hand)
    found.members["verify"] = member_of("verify", vitals, hand)
    found.look_again()
    return found


@pytest.fixture
async def client(process: Process) -> AsyncIterator[Client]:
    """Over HTTP."""
    app = web.Application()
    ProbeRoutes(process, registry_of(Sources(process, lambda: NOW))).add(app)
    async with TestClient(TestServer(app)) as found:
        yield found


async def test_process_at_work_is_alive_and_ready(client: Client) -> None:
    """200 and what each role has."""
    alive, ready = await client.get("/healthz"), await client.get("/readyz")
    assert (200, 200) == (alive.status, ready.status)
    body = await ready.json()
    assert ("ready", [], 1) == (body["status"], body["waiting_for"], body["roles"]["verify"]["partitions"])


async def test_readyz_names_what_waits_and_for_how_long(client: Client, process: Process, hand: Hand) -> None:
    """A store that is away is no reason to restart us."""
    process.services[STORE].failed(hand())
    process.look_again()
    hand.at += 12.5
    process.look_again()
    ready = await client.get("/readyz")
    assert 503 == ready.status
    assert [{"part": "store", "waits_for": "store_away", "seconds": 12.5}] == (await ready.json())["waiting_for"]
    assert 200 == (await client.get("/healthz")).status


async def test_readyz_names_the_layers_that_are_loaded_and_those_that_are_not(client: Client, process: Process) -> None:
    """A verify worker without the model that its neighbours have makes another series of verdicts."""
    assert "layers" not in await (await client.get("/readyz")).json()
    process.layers, process.without = ["L0", "L1"], ["L2"]
    body = await (await client.get("/readyz")).json()
    assert ("ready", ["L0", "L1"], ["L2"]) == (body["status"], body["layers"], body["without"])


async def test_process_that_ends_says_why(client: Client, process: Process) -> None:
    """While it drains, or holds at the ceiling of dead letters."""
    process.lifeline.stop("dead-letter ceiling: 1000 bad messages in a row")
    process.look_again()
    ready = await client.get("/readyz")
    assert (503, "dead-letter ceiling: 1000 bad messages in a row") == (ready.status, (await ready.json())["reason"])


async def test_healthz_fails_when_an_app_has_crashed_or_the_watchdog_finds_a_stall(
    client: Client, process: Process, hand: Hand
) -> None:
    """Where the watchdog is switched off, the orchestrator still learns of it."""
    hand.at += 61.0
    stalled = await client.get("/healthz")
    assert (503, "loop_blocked") == (stalled.status, (await stalled.json())["reason"])
    process.look_again()
    assert 200 == (await client.get("/healthz")).status
    app: Any = process.members["verify"].app
    app.crashed = True
    process.look_again()
    assert 503 == (await client.get("/healthz")).status


async def test_metrics_speak_the_scrapers_format(client: Client) -> None:
    """Text by default, OpenMetrics where it is asked for."""
    plain = await client.get("/metrics")
    modern = await client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert plain.headers["Content-Type"].startswith("text/plain")
    assert modern.headers["Content-Type"].startswith("application/openmetrics-text")
    assert (await modern.text()).endswith("# EOF\n")
    assert "groundwatch_ready 1.0" in await plain.text()


async def test_probes_listen_where_the_address_file_says(process: Process, tmp_path: Path) -> None:
    """On a free port; the file is gone when the process has stopped."""
    routes = ProbeRoutes(process, registry_of(Sources(process, lambda: NOW)))
    path = tmp_path / "health" / f"{os.getpid()}.json"
    async with AsyncExitStack() as stack, ClientSession() as session:
        url = await serve_probes(routes, "127.0.0.1", 0, tmp_path, stack)
        assert {"url": url, "pid": os.getpid()} == json.loads(path.read_text())
        assert 200 == (await session.get(f"{url}/healthz")).status
        port = int(url.rsplit(":", 1)[1])
        with pytest.raises(ConfigError, match=r"health\.port"):
            await serve_probes(routes, "127.0.0.1", port, tmp_path, stack)
    assert not path.exists()


def test_address_files_of_dead_processes_are_cleared_away(tmp_path: Path) -> None:
    """A killed process cannot take its own away."""
    folder = tmp_path / "health"
    folder.mkdir()
    (folder / "999999999.json").write_text("{}")
    (folder / "1.json").write_text("{}")
    write_address(tmp_path, "http://127.0.0.1:1", os.getpid())
    assert {"1.json", f"{os.getpid()}.json"} == {path.name for path in folder.iterdir()}
