"""Reviews through the local API on a port of this machine: out to people, back in, and into a golden set."""

import asyncio
import csv
import io
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import aiohttp
import pytest
from aiohttp.test_utils import TestServer
from typer.testing import CliRunner, Result

import streams.cli.opened
import streams.cli.reviewing
from streams.agents.policies import PolicyPublisher
from streams.broker.publisher import Publisher
from streams.cli.program import app
from streams.cli.reach import RunningProcess
from streams.run_file import RunFile
from streams.store import Store
from streams.web import Api
from tests.agents.flow import SALT, Flow, native
from tests.builders import NOW

LATER = NOW + timedelta(hours=1)
TIMES = ("--since", "2026-03-09", "--until", "2026-03-12")


@dataclass
class Site:
    """A process as commands find it."""

    flow: Flow
    url: str
    token: str

    async def invoke(self, *arguments: str) -> Result:
        """A whole command, as it is typed."""
        runner = CliRunner(env={"COLUMNS": "200"})
        return await asyncio.to_thread(runner.invoke, app, list(arguments))

    async def get(self, path: str, **query: str) -> tuple[int, Any]:
        """Status and body of a request."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with aiohttp.ClientSession() as http, http.get(self.url + path, params=query, headers=headers) as answer:
            return answer.status, await answer.json()


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """Twelve judged answers, one of them flagged, one with a hostile question."""
    flow = Flow()
    rows = [native(f"t-{n}") for n in range(10)]
    rows += [
        native("bad", answer="You can return a lamp within 90 days [1]."),
        native("evil", question="=cmd|'/c calc'!A1"),
    ]
    await flow.ingest.handle([flow.message(row) for row in rows])
    await flow.verify_and_sink()
    flow.store.rebuild_tallies(NOW)
    store = cast("Store", flow.store)
    publisher = PolicyPublisher(flow.known, cast("Publisher", flow.publisher), store)
    api = Api(store, flow.known, publisher, lambda: LATER, salt=lambda: SALT)
    async with TestServer(api.application()) as server:
        run_file = RunFile(str(server.make_url("")), api.token, os.getpid())
        for module in (streams.cli.opened, streams.cli.reviewing):
            monkeypatch.setattr(module, "running_process", lambda *_: RunningProcess(run_file))
        yield Site(flow, str(server.make_url("")).rstrip("/"), api.token)


def filled(path: Path, labels: dict[str, str], **cells: str) -> None:
    """What a reviewer does with a spreadsheet: labels for answers, other cells as said."""
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    for row in rows:
        row.update(cells)
        if row["claim"] == "":
            row["label"] = labels.get(row["trace_id"], "grounded")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)


async def test_a_spreadsheet_goes_out_and_comes_back(site: Site, tmp_path: Path) -> None:
    """Semicolons as a spreadsheet writes them, cells that are no formulas; a second import takes nothing."""
    path = tmp_path / "week.csv"
    out = await site.invoke("review", "export", str(path), *TIMES, "--count", "12")
    assert (0, True) == (out.exit_code, "12 answers to label" in out.stderr)
    text = path.read_text(encoding="utf-8-sig")
    assert "'=cmd|" in text
    assert [word for word in ("hallucinated", "supported", "detector_label") if word in text] == []
    filled(path, {"bad": "hallucinated"})
    first = json.loads((await site.invoke("review", "import", str(path), "--reviewer", "ana", "--json")).stdout)
    again = json.loads((await site.invoke("review", "import", str(path), "--reviewer", "ana", "--json")).stdout)
    assert ((12, 0), (0, 12)) == ((first["taken"], first["unchanged"]), (again["taken"], again["unchanged"]))
    found = json.loads((await site.invoke("review", "stats", *TIMES, "--json")).stdout)
    assert {"grounded": 11, "hallucinated": 1} == found["labels"]
    shown = await site.invoke("review", "stats", *TIMES)
    assert "188 labels missing (59 flagged, 129 unflagged)" in shown.stdout
    left = await site.invoke("review", "export", *TIMES, "--json")
    assert ("", True) == (left.stdout, "0 answers to label" in left.stderr)


async def test_a_faulty_file_takes_nothing_and_names_its_rows(site: Site, tmp_path: Path) -> None:
    """Also of a file in several requests: all are checked before any is taken."""
    path = tmp_path / "week.jsonl"
    await site.invoke("review", "export", str(path), *TIMES, "--count", "12")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["label"] = "grounded"
    rows[-1]["label"] = "good"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams.cli.reviewing, "MOST_CHARACTERS", 10)
        result = await site.invoke("review", "import", str(path), "--reviewer", "ana")
    assert (1, True) == (result.exit_code, "row 12: label: 'good' is no label" in result.stderr)
    assert "nothing was taken" in result.stdout
    assert 0 == json.loads((await site.invoke("review", "stats", *TIMES, "--json")).stdout)["answers"]


async def test_labels_become_golden_cases_once(site: Site, tmp_path: Path) -> None:
    """From the store into a file, the second time without a change."""
    path, golden = tmp_path / "week.csv", str(tmp_path / "golden.jsonl")
    await site.invoke("review", "export", str(path), *TIMES, "--count", "5")
    filled(path, {}, reviewer="ana")
    await site.invoke("review", "import", str(path))
    first = await site.invoke("golden", "import", golden, "--reviews", "--json")
    again = await site.invoke("golden", "import", golden, "--reviews", "--json")
    assert (5, 5) == (len(json.loads(first.stdout)["new"]), len(json.loads(again.stdout)["already"]))
    added = await site.invoke("golden", "add", golden, "--trace", "evil", "--id", "c-1", "--owner", "support")
    listed = await site.invoke("golden", "stats", golden, "--cases")
    assert (0, True) == (added.exit_code, "c-1" in listed.stdout)


@pytest.mark.parametrize(
    ("path", "query", "status", "says"),
    [
        ("draw", {}, 400, "say whose traces"),
        ("draw", {"tenants": "all", "flagged_share": "2"}, 400, "flagged_share = '2': give a share from 0 to 1"),
        (
            "draw",
            {"tenants": "all", "since": "2020-01-01T00:00:00Z", "until": "2020-01-02T00:00:00Z"},
            404,
            "no answer",
        ),
        ("stats", {"tenants": "all", "seed": "-1"}, 400, "seed"),
        ("stats", {"tenants": "all", "since": "2026-03-12T00:00:00Z"}, 400, "since must be before until"),
        ("cases", {"tenant": ""}, 400, "say whose traces"),
    ],
)
async def test_a_wrong_query_says_what_would_be_right(
    site: Site, path: str, query: dict[str, str], status: int, says: str
) -> None:
    """And no tenant is implied."""
    found, body = await site.get(f"/api/v1/reviews/{path}", **query)
    assert (status, True) == (found, says in body["error"])


async def test_another_tenant_sees_nothing(site: Site) -> None:
    """Neither answers nor numbers of labels."""
    _, rows = await site.get("/api/v1/reviews/draw", tenant="nobody")
    assert [] == rows
