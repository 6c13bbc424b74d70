"""What the Kafka client logged of its failures: at the start it raises one error for all causes, and only logs why."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

LOGGER = "aiokafka"
_KEPT = 20


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the text of a record; never raises."""
        if len(self.lines) < _KEPT:
            self.lines.append(record.getMessage())


@contextmanager
def overheard() -> Iterator[list[str]]:
    """The lines that the client logs in this block, kept from everybody else: what matters of them is said again."""
    logger = logging.getLogger(LOGGER)
    handler = _Lines()
    before = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield handler.lines
    finally:
        logger.propagate = before
        logger.removeHandler(handler)
