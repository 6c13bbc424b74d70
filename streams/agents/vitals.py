"""What each agent of a process is doing now, for health checks, metrics and the watchdog; written by the one loop."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic


@dataclass(slots=True)
class Vitals:
    """Signs of life of one agent; times are seconds of ``clock``, 0.0 for never.

    ``busy_since`` is set while a batch is in hand; ``waits_for`` says what the batch is waiting for (the store, the
    broker) and is empty while it makes progress.
    """

    clock: Callable[[], float] = monotonic
    started_at: float = 0.0
    busy_since: float = 0.0
    last_done_at: float = 0.0
    waits_for: str = ""
    batches: int = 0
    messages: int = 0
    busy_seconds: float = 0.0

    def __post_init__(self) -> None:
        self.started_at = self.clock()

    def begin(self) -> None:
        """A batch is in hand."""
        self.busy_since = self.clock()

    def wait(self, reason: str) -> None:
        """The batch in hand cannot go on yet."""
        self.waits_for = reason

    def done(self, messages: int) -> None:
        """The batch in hand is safe."""
        now = self.clock()
        self.busy_seconds += now - self.busy_since if self.busy_since else 0.0
        self.busy_since, self.last_done_at, self.waits_for = 0.0, now, ""
        self.batches += 1
        self.messages += messages


@dataclass(slots=True)
class AllVitals:
    """The agents of a process by name."""

    agents: dict[str, Vitals] = field(default_factory=dict)

    def of(self, name: str) -> Vitals:
        """The vitals of an agent, made at the first call."""
        return self.agents.setdefault(name, Vitals())
