"""When an open trace is complete enough to be judged: its root has ended, it is quiet, or it reached a cap.

Time is that of the partition: the record time of what was read, or the present once everything was read. So a backlog
closes its traces as fast as it is read, and a redelivered backlog closes them the same way.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class CloseReason(StrEnum):
    """Why a trace was closed; stored with it."""

    ROOT_END = "root_end"
    QUIET = "quiet"
    CAP_AGE = "cap_age"
    CAP_SPANS = "cap_spans"
    CAP_BYTES = "cap_bytes"


@dataclass(frozen=True, slots=True)
class ClosingRules:
    """``grace`` after the end of the root was read, ``quiet`` after the last span, ``age`` after the first.

    ``spans`` and ``bytes`` are of one trace, ``total_bytes`` of all open ones: beyond it the oldest close.
    """

    grace: timedelta = timedelta(seconds=5)
    quiet: timedelta = timedelta(seconds=60)
    age: timedelta = timedelta(minutes=10)
    spans: int = 2_000
    bytes: int = 32_000_000
    total_bytes: int = 512_000_000


@dataclass(slots=True)
class Progress:
    """What decides about closing: when spans came, in partition time, and how much they are."""

    first_at: datetime
    last_at: datetime
    root_ended_at: datetime | None = None
    spans: int = 0
    bytes: int = 0


def close_reason(progress: Progress, now: datetime, rules: ClosingRules) -> CloseReason | None:
    """Why the trace closes at ``now``, None while it stays open; caps come first, since they protect the process."""
    cap = cap_reason(progress.spans, progress.bytes, rules)
    if cap is not None:
        return cap
    if progress.root_ended_at is not None and now - progress.root_ended_at >= rules.grace:
        return CloseReason.ROOT_END
    if now - progress.last_at >= rules.quiet:
        return CloseReason.QUIET
    return CloseReason.CAP_AGE if now - progress.first_at >= rules.age else None


def cap_reason(spans: int, size_bytes: int, rules: ClosingRules) -> CloseReason | None:
    """The cap on one trace that so many spans and bytes have reached, None for none."""
    if spans >= rules.spans:
        return CloseReason.CAP_SPANS
    return CloseReason.CAP_BYTES if size_bytes >= rules.bytes else None
