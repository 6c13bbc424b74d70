"""How many messages a second and core a function takes, beside others that take turns with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time

SIZES = (2_000, 8_000, 20_000)
"""Bytes of a trace in protobuf."""
MESSAGES = 50
SECONDS_A_TURN = 0.1
HEAD = ("step", "bytes a trace", "traces/s and core", "MB/s", "of the rate without us")


@dataclass(frozen=True, slots=True)
class Step:
    """What is measured: on which encoding, and the step whose rate it is compared with."""

    name: str
    encoding: str
    run: Callable[[bytes], object]
    beside: str


def measured(steps: Sequence[Step], messages: Mapping[str, Sequence[bytes]], rounds: int) -> list[list[object]]:
    """A row a step, medians over the rounds; steps take turns, so that a busy moment hits all of them."""
    turns: dict[str, list[float]] = {step.name: [] for step in steps}
    for _ in range(rounds):
        for step in steps:
            turns[step.name].append(rate(step.run, messages[step.encoding]))
    rows: list[list[object]] = []
    for step in steps:
        values = messages[step.encoding]
        size = sum(map(len, values)) // len(values)
        found = median(turns[step.name])
        share = found / median(turns[step.beside]) if step.beside else None
        rows.append([step.name, size, found, found * size / 1e6, share])
    return rows


def rate(run: Callable[[bytes], object], values: Sequence[bytes]) -> float:
    """Messages a second of CPU time."""
    count, began = 0, process_time()
    while (spent := process_time() - began) < SECONDS_A_TURN:
        for value in values:
            run(value)
        count += len(values)
    return count / spent
