"""What `bench/ingest.py` sends: made-up traces of a product in three sizes, and human-labelled answers as they are.

Passages recur, as they do where documents are retrieved again and again, or each is new: the worst for caches.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, cycle
from typing import Any

from benchkit.ragtruth import TIERS, data_path, ragtruth, read_records
from demo.recipe import DEMO_RECIPE
from demo.stream import demo_traces

WARM = 500
"""Messages before the measured ones; they hold every passage that recurs."""
_JOINED = 3
"""Documents of the demo in a passage: as long as what retrievers are mostly given."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """``size`` in bytes of made-up traces, 0 for the labelled answers, and how many traces are measured."""

    name: str
    size: int
    traces: int


CORPORA = (
    Corpus("2 KB", 2_000, 4_000),
    Corpus("8 KB", 8_000, 3_000),
    Corpus("20 KB", 20_000, 1_500),
    Corpus("RAGTruth", 0, 3_000),
)


def messages(corpus: Corpus, *, are_new: bool) -> Iterator[bytes]:
    """``WARM`` and ``corpus.traces`` native traces of the last hour; ``are_new``: no passage stands in two of them."""
    serial = count(100_000)
    now = datetime.now(UTC) - timedelta(hours=1)
    for number, trace in zip(range(WARM + corpus.traces), _traces(corpus), strict=False):
        passages = list(trace["passages"])
        if are_new:
            passages = [{**one, "text": f"{one['text']} Edition {next(serial)}."} for one in passages]
        moment = now + timedelta(seconds=number / 2)
        fields = {**trace, "trace_id": f"bench-{number:08d}-{number:016x}", "ts": moment.isoformat()}
        yield json.dumps({**fields, "passages": passages}, ensure_ascii=False).encode()


def _traces(corpus: Corpus) -> Iterator[Mapping[str, Any]]:
    return _filled(corpus.size) if corpus.size else _labelled()


def _labelled() -> Iterator[Mapping[str, Any]]:
    """One answer a source first, so that the warm part holds every passage; then all of them, again and again."""
    records = ragtruth(read_records(data_path()))
    first = {record["source_id"]: record for record in reversed(records)}
    order: Sequence[Mapping[str, Any]] = [*first.values(), *records]
    while True:
        yield from map(_native, order)
        order = records


def _native(record: Mapping[str, Any]) -> Mapping[str, Any]:
    versions = {"model": record["model"], "prompt": "p-1", "corpus": "c-1", "retriever": "r-1", "app": "a-1"}
    fields = {"question": record["question"], "answer": record["answer"], "passages": record["passages"]}
    return {**fields, "intent": record["task"], "tier": TIERS[record["task"]].value, "versions": versions}


def _filled(size: int) -> Iterator[Mapping[str, Any]]:
    """Traces of the demo product, filled up to about ``size`` bytes with passages of some 1,000 characters."""
    traces = [trace for trace in demo_traces(datetime.now(UTC), 1, DEMO_RECIPE) if trace.get("passages")]
    texts = list(dict.fromkeys(passage["text"] for trace in traces for passage in trace["passages"]))
    chunks = [" ".join(texts[start : start + _JOINED]) for start in range(0, len(texts), _JOINED)]
    turn = cycle(chunks)
    for number in count():
        trace = traces[number % len(traces)]
        passages = list(trace["passages"])
        room = size - len(json.dumps(trace))
        while room > len(chunks[0]) // 2:
            passages.append({"doc_id": f"more-{len(passages)}", "text": next(turn)})
            room -= len(json.dumps(passages[-1])) + 2
        yield {**trace, "passages": passages}
