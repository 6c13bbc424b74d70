"""Time of splitter and structural layer together, as every trace pays it: ``python bench/structural.py``.

With GROUNDWATCH_DATA the human-labelled answers are prepared (split, marked as critical by the default policy,
examined), without it the demo's; once with ids on the passages and once without. Then adversarial answers, each with
five passages. CPU time, the fastest of some runs, so that other work counts little; the load is printed all the same.
"""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import process_time_ns

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchkit.machine import load
from benchkit.nasty import nasty_answers
from benchkit.ragtruth import DATA_FILE, read_records

from demo.corpus import load_corpus
from detectors.claims import split_claims
from detectors.preparation import prepare
from sampling.policy_file import default_policy
from schemas.trace import Passage, Trace

_KB = 1024
_MAX_ANSWER_BYTES = 262_144
_POLICY = default_policy()
_TS = datetime(2026, 3, 10, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds for one answer: the splitter alone, and splitter, critical marks and structural layer together."""

    name: str
    kb: float
    claims: int
    split_us: float
    prepared_us: float

    @property
    def per_kb(self) -> float:
        """Of all, for each KB of the answer."""
        return self.prepared_us / self.kb

    @property
    def per_claim(self) -> float:
        """Of all, for each claim."""
        return self.prepared_us / max(1, self.claims)


def main() -> None:
    """Measure and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=10_000, help="real answers to prepare")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each answer; the fastest counts")
    parser.add_argument("--nasty-kb", type=int, default=100, help="size of the adversarial answers")
    options = parser.parse_args()
    prepare(_trace("warm", "Reads the word lists [1].", ["It is free."], "kb-"), _POLICY, _MAX_ANSWER_BYTES)
    gc.freeze()
    gc.disable()  # a collection would fall on whichever answer is next
    print(f"before: {load()}")
    print("| answers | passages | what | p50 | p99 | worst | mean |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for prefix in ("kb-", ""):
        costs = [
            _cost(_trace(name, answer, texts, prefix), options.repeats)
            for name, answer, texts in _records()[: options.answers]
        ]
        passages = "with ids" if prefix else "without"
        for group in dict.fromkeys(cost.name for cost in costs):
            _print_group(group, passages, [cost for cost in costs if cost.name == group])
        _print_group("all", passages, costs)
    _print_nasty(options.nasty_kb * _KB)
    print(f"after: {load()}")


def _print_group(group: str, passages: str, costs: Sequence[Cost]) -> None:
    rows = {
        "µs per KB": [cost.per_kb for cost in costs],
        "µs per claim": [cost.per_claim for cost in costs],
        "µs an answer": [cost.prepared_us for cost in costs],
        "of it beside the splitter": [cost.prepared_us - cost.split_us for cost in costs],
    }
    for what, values in rows.items():
        ordered = sorted(values)
        p50, p99 = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99))
        mean = sum(ordered) / len(ordered)
        print(f"| {group} ({len(costs):,}) | {passages} | {what} |", end="")
        print(f" {p50:.0f} | {p99:.0f} | {ordered[-1]:.0f} | {mean:.0f} |")


def _print_nasty(size: int) -> None:
    print(f"\n| adversarial answer of {size // _KB} KB | claims | µs per KB | µs per claim | outcome |")
    print("| --- | --- | --- | --- | --- |")
    rows = []
    for name, answer in nasty_answers(size).items():
        trace = _trace(name, answer, ["The fee is 5 EUR."] * 5, "kb-")
        outcome = prepare(trace, _POLICY, _MAX_ANSWER_BYTES).findings.outcome
        rows.append((_cost(trace, 1), outcome))
    for cost, outcome in sorted(rows, key=lambda row: -row[0].per_kb)[:10]:
        end = outcome or "to be judged"
        print(f"| {cost.name} | {cost.claims:,} | {cost.per_kb:.0f} | {cost.per_claim:.0f} | {end} |")


def _cost(trace: Trace, repeats: int) -> Cost:
    answer = trace.answer or ""
    split = prepared = float("inf")
    claims = 0
    for _ in range(repeats):
        began = process_time_ns()
        claims = len(split_claims(answer))
        between = process_time_ns()
        prepare(trace, _POLICY, _MAX_ANSWER_BYTES)
        ended = process_time_ns()
        split, prepared = min(split, (between - began) / 1000), min(prepared, (ended - between) / 1000)
    return Cost(trace.trace_id, len(answer.encode("utf-8", "replace")) / _KB, claims, split, prepared)


def _trace(name: str, answer: str, texts: Sequence[str], prefix: str) -> Trace:
    passages = [
        Passage(doc_id=f"{prefix}{number}" if prefix else "", text=text) for number, text in enumerate(texts, start=1)
    ]
    return Trace(trace_id=name, ts=_TS, question="How does it work?", answer=answer, passages=tuple(passages))


def _records() -> list[tuple[str, str, list[str]]]:
    """Where it comes from, answer and passages."""
    folder = os.environ.get("GROUNDWATCH_DATA")
    if folder:
        return [
            (record["dataset"], record["answer"], [passage["text"] for passage in record["passages"]])
            for record in read_records(Path(folder) / DATA_FILE)
            if record["answer"]
        ]
    corpus = load_corpus()
    return [("demo", answer.answer, [chunk.text for chunk in corpus.passages_of(answer)]) for answer in corpus.answers]


if __name__ == "__main__":
    main()
