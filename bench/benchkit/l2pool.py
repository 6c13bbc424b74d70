"""One process with two threads against two processes with one each, and the memory of each precision, by processes."""

import multiprocessing as mp
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from benchkit.l2 import Pair
from benchkit.machine import memory
from detectors.models import ModelOptions, Precision, load_model
from detectors.models.pairs import PairDetector

WAYS = ((1, 1, "fp32"), (1, 2, "fp32"), (2, 1, "fp32"), (1, 1, "bf16"), (1, 1, "int8"))
"""Processes, threads of each, precision."""


def measure(folder: Path, asked: Sequence[Pair], repeats: int) -> list[list[object]]:
    """Per way: processes, threads, pairs a second by the clock (the best repeat), a second of processor time, MiB."""
    rows: list[list[object]] = []
    for processes, threads, precision in WAYS:
        options = ModelOptions(threads=threads, precision=Precision(precision))
        found = [_run(folder, asked, processes, options) for _ in range(repeats)]
        wall, cpu, mib = (min(one[at] for one in found) for at in range(3))
        rows.append([processes, threads, precision, len(asked) / wall, len(asked) / cpu, mib])
    return rows


def _run(folder: Path, asked: Sequence[Pair], processes: int, options: ModelOptions) -> tuple[float, float, float]:
    context = mp.get_context("spawn")
    start, done = context.Barrier(processes), context.Queue()
    shares = [asked[at::processes] for at in range(processes)]
    workers = [context.Process(target=_work, args=(folder, share, options, start, done)) for share in shares]
    for worker in workers:
        worker.start()
    results = [done.get() for _ in workers]
    for worker in workers:
        worker.join()
    walls, cpus, mibs = zip(*results, strict=True)
    return max(walls), sum(cpus), sum(mibs)


def _work(folder: Path, asked: Sequence[Pair], options: ModelOptions, start: Any, done: Any) -> None:
    torch.set_num_threads(options.threads)
    detector = load_model(folder, options)
    assert isinstance(detector, PairDetector)
    inputs = [detector._model.form(*pair) for pair in asked]  # noqa: SLF001 - the pairs are given, not chosen
    start.wait()
    wall, cpu = perf_counter(), process_time()
    detector.engine.run(inputs)
    done.put((perf_counter() - wall, process_time() - cpu, memory(os.getpid()).resident_mib))
