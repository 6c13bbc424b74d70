"""What every whole trace goes through, whatever made it: whose clock is right, and names that no page could show."""

from datetime import UTC, datetime, timedelta
from typing import Any
from unicodedata import category

from schemas.trace import MAX_NAME_CHARS, Trace

CLOCK_TOLERANCE = timedelta(minutes=5)
_FIRST_RECORD_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""A record time before this one is none: producers that set no time send 0 or −1."""
_UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""Control characters that several scripts need to be read."""


def checked(trace: Trace, recorded_at: datetime) -> Trace:
    """The trace with a checked event time and names; flags name what was changed.

    A time more than five minutes ahead of the broker's record time is a wrong clock: the record time is used, flagged
    ``clock_ahead``. An intent that cannot be shown becomes ``unmapped``; versions, locale and region are left out,
    flagged ``name_dropped``.
    """
    ts, clock = _checked_time(trace.ts, recorded_at)
    names, dropped = _checked_names(trace)
    if not clock and not dropped:
        return trace
    flags = tuple(dict.fromkeys((*trace.flags, *clock, *dropped)))
    return trace.model_copy(update={**names, "ts": ts, "flags": flags})


def _checked_time(ts: datetime, recorded_at: datetime) -> tuple[datetime, tuple[str, ...]]:
    if recorded_at >= _FIRST_RECORD_TIME and ts > recorded_at + CLOCK_TOLERANCE:
        return recorded_at, ("clock_ahead",)
    return ts, ()


def _checked_names(trace: Trace) -> tuple[dict[str, Any], tuple[str, ...]]:
    update: dict[str, Any] = {}
    if not trace.intent.strip() or not is_name(trace.intent):
        update["intent"] = "unmapped"
    update |= {field: "" for field in ("locale", "region") if not is_name(getattr(trace, field))}
    versions = {field: "" for field, version in trace.versions if not is_name(version)}
    if versions:
        update["versions"] = trace.versions.model_copy(update=versions)
    return update, ("name_dropped",) if update else ()


def is_name(text: str) -> bool:
    """True for at most 256 characters without control and direction characters."""
    if len(text) > MAX_NAME_CHARS:
        return False
    return text.isprintable() or all(char in _JOINERS or category(char) not in _UNSHOWN for char in text)
