"""A bound on the number of intents: each is a slice with tests, alerts and rows of its own, and a bad rule makes many.

The rule: an intent that is known stays; a new one is known from now on while there is room; beyond that it becomes
``other``, flagged. The set lives in a process and may begin with intents that are known already. Several processes
near the cap may each admit other new intents: together at most the cap for each of them. What was ``other`` in one
process may have a slice of its own in the next, and after a restart; only a cap that is reached has this effect.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from schemas.trace import Trace
from streams.assembly.trace import UNMAPPED

FOLDED = "other"
FLAG = "intent_folded"


@dataclass(slots=True)
class Intents:
    """At most ``cap`` intents; ``unmapped`` and ``other`` need no room."""

    cap: int
    known: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, cap: int, known: Iterable[str] = ()) -> "Intents":
        """With what is known already: all of it stays, even where it is more than the cap."""
        return cls(cap, set(known) - {UNMAPPED, FOLDED})

    def folded(self, trace: Trace) -> Trace:
        """The trace, with intent ``other`` and the flag ``intent_folded`` where there is no room for its own."""
        intent = trace.intent
        if intent in self.known or intent in (UNMAPPED, FOLDED):
            return trace
        if len(self.known) < self.cap:
            self.known.add(intent)
            return trace
        return trace.model_copy(update={"intent": FOLDED, "flags": (*trace.flags, FLAG)})
