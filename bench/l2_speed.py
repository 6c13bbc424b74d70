"""L2 beside a loop of plain transformers, at equal scores; its memory, and its queue when twice too much is asked.

``python bench/l2_speed.py``: a pair scorer of flan-t5-base's size with random weights, threads pinned and equal. Times
of the processor count, because they do not depend on what else the machine does; the fastest of the repeats.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from time import monotonic, perf_counter, process_time, sleep

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
from benchkit.l2 import Pair, build, naive, pairs
from benchkit.l2pool import measure
from benchkit.machine import load, memory
from benchkit.table import table

from detectors.models import ModelOptions, Precision, load_model
from detectors.models.engine import Failed
from detectors.models.pairs import PairDetector

LENGTHS = {"30–90": (30, 90, 64), "150–400": (150, 400, 16)}
"""Tokens of a pair, from and to, and how many pairs."""
_QUEUE_TOKENS = 4_096
_CALLERS, _PAIRS_A_CALL = 16, 4
_TOLERANCE = 1e-4
Score = Callable[[Sequence[Pair]], list[float]]


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="threads of torch, for both sides")
    parser.add_argument("--layers", type=int, default=12, help="layers of the encoder; flan-t5-base has 12")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each; the fastest counts")
    parser.add_argument("--seconds", type=float, default=30, help="how long the queue is asked for too much")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    figures: dict[str, object] = {"threads": options.threads, "torch": torch.__version__}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder, options.layers)
        figures["speed"] = _speed(folder, options.layers, options.threads, options.repeats)
        figures["pool"] = _pool(folder, options.repeats)
        figures["queue"] = _queue(folder, options.threads, options.seconds)
    print(f"threads {options.threads}, torch {torch.__version__}, {load()}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


def _speed(folder: Path, layers: int, threads: int, repeats: int) -> list[dict[str, object]]:
    sides: dict[str, Score] = {"plain loop": naive(folder, layers)}
    for precision in (Precision.FP32, Precision.BF16, Precision.INT8):
        detector = load_model(folder, ModelOptions(precision=precision, threads=threads))
        assert isinstance(detector, PairDetector)
        sides[f"batched {precision.value}"] = _scorer(detector)
    rows: list[dict[str, object]] = []
    for length, (low, high, count) in LENGTHS.items():
        asked = pairs(count, low, high)
        expected = np.array(sides["plain loop"](asked))
        seconds = dict.fromkeys(sides, float("inf"))
        worst = dict.fromkeys(sides, 0.0)
        for _ in range(repeats):
            for name, score in sides.items():
                began = process_time()
                found = np.array(score(asked))
                seconds[name] = min(seconds[name], process_time() - began)
                worst[name] = max(worst[name], float(np.abs(found - expected).max()))
        assert worst["batched fp32"] < _TOLERANCE
        rows += [
            {
                "tokens": length,
                "way": name,
                "pairs_a_second": count / taken,
                "times": seconds["plain loop"] / taken,
                "largest_difference": worst[name],
            }
            for name, taken in seconds.items()
        ]
    head = ["tokens a pair", "way", "pairs per second of one core", "× plain", "largest difference of a score"]
    print(table(head, [list(row.values()) for row in rows]), flush=True)
    return rows


def _pool(folder: Path, repeats: int) -> list[list[object]]:
    rows = [
        [length, *row]
        for length, (low, high, count) in LENGTHS.items()
        for row in measure(folder, pairs(count, low, high), repeats)
    ]
    head = [
        "tokens a pair",
        "processes",
        "threads each",
        "numbers",
        "pairs a second",
        "pairs a second of processor time",
        "MiB",
    ]
    print(table(head, rows), flush=True)
    return rows


def _scorer(detector: PairDetector) -> Score:
    form, index = detector._model.form, detector._model.support  # noqa: SLF001 - the pairs are given, not chosen

    def score(asked: Sequence[Pair]) -> list[float]:
        results = detector.engine.run([form(premise, hypothesis) for premise, hypothesis in asked])
        return [float("nan") if isinstance(result, Failed) else float(result[index]) for result in results]

    return score


def _queue(folder: Path, threads: int, seconds: float) -> dict[str, object]:
    """Callers are offered twice what the model can do; what they cannot take stays where it came from."""
    options = ModelOptions(precision=Precision.BF16, threads=threads, queue_tokens=_QUEUE_TOKENS)
    detector = load_model(folder, options)
    assert isinstance(detector, PairDetector)
    score = _scorer(detector)
    asked = pairs(_PAIRS_A_CALL * 16, *LENGTHS["30–90"][:2])
    began = perf_counter()
    rounds = 0
    while perf_counter() - began < seconds / 3:
        score(asked)
        rounds += 1
    sustained = rounds * len(asked) / (perf_counter() - began)
    offered: Queue[Sequence[Pair]] = Queue()
    waits: list[tuple[float, float]] = []
    end = monotonic() + seconds

    def call() -> None:
        while monotonic() < end:
            try:
                one = offered.get(timeout=0.1)
            except Empty:
                continue
            start = monotonic()
            score(one)
            waits.append((start, monotonic() - start))

    callers = [Thread(target=call) for _ in range(_CALLERS)]
    resident = memory(os.getpid()).resident_mib
    for caller in callers:
        caller.start()
    sent, deepest, start = 0, 0, monotonic()
    while monotonic() < end:
        while sent < 2 * sustained * (monotonic() - start) / _PAIRS_A_CALL:
            offered.put(asked[(sent * _PAIRS_A_CALL) % len(asked) :][:_PAIRS_A_CALL])
            sent += 1
        deepest = max(deepest, detector.engine.load.waiting_tokens)
        sleep(0.02)
    left = offered.qsize()
    for caller in callers:
        caller.join()
    return _told(sustained, seconds, waits, {"deepest": deepest, "sent": sent, "left": left, "resident": resident})


def _told(
    sustained: float, seconds: float, waits: Sequence[tuple[float, float]], seen: dict[str, float]
) -> dict[str, object]:
    halfway = min(start for start, _ in waits) + seconds / 2
    halves = [[took for start, took in waits if (start < halfway) == is_first] for is_first in (True, False)]
    figures: dict[str, object] = {
        "sustained_pairs_a_second": sustained,
        "offered_pairs_a_second": seen["sent"] * _PAIRS_A_CALL / seconds,
        "done_pairs_a_second": len(waits) * _PAIRS_A_CALL / seconds,
        "deepest_queue_tokens": seen["deepest"],
        "bound_tokens": _QUEUE_TOKENS,
        "left_with_the_source": seen["left"],
        **{
            f"wait_{name}_{half}_half_s": float(np.quantile(found, share))
            for half, found in zip(("first", "second"), halves, strict=True)
            for name, share in (("p50", 0.5), ("p99", 0.99))
        },
        "resident_growth_mib": memory(os.getpid()).resident_mib - seen["resident"],
    }
    print(table(["queue at twice the sustained rate", ""], list(figures.items())), flush=True)
    return figures


if __name__ == "__main__":
    main()
