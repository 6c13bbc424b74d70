"""``groundwatch`` whose decoder ends the process at a message with a certain word, another way in each life.

It stands for a crash in native code, endless work that a watchdog ends, and memory that runs out.
"""

import os
import signal
from typing import Any

from streams.cli import main
from streams.sources.reader import Reader

WORD = b"fatal for this decoder"
_read = Reader.read


def read(self: Reader, value: bytes) -> Any:
    """Reads, or dies."""
    if WORD not in value:
        return _read(self, value)
    if os.getpid() % 2:
        os._exit(139)
    os.kill(os.getpid(), signal.SIGKILL)
    return None


if __name__ == "__main__":
    Reader.read = read  # type: ignore[method-assign]  # that is what this process is for
    main()
