"""Claims per second of the L1 evidence detector on one core, passages cold and cached: ``python bench/evidence.py``.

With GROUNDWATCH_DATA the RAGTruth answers are judged (long ones over long passages), without it the demo's.
"""

import argparse
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import os

from demo.corpus import load_corpus
from detectors.claims import split_claims
from detectors.evidence import EvidenceDetector, load_weights
from detectors.evidence.passages import index_passage
from detectors.evidence.train import DATA_FILE, read_records
from schemas.claim import CheckItem
from schemas.trace import Passage

_PADDING = "The choir met in the old mill on Thursday evenings and sang until the lamps burned low. "


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=1500, help="answers to judge")
    options = parser.parse_args()
    items = _items()[: options.answers]
    detector = EvidenceDetector(load_weights(), max_cached_characters=50_000_000)
    claims = sum(claim.is_factual for item in items for claim in item.claims)
    characters = sum(len(text) for text in {passage.text for item in items for passage in item.passages})
    print(f"{len(items)} answers, {claims} factual claims, {characters:,} characters of distinct passages")
    print("| passages | claims/s (CPU of one core) | ms an answer |")
    print("| --- | --- | --- |")
    for name in ("cold, words new too", "cached"):
        seconds = _seconds(detector, items)
        print(f"| {name} | {claims / seconds:,.0f} | {1000 * seconds / len(items):.2f} |")
    fresh = EvidenceDetector(load_weights(), max_cached_characters=50_000_000)
    seconds = _seconds(fresh, items)
    print(f"| cold, words known | {claims / seconds:,.0f} | {1000 * seconds / len(items):.2f} |")
    for tokens in (1_000, 16_000):
        text = _PADDING * (tokens // len(_PADDING.split()))
        began = process_time()
        index_passage(text)
        print(f"indexing {tokens:,} tokens: {1000 * (process_time() - began):.1f} ms")
    began = perf_counter()
    load_weights()
    print(f"loading the weights: {1000 * (perf_counter() - began):.0f} ms")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _seconds(detector: EvidenceDetector, items: Sequence[CheckItem]) -> float:
    """CPU seconds, so that other work on the machine does not count; in batches of 20 as ingest does."""
    began = process_time()
    for at in range(0, len(items), 20):
        detector.judge(items[at : at + 20])
    return process_time() - began


def _items() -> list[CheckItem]:
    folder = os.environ.get("GROUNDWATCH_DATA")
    if folder:
        records = [r for r in read_records(Path(folder) / DATA_FILE) if r["dataset"] == "ragtruth"]
        rows = [(r["question"], [p["text"] for p in r["passages"]], r["answer"]) for r in records]
    else:
        corpus = load_corpus()
        rows = [
            (answer.question, [chunk.text for chunk in corpus.passages_of(answer)], answer.answer)
            for answer in corpus.answers
        ]
    return [
        CheckItem(question, tuple(Passage(text=text) for text in texts), answer, split_claims(answer))
        for question, texts, answer in rows
    ]


if __name__ == "__main__":
    main()
