"""Calls a layer so that what goes wrong with one task never costs another its answer, or ends the stream."""

from collections.abc import Callable, Sequence
from math import inf
from typing import TypeVar

from detectors.layers import Spent

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def ask_guarded(
    ask: Callable[[Sequence[Task]], Sequence[Answer]],
    tasks: Sequence[Task],
    is_sound: Callable[[Task, Answer], bool],
) -> list[Answer | None]:
    """One answer a task, in order; None where the layer gave none, or one that ``is_sound`` refuses.

    A call that raises, or gives another number of answers, is made again task by task, once.
    """
    answers = _try(ask, tasks)
    if answers is None:
        alone = [_try(ask, [task]) for task in tasks] if len(tasks) > 1 else [None]
        answers = [one[0] if one is not None else None for one in alone]
    return [
        answer if answer is not None and _holds(is_sound, task, answer) else None
        for task, answer in zip(tasks, answers, strict=True)
    ]


def is_spent(spent: Spent) -> bool:
    """Whether a layer's account can be added up: nothing is negative, infinite or not a number."""
    amounts = (spent.calls, spent.cached, spent.tokens_in, spent.tokens_out, spent.cost_usd, spent.took_ms)
    return all(0 <= amount < inf for amount in amounts)


def _try(
    ask: Callable[[Sequence[Task]], Sequence[Answer]], tasks: Sequence[Task]
) -> Sequence[Answer] | Sequence[Answer | None] | None:
    try:
        answers = ask(tasks)
        return answers if len(answers) == len(tasks) else None
    except Exception:  # noqa: BLE001 - a layer may fail in any way; the failure becomes an outcome, never a lost row
        return None


def _holds(is_sound: Callable[[Task, Answer], bool], task: Task, answer: Answer) -> bool:
    try:
        return is_sound(task, answer)
    except Exception:  # noqa: BLE001 - as above: an answer of another kind is none
        return False
