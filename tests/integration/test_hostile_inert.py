"""Strings that do harm elsewhere are text and nothing else: in the store, on the pages, on the command line."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from unicodedata import category

import pytest
from typer.testing import CliRunner

from detectors.screening import Screener
from detectors.verification import verify
from sampling.draw import decide
from sampling.effective import EffectivePolicy
from schemas.draw import DrawnTrace
from schemas.policy import PolicyDocument, Sampling
from schemas.verdict import Verdict
from streams.cli.program import app
from streams.messages import Message
from streams.sources.native import decode_native
from streams.store import ALL_TENANTS, Store
from tests.agents.flow import policies
from tests.fakes import FakeDetector
from tests.hostile.accepted import ACCEPTED
from tests.hostile.injections import INJECTIONS
from tests.hostile.message import Maker
from tests.unit.dashboards.page_reader import get

pytestmark = pytest.mark.integration
NOW = datetime.now(UTC) - timedelta(minutes=10)
SALT = b"a salt for tests that is long enough"
OWN_ELEMENTS = frozenset({"img", "iframe", "style", "object", "base", "embed", "form action", "meta http-equiv"})


class _Chosen(Random):
    """Chance that always falls on one injection."""

    def __init__(self, text: str) -> None:
        super().__init__(1)
        self.text = text

    def choice(self, seq: Any) -> Any:
        """The injection, where it is among them; else the first."""
        return self.text if self.text in seq else seq[0]


def injected(number: int, text: str) -> bytes:
    """A message with ``text`` in every text field."""
    return ACCEPTED["injection"](Maker("injection", number, NOW, _Chosen(text))).value or b""


def policy() -> EffectivePolicy:
    """Everything is drawn."""
    document = PolicyDocument(name="all", sampling=Sampling(default_probability=1.0))
    return policies(document, NOW).at(NOW)


def through(values: list[bytes]) -> tuple[list[DrawnTrace], list[Verdict]]:
    """Traces and verdicts as ingest and verify make them, each claim of which is found wrong."""
    detector = FakeDetector({"": (0.05, 0.9)})
    traces = [decode_native(Message("traces", 0, n, None, value, (), NOW)) for n, value in enumerate(values)]
    documents = [policy().document] * len(traces)
    screenings = Screener(detector).screen(traces, documents)
    rows = [
        DrawnTrace(trace=trace, draw=decide(trace, screening, policy(), SALT), screening=screening)
        for trace, screening in zip(traces, screenings, strict=True)
    ]
    return rows, verify(rows, documents, detector, NOW)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory of its own."""
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def written() -> tuple[list[DrawnTrace], list[Verdict]]:
    """One trace for each injection, with its verdict."""
    return through([injected(number, text) for number, text in enumerate(INJECTIONS)])


@pytest.fixture
def store(data_dir: Path, written: tuple[list[DrawnTrace], list[Verdict]]) -> Iterator[Store]:
    """The embedded store with all of them."""
    opened = Store.open(f"chdb://{data_dir / 'store'}")
    opened.migrate()
    opened.insert_traces(written[0])
    opened.insert_verdicts(written[1])
    opened.rebuild_tallies(datetime.now(UTC))
    yield opened
    opened.close()


def test_what_was_written_reads_back_equal(store: Store, written: tuple[list[DrawnTrace], list[Verdict]]) -> None:
    """No statement was ended, no parameter was taken for another, and every table is still there."""
    tables = {row["name"] for row in store._connection.query("SHOW TABLES")}
    for row, verdict in zip(*written, strict=True):
        found = store.trace(row.trace.trace_id, tenants=frozenset({row.trace.tenant}))
        assert found is not None, repr(row.trace.trace_id)
        screening = row.screening.model_copy(update={"timings_ms": {}})  # how long each step took goes to the verdict
        assert row.model_copy(update={"screening": screening}) == found.drawn
        assert [verdict] == list(found.verdicts)
    assert {"traces", "passages", "verdicts", "trace_heads", "expired", "policy"} <= tables
    assert len(INJECTIONS) <= store.counts().traces


async def test_no_element_or_attribute_of_a_page_comes_from_a_text(store: Store) -> None:
    """The overview, the lists and the traces that they link to, parsed as a browser parses them."""
    now = datetime.now(UTC)
    seen = {path: await get(store, path, now=now) for path in ("/", "/alerts", "/flagged")}
    linked = {link for page in seen.values() for link in page.links() if link.startswith("/traces/")}
    older = [link for link in seen["/flagged"].links() if "until=" in link]
    for path in sorted({*linked, *older}):
        seen[path] = await get(store, path, now=now)
    assert {200} == {page.status for page in seen.values()}
    assert 10 < sum(path.startswith("/traces/") for path in seen)
    for page in seen.values():
        assert 1 == sum(tag == "script" for tag, _ in page.tags)
        assert not {tag for tag, _ in page.tags} & OWN_ELEMENTS
        assert not [name for _, found in page.tags for name in found if name.startswith("on") or name == "srcdoc"]
        assert all(link.startswith(("/", "#")) for link in page.links())
        assert {"/flagged"} >= {found.get("action", "/flagged") for tag, found in page.tags if tag == "form"}
        assert "49" not in page.text.partition("{{7*7}}")[1]
        assert not {char for char in page.body if category(char) in {"Cc", "Cs"}} - set("\n\r\t")


def run_cli(*arguments: str, data_dir: Path) -> str:
    """The output of a command."""
    environment = {"GROUNDWATCH_DATA_DIR": str(data_dir), "GROUNDWATCH_EMBEDDED": "true"}
    result = CliRunner().invoke(app, list(arguments), env=environment)
    assert 0 == result.exit_code, result.output + repr(result.exception)
    return result.output


def is_harmless(output: str) -> bool:
    """True when a terminal shows it as it is: no control or direction character but line feed, tab and joiners."""
    return not {char for char in output if category(char) in {"Cc", "Cf", "Cs"}} - set("\n\t\u200c\u200d")


def test_check_prints_nothing_that_a_terminal_obeys(tmp_path: Path) -> None:
    """Text and JSON alike."""
    file = tmp_path / "traces.jsonl"
    file.write_bytes(b"\n".join(injected(number, text) for number, text in enumerate(INJECTIONS)))
    assert is_harmless(run_cli("check", str(file), data_dir=tmp_path))
    rows = [json.loads(line) for line in run_cli("check", "--json", str(file), data_dir=tmp_path).splitlines()]
    assert len(INJECTIONS) == len(rows)


def test_traces_are_shown_inert(data_dir: Path, store: Store, written: tuple[list[DrawnTrace], list[Verdict]]) -> None:
    """The lists and the whole of a trace, found by an id that is itself an injection."""
    store.close()
    listed = run_cli("traces", "list", "--limit", "1000", data_dir=data_dir)
    assert is_harmless(listed)
    for row in written[0][::5]:
        if "\x00" not in row.trace.trace_id:  # no shell can pass it
            assert is_harmless(run_cli("traces", "show", "--", row.trace.trace_id, data_dir=data_dir))


def test_the_store_keeps_a_tenant_apart_by_its_exact_name(store: Store) -> None:
    """A tenant's name that looks like a condition selects nothing else."""
    text = "' OR 1=1 --"
    rows, verdicts = through([injected(10_000, text)])
    store.insert_traces([replace_tenant(rows[0], "other")])
    store.insert_verdicts(verdicts)
    assert store.trace(rows[0].trace.trace_id, tenants=frozenset({text})) is None
    assert store.trace(rows[0].trace.trace_id, tenants=ALL_TENANTS) is not None


def replace_tenant(row: DrawnTrace, tenant: str) -> DrawnTrace:
    """The same trace of another tenant."""
    return row.model_copy(update={"trace": row.trace.model_copy(update={"tenant": tenant})})
