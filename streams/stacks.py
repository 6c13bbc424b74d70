"""Where a process that is about to be ended stands."""

import asyncio
import faulthandler
import sys
from contextlib import suppress

_SHOWN_TASKS = 40


def show_stacks(loop: asyncio.AbstractEventLoop) -> None:
    """Where all threads and the loop's tasks stand, on standard error: functions and lines, no values. Never raises."""
    with suppress(Exception):  # whatever fails here must not keep the process alive
        faulthandler.dump_traceback(file=sys.stderr, all_threads=True)
        for task in list(asyncio.all_tasks(loop))[:_SHOWN_TASKS]:
            sys.stderr.write(f"task {task.get_name()}\n")
            task.print_stack(limit=6, file=sys.stderr)
