"""What tracing claims back through hops changes, and what it costs: ``python bench/hops.py`` (a minute of CPU).

Needs GROUNDWATCH_DATA. The labelled answers to questions over two passages and more are made the work of two hops: the
first was given the first half of the passages and wrote a draft, which is the answer; the second was given the rest.
Made-up claims stand in the draft, too, so each one that tracing finds supported is a fault.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from datetime import UTC, datetime

from benchkit.ragtruth import Row, data_path, read_records
from benchkit.table import table

from detectors.evidence import load_evidence_detector
from detectors.verification import verify
from sampling.policy_file import default_policy
from schemas.draw import Draw, DrawnTrace, Screening
from schemas.labels import ClaimLabel
from schemas.trace import Hop, Passage, Trace
from schemas.verdict import ClaimVerdict, Verdict

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_DRAW = Draw(stratum="rest", u=0.0, inclusion_probability=1.0, min_probability=1.0, policy_id="bench", drawn=True)
_BATCH = 20


def main() -> None:
    """Judge each answer as the work of one hop and of two, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args()
    rows = [row for row in read_records(data_path()) if row["dataset"] == "ragtruth" and len(row["passages"]) > 1]
    plain, plain_ms = _judged([_trace(row, in_hops=False) for row in rows])
    traced, traced_ms = _judged([_trace(row, in_hops=True) for row in rows])
    counts: Counter[tuple[bool, str]] = Counter()
    for row, before, after in zip(rows, plain, traced, strict=True):
        for one, other in zip(before.claims, after.claims, strict=True):
            if one.claim.is_factual:
                counts[_is_bad(one, row), f"{one.label} to {other.label}"] += 1
                counts[_is_bad(one, row), "named"] += other.hop == 0 and other.label is not ClaimLabel.SUPPORTED
    changes = sorted({name for _, name in counts})
    print(f"{len(rows)} answers, {sum(len(verdict.hops) for verdict in traced)} hops checked")
    print(table(["claims", "sound", "made up"], [(name, counts[False, name], counts[True, name]) for name in changes]))
    print(table(["", "ms of CPU an answer"], [("one hop", plain_ms), ("two hops", traced_ms)]))
    if options.json:
        found = {name: {"sound": counts[False, name], "made_up": counts[True, name]} for name in changes}
        figures = {"answers": len(rows), "claims": found, "ms": {"one": plain_ms, "two": traced_ms}}
        options.json.write_text(json.dumps(figures, indent=2), encoding="utf-8")


def _judged(traces: Sequence[Trace]) -> tuple[list[Verdict], float]:
    """The verdicts, and the CPU time of each in milliseconds; passages are read beforehand."""
    detector, policy = load_evidence_detector(), default_policy()
    drawn = [DrawnTrace(trace=trace, draw=_DRAW, screening=Screening()) for trace in traces]
    verify(drawn[:_BATCH], [policy] * _BATCH, detector, _NOW)
    began, found = process_time(), []
    for at in range(0, len(drawn), _BATCH):
        part = drawn[at : at + _BATCH]
        found += verify(part, [policy] * len(part), detector, _NOW)
    return found, (process_time() - began) * 1000 / len(drawn)


def _trace(row: Row, *, in_hops: bool) -> Trace:
    passages = tuple(Passage(doc_id=passage["doc_id"], text=passage["text"]) for passage in row["passages"])
    half = len(passages) // 2
    first = Hop(name="draft", passages=tuple(range(half)), output=row["answer"])
    last = Hop(name="answer", passages=tuple(range(half, len(passages))), output=row["answer"])
    hops = (first, last) if in_hops else ()
    return Trace(
        trace_id=row["id"], ts=_NOW, question=row["question"], answer=row["answer"], passages=passages, hops=hops
    )


def _is_bad(judged: ClaimVerdict, row: Row) -> bool:
    return any(span["start"] < judged.claim.end and judged.claim.start < span["end"] for span in row["spans"])


if __name__ == "__main__":
    main()
