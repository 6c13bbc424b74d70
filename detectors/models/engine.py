"""The one thread that runs a model, behind a bounded queue that all callers share.

Inputs of several answers, and of several callers, go through the model together. Where more is asked than the model
can do, callers wait at the queue's bound: they take no further messages, and memory stays bounded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Condition, Lock, Thread

import numpy as np

from detectors.models.batching import Encoded, Entry, Waiting, halves, padded_length, rows_of

Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
_FEW_LENGTHS = 64
Forward = Callable[[Sequence[Encoded], int, int], Sequence[Array]]
"""Probabilities of each input, padded to a length, in a batch of a number of rows (the given ones, or more)."""


@dataclass(frozen=True, slots=True)
class Failed:
    """In place of a result: the kind of exception that the input raises even alone."""

    reason: str


@dataclass(frozen=True, slots=True)
class Load:
    """What an engine holds and did; for health pages and benchmarks."""

    waiting_tokens: int
    batches: int
    inputs: int
    failed: int


class _Call:
    """One caller's inputs; the results arrive in any order."""

    def __init__(self, size: int) -> None:
        self._results: dict[int, Array | Failed] = {}
        self._size = size

    def put(self, place: int, result: Array | Failed) -> None:
        self._results[place] = result

    @property
    def is_complete(self) -> bool:
        return len(self._results) == self._size

    @property
    def results(self) -> list[Array | Failed]:
        return [self._results[place] for place in range(self._size)]


_Entries = Sequence[Entry[tuple[_Call, int]]]


class Engine:
    """Runs ``forward`` on batches of up to ``batch_tokens`` padded tokens; safe to call from many threads.

    At most ``queue_tokens`` wait, or one input where it alone is longer. With ``fixed_rows`` every batch of a length
    has the same number of rows, filled up with repeats: on hardware whose arithmetic depends on the shape of a batch.
    Lengths are fewer then, so that batches are fuller.
    """

    def __init__(
        self, forward: Forward, batch_tokens: int, queue_tokens: int, ceiling: int, *, fixed_rows: bool = False
    ) -> None:
        self._forward = forward
        self._batch_tokens, self._queue_tokens, self._ceiling = batch_tokens, queue_tokens, ceiling
        self._fixed_rows, self._least_step = fixed_rows, _FEW_LENGTHS if fixed_rows else 1
        self._waiting = Waiting[tuple[_Call, int]]()
        self._changed = Condition(Lock())
        self._thread: Thread | None = None
        self._batches = self._inputs = self._failed = 0

    @property
    def load(self) -> Load:
        """How much waits now, and what was done since the start."""
        with self._changed:
            return Load(self._waiting.tokens, self._batches, self._inputs, self._failed)

    def run(self, inputs: Sequence[Encoded]) -> list[Array | Failed]:
        """The probabilities of each input, in order, or ``Failed``; waits while the queue is full. Never raises."""
        call = _Call(len(inputs))
        with self._changed:
            if self._thread is None:
                self._thread = Thread(target=self._work, name="model", daemon=True)
                self._thread.start()
            for place, encoded in enumerate(inputs):
                length = padded_length(len(encoded.ids), self._ceiling, self._least_step)
                self._wait_for_room(length)
                self._waiting.add(Entry(encoded, length, (call, place)))
                self._changed.notify_all()
            self._changed.wait_for(lambda: call.is_complete)
        return call.results

    def _wait_for_room(self, length: int) -> None:
        waiting = self._waiting
        self._changed.wait_for(lambda: not waiting.tokens or waiting.tokens + length <= self._queue_tokens)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting.tokens > 0)
                entries = self._waiting.take(self._batch_tokens)
                self._changed.notify_all()
            rows = rows_of(entries[0].length, self._batch_tokens) if self._fixed_rows else len(entries)
            results = self._results(entries, max(rows, len(entries)))
            self._deliver(entries, results)

    def _deliver(self, entries: _Entries, results: Sequence[Array | Failed]) -> None:
        with self._changed:
            for entry, result in zip(entries, results, strict=True):
                call, place = entry.ticket
                call.put(place, result)
            self._batches += 1
            self._inputs += len(entries)
            self._failed += sum(isinstance(result, Failed) for result in results)
            self._changed.notify_all()

    def _results(self, entries: _Entries, rows: int) -> list[Array | Failed]:
        """A batch that fails is tried again in halves: one bad input costs itself alone, too little memory nothing."""
        try:
            results = self._forward([entry.encoded for entry in entries], entries[0].length, rows)
            return [_checked(result) for _, result in zip(entries, results, strict=True)]
        except Exception as error:  # noqa: BLE001 - whatever a model raises becomes an outcome of the inputs that raise it
            if len(entries) == 1:
                return [Failed(type(error).__name__)]
        return [result for half in halves(entries) for result in self._results(half, len(half))]


def _checked(result: Array) -> Array | Failed:
    return result if np.isfinite(result).all() else Failed("NotFinite")
