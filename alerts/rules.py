"""The rules that alerts come from, each as a fold: a state to begin with, a step, and what is open in a state."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Generic, Protocol, TypeVar

from alerts import lifecycle, unmapped
from alerts.buckets import ClosedBucket
from alerts.config import JumpConfig
from alerts.fold import FoldState, fold, open_alerts
from alerts.unmapped import UnmappedConfig, UnmappedState, fold_unmapped, open_episode
from schemas.alert import Alert


class Dated(Protocol):
    """A state that says up to when it has folded; None before the first bucket."""

    @property
    def until(self) -> datetime | None:
        """End of the newest bucket."""
        ...


S = TypeVar("S", bound=Dated)


@dataclass(frozen=True, slots=True)
class Rule(Generic[S]):
    """One rule; ``step`` is pure, its states are immutable, and ``name`` is what its alerts carry."""

    name: str
    first: S
    step: Callable[[S, ClosedBucket], tuple[S, tuple[Alert, ...]]]
    open: Callable[[S], list[Alert]]


def jump_rule(config: JumpConfig) -> Rule[FoldState]:
    """More hallucinated answers than usual in a slice."""
    return Rule(lifecycle.RULE, FoldState(), partial(fold, config=config), open_alerts)


def unmapped_rule(config: UnmappedConfig) -> Rule[UnmappedState]:
    """Too many traces without an intent."""
    return Rule(unmapped.RULE, UnmappedState(), partial(fold_unmapped, config=config), open_episode)
