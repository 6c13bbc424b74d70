"""The last step of a process: what was said is written, and nothing that crashes afterwards changes the exit code."""

import subprocess
import sys

CRASHES_AT_ITS_END = """
import atexit, os, signal
from streams.agents.shell import leave
atexit.register(os.kill, os.getpid(), signal.SIGSEGV)
print("drained", end="")
leave(75)
"""


def test_a_crash_of_the_interpreter_at_its_end_is_not_waited_for() -> None:
    """A supervisor would read a clean stop as a fault."""
    ended = subprocess.run([sys.executable, "-c", CRASHES_AT_ITS_END], capture_output=True, timeout=120, check=False)
    assert (75, b"drained") == (ended.returncode, ended.stdout), ended.stderr
