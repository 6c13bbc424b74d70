"""A message of the hostile corpus: what is sent, and what must become of it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from random import Random
from typing import Any


class Fate(Enum):
    """What becomes of a message."""

    STORED = "stored"
    LETTER = "dead letter"
    EXPIRED = "expired"
    REPEATED = "the same bytes again: nothing"
    EITHER = "stored, dead letter or expired: random bytes"


@dataclass(frozen=True, slots=True)
class Hostile:
    """One message with its fate.

    ``reason`` is that of the dead letter, ``outcome`` that of the verdict where it is known, ``flag`` one that the
    stored trace must have. ``at`` is the record time that the producer sets; None leaves it to the client.
    """

    kind: str
    value: bytes | None
    fate: Fate
    key: bytes | None = None
    headers: tuple[tuple[str, bytes], ...] = ()
    trace_id: str = ""
    reason: str = ""
    outcome: str = ""
    flag: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Maker:
    """What a kind is made from: its name, a number that no other message has, the present, and chance."""

    kind: str
    number: int
    now: datetime
    rng: Random

    @property
    def trace_id(self) -> str:
        """Unique in the corpus."""
        return f"{self.kind}-{self.number}"

    def fields(self, **changed: Any) -> dict[str, Any]:
        """A good trace of the last hour, with fields changed."""
        days = self.rng.choice([14, 30, 60, 90])
        plain = {
            "trace_id": self.trace_id,
            "ts": (self.now - timedelta(seconds=self.rng.uniform(60, 3600))).isoformat(),
            "question": "How long can I return a lamp?",
            "answer": f"You can return a lamp within {days} days of delivery [returns].",
            "passages": [{"doc_id": "returns", "text": f"Lamps may be returned within {days} days of delivery."}],
            "intent": self.rng.choice(["returns", "shipping", "billing"]),
            "tier": self.rng.choice(["low", "medium", "high"]),
            "tenant": "shop",
        }
        return {**plain, **changed}

    def encoded(self, **changed: Any) -> bytes:
        """The same as JSON, ASCII only."""
        return json.dumps(self.fields(**changed)).encode()

    def written(self, field: str, text: str) -> bytes:
        """A good trace in which ``field`` is spelled ``text``, JSON or not; surrogates become three bytes each."""
        rest = json.dumps({name: value for name, value in self.fields().items() if name != field})
        return f'{rest[:-1]}, "{field}": {text}}}'.encode("utf-8", "surrogatepass")

    def passage(self, **texts: str) -> bytes:
        """A good trace whose passage has fields spelled as given."""
        inner = "".join(f', "{name}": {text}' for name, text in texts.items())
        text = "Lamps may be returned within 30 days of delivery."
        return self.written("passages", f'[{{"doc_id": "returns", "text": "{text}"{inner}}}]')

    def stored(self, value: bytes, outcome: str = "", flag: str = "", **more: Any) -> Hostile:
        """A message that becomes a trace."""
        whole = {"key": self.trace_id.encode(), "trace_id": self.trace_id, **more}
        return Hostile(self.kind, value, Fate.STORED, outcome=outcome, flag=flag, **whole)

    def letter(self, value: bytes | None, reason: str, **more: Any) -> Hostile:
        """A message that becomes a dead letter."""
        return Hostile(self.kind, value, Fate.LETTER, reason=reason, **{"key": self.trace_id.encode(), **more})


Kind = Callable[[Maker], Hostile]
