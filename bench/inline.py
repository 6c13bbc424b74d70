"""Milliseconds of ``POST /v1/check`` at several rates and at twice the capacity, by layers.

``python bench/inline.py [--rates 5 20] [--seconds 20] [--within 800] [--judge 200] [--long] [--json FILE]``. The server
runs in a process of its own with the settings' defaults; requests arrive at random (Poisson) whether or not earlier
ones are answered, and each is timed from the moment at which it was due. Answers are the demo's, or with ``--long``
those of GROUNDWATCH_DATA. L2 is our model, or the same network untrained where that is not there; L3 is a judge whose
endpoint takes a fixed time (no HTTP), without a cache.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import aiohttp
import numpy as np
from benchkit.checking import L1, SETS, model, serve
from benchkit.machine import cpu_seconds, load
from benchkit.table import table

from demo.corpus import load_corpus
from detectors.evidence.train import DATA_FILE, read_records

START_SECONDS = 120
PROBE_SECONDS = 6.0
AT_ONCE = 16
"""Requests in flight while the capacity is measured."""
HEAD = (
    *("layers", "due a second", "p50, ms", "p95", "p99", "longest"),
    *("CPU, ms", "judged", "a layer dropped", "out of time", "503"),
)


@dataclass(slots=True)
class Seen:
    """What a run saw: milliseconds of each reply, and what became of it."""

    ms: list[float] = field(default_factory=list)
    cpu_ms: float = 0.0
    """Processor time of the server for each request."""
    became: Counter[str] = field(default_factory=Counter)

    def row(self, layers: str, rate: float) -> list[object]:
        """A row of the table."""
        quantiles = [float(one) for one in np.quantile(self.ms, (0.5, 0.95, 0.99, 1.0))]
        shares = [
            f"{100 * self.became[name] / len(self.ms):.0f} %" for name in ("judged", "dropped", "out_of_time", "503")
        ]
        return [layers, round(rate, 1), *quantiles, self.cpu_ms, *shares]


def main() -> None:
    """Measure each set of layers and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=float, nargs="+", default=[5.0, 20.0], help="requests a second")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each rate lasts")
    parser.add_argument("--within", type=int, default=800, help="the policy's within_ms")
    parser.add_argument("--judge", type=int, default=200, help="milliseconds that the judge's endpoint takes")
    parser.add_argument("--layers", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--long", action="store_true", help="answers and passages of GROUNDWATCH_DATA")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve[0], options.within, options.judge, Path(options.serve[1]))
        return
    before = load()
    bodies = _long() if options.long else _short()
    rows = [row for layers in options.layers for row in _measured(layers, bodies, options)]
    kind = "long answers" if options.long else "the demo's answers"
    what = "" if list(options.layers) == [L1] else f"; L2: {model()[1]}"
    print(f"\n{kind}, within {options.within} ms, judge {options.judge} ms{what}; {before} before, {load()} after\n")
    print(table(HEAD, rows))
    if options.json:
        options.json.write_text(json.dumps([dict(zip(HEAD, row, strict=True)) for row in rows]))


def _measured(layers: str, bodies: Sequence[bytes], options: Any) -> list[list[object]]:
    with tempfile.TemporaryDirectory() as name:
        address = Path(name) / "address"
        command = [sys.executable, __file__, "--within", str(options.within), "--judge", str(options.judge)]
        with subprocess.Popen([*command, "--serve", layers, str(address)]) as process:
            try:
                url = f"{_until_there(address, process)}/v1/check"
                return asyncio.run(_loaded(url, process.pid, bodies, options, layers))
            finally:
                process.terminate()


async def _loaded(url: str, pid: int, bodies: Sequence[bytes], options: Any, layers: str) -> list[list[object]]:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(60)) as session:
        capacity = await _capacity(session, url, bodies)
        print(f"{layers}: {capacity:.0f} a second with {AT_ONCE} at once; {load()}", flush=True)
        rows = []
        for rate in (*options.rates, 2 * capacity):
            before = cpu_seconds(pid)
            seen = await _at_rate(session, url, bodies, rate, options.seconds)
            seen.cpu_ms = 1000 * (cpu_seconds(pid) - before) / len(seen.ms)
            rows.append(seen.row(layers, rate))
            print(rows[-1], flush=True)
        return rows


async def _capacity(session: aiohttp.ClientSession, url: str, bodies: Sequence[bytes]) -> float:
    """Answers judged a second when as many as this are always in flight."""
    until = time.monotonic() + PROBE_SECONDS
    done = 0

    async def client(seed: int) -> None:
        nonlocal done
        rng = Random(seed)
        while time.monotonic() < until:
            async with session.post(url, data=rng.choice(bodies)) as reply:
                done += bool((await reply.json())["checked"])

    await asyncio.gather(*(client(seed) for seed in range(AT_ONCE)))
    return done / PROBE_SECONDS


async def _at_rate(
    session: aiohttp.ClientSession, url: str, bodies: Sequence[bytes], rate: float, seconds: float
) -> Seen:
    """Requests at random moments, ``rate`` a second on average, for so many seconds."""
    rng, seen, due, tasks = Random(7), Seen(), time.monotonic(), []
    until = due + seconds
    while (due := due + rng.expovariate(rate)) < until:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        tasks.append(asyncio.create_task(_one(session, url, rng.choice(bodies), due, seen)))
    await asyncio.gather(*tasks)
    return seen


async def _one(session: aiohttp.ClientSession, url: str, body: bytes, due: float, seen: Seen) -> None:
    async with session.post(url, data=body) as reply:
        found = await reply.json()
    seen.ms.append((time.monotonic() - due) * 1000)
    seen.became["judged"] += bool(found["checked"])
    seen.became["dropped"] += bool(found["dropped"])
    seen.became["out_of_time"] += found["reason"] == "out_of_time"
    seen.became["503"] += reply.status == 503


def _until_there(address: Path, process: "subprocess.Popen[bytes]") -> str:
    deadline = time.monotonic() + START_SECONDS
    while not address.exists() or not address.read_text():
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("inline: the server did not start; its messages are above")
        time.sleep(0.1)
    return address.read_text()


def _short() -> list[bytes]:
    corpus = load_corpus()
    return [
        _body(one.question, [(chunk.document.doc_id, chunk.text) for chunk in corpus.passages_of(one)], one.answer)
        for one in corpus.answers
    ]


def _long() -> list[bytes]:
    records = read_records(Path(os.environ["GROUNDWATCH_DATA"]) / DATA_FILE)
    return [
        _body(one["question"], [(f"p{n}", passage["text"]) for n, passage in enumerate(one["passages"])], one["answer"])
        for one in records[:2000]
        if one["dataset"] == "ragtruth"
    ]


def _body(question: str, passages: Sequence[tuple[str, str]], answer: str) -> bytes:
    given = [{"doc_id": name, "text": text} for name, text in passages]
    return json.dumps({"question": question, "answer": answer, "passages": given}).encode()


if __name__ == "__main__":
    main()
