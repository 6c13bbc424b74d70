"""``groundwatch`` under a wall clock that a test sets while it runs.

``python -m tests.integration.jumping_clock run`` is ``groundwatch run`` whose wall clock is off the real one by the
seconds that stand in the file of ``GROUNDWATCH_TEST_CLOCK_FILE``; the monotonic clock is the real one, as on a machine.
"""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

VARIABLE = "GROUNDWATCH_TEST_CLOCK_FILE"

if __name__ == "__main__":
    import streams.clock

    file = Path(os.environ[VARIABLE])

    def shown() -> datetime:
        """The real time and what the file adds."""
        return datetime.now(UTC) + timedelta(seconds=float(file.read_text() or 0))

    streams.clock.wall_clock = shown
    from streams.cli import main

    main()
