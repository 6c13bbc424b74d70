"""``groundwatch`` that dies at a message or a verdict with a certain word, another way in each life.

It stands for a crash in native code, endless work that a watchdog ends, and memory that runs out.
"""

import os
import signal
from collections.abc import Sequence
from typing import Any

from schemas.verdict import Verdict
from streams.cli import main
from streams.sources.reader import Reader
from streams.store import Store

WORD = b"fatal for this decoder"
_read, _insert_verdicts = Reader.read, Store.insert_verdicts


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


def die() -> None:
    """End at once."""
    if os.getpid() % 2:
        os._exit(139)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    Reader.read = read  # type: ignore[method-assign]  # that is what this process is for
    Store.insert_verdicts = insert_verdicts  # type: ignore[method-assign]  # likewise
    main()
