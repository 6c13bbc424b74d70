"""Time of the claim splitter per KB and per claim, on real and on adversarial answers: ``python bench/splitter.py``.

With GROUNDWATCH_DATA the human-labelled answers are split, without it the demo's. Adversarial answers are split at 50,
100 and 200 KB: the time doubles with the length when it is linear.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import process_time_ns

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchkit.nasty import nasty_answers

from demo.corpus import load_corpus
from detectors.claims import split_claims
from detectors.evidence.train import DATA_FILE, read_records
from schemas.claim import Claim
from schemas.policy import ClaimSplitting

Split = Callable[[str], tuple[Claim, ...]]
_KB = 1024
_SIZES = (50 * _KB, 100 * _KB, 200 * _KB)


def main() -> None:
    """Measure and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=10_000, help="real answers to split")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each answer; the fastest counts")
    parser.add_argument("--split", type=ClaimSplitting, default=ClaimSplitting.SENTENCES, help="sentences or atomic")
    options = parser.parse_args()
    split = partial(split_claims, split=options.split)
    split("It reads the word lists and has them.")
    _print_real(split, _answers()[: options.answers], options.repeats)
    _print_nasty(split, options.repeats)


def _print_real(split: Split, answers: Sequence[str], repeats: int) -> None:
    rows = [(len(answer.encode()) / _KB, *_measure(split, answer, repeats)) for answer in answers if answer]
    print(f"{len(rows)} answers, {sum(claims for _, _, claims in rows)} claims, {sum(kb for kb, _, _ in rows):.0f} KB")
    print("| µs | p50 | p99 | worst |")
    print("| --- | --- | --- | --- |")
    _print_row("per KB", [us / kb for kb, us, _ in rows])
    _print_row("per claim", [us / max(1, claims) for _, us, claims in rows])
    _print_row("per answer", [us for _, us, _ in rows])


def _print_row(name: str, values: Sequence[float]) -> None:
    ordered = sorted(values)
    p50, p99 = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99))
    print(f"| {name} | {p50:.0f} | {p99:.0f} | {ordered[-1]:.0f} |")


def _print_nasty(split: Split, repeats: int) -> None:
    print("\n| adversarial answer | µs per KB at 50 KB | 100 KB | 200 KB | time of 200 KB over 100 KB |")
    print("| --- | --- | --- | --- | --- |")
    rows = []
    for name in nasty_answers(_SIZES[0]):
        times = [_measure(split, nasty_answers(size)[name], repeats)[0] for size in _SIZES]
        per_kb = [us / (size / _KB) for us, size in zip(times, _SIZES, strict=True)]
        rows.append((times[2] / max(1.0, times[1]), name, per_kb))
    for ratio, name, per_kb in sorted(rows, reverse=True):
        print(f"| {name} | {per_kb[0]:.0f} | {per_kb[1]:.0f} | {per_kb[2]:.0f} | {ratio:.2f} |")


def _measure(split: Split, answer: str, repeats: int) -> tuple[float, int]:
    """Microseconds of CPU time, the fastest of some runs, and the number of claims."""
    best, claims = float("inf"), 0
    for _ in range(repeats):
        began = process_time_ns()
        claims = len(split(answer))
        best = min(best, (process_time_ns() - began) / 1000)
    return best, claims


def _answers() -> list[str]:
    folder = os.environ.get("GROUNDWATCH_DATA")
    if folder:
        return [record["answer"] for record in read_records(Path(folder) / DATA_FILE)]
    return [answer.answer for answer in load_corpus().answers]


if __name__ == "__main__":
    main()
