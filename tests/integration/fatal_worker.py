"""``groundwatch`` that dies at a message, a drawn answer or a verdict with a certain word, another way in each life.

It stands for a crash in native code, endless work that a watchdog ends, and memory that runs out.
"""

import os
import signal
from collections.abc import Sequence
from typing import Any

from detectors import verification
from schemas.draw import DrawnTrace
from schemas.verdict import Verdict
from streams.agents import verify as step
from streams.cli import main
from streams.sources.reader import Reader
from streams.store import Store

WORD = b"fatal for this decoder"
DRAWN_ID = "fatal for this detector"
_read, _insert_verdicts, _verify = Reader.read, Store.insert_verdicts, verification.verify


def read(self: Reader, value: bytes) -> Any:
    """Reads, or dies."""
    if WORD in value:
        die()
    return _read(self, value)


def insert_verdicts(self: Store, rows: Sequence[Verdict]) -> None:
    """Inserts, or dies."""
    if any(row.trace_id == WORD.decode() for row in rows):
        die()
    _insert_verdicts(self, rows)


def verify(drawn: Sequence[DrawnTrace], *others: Any, **options: Any) -> list[Verdict]:
    """Judges, or dies."""
    if any(item.trace.trace_id == DRAWN_ID for item in drawn):
        die()
    return _verify(drawn, *others, **options)


def die() -> None:
    """End at once."""
    if os.getpid() % 2:
        os._exit(139)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    Reader.read = read  # type: ignore[method-assign]  # that is what this process is for
    Store.insert_verdicts = insert_verdicts  # type: ignore[method-assign]  # likewise
    step.verify = verify  # type: ignore[attr-defined]  # likewise
    main()
