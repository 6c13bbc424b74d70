"""How values look on a page; a value that is not known is a dash or a sentence, never a zero."""

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from markupsafe import Markup

from schemas.alert import RateEstimate
from schemas.visible import visible as visible_text

DASH = "–"
COARSE_FROM = 3
"""From this many of a unit on, the next smaller unit says nothing that matters."""
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def visible(value: object) -> object:
    """Text in which characters that HTML or UTF-8 cannot carry show as U+FFFD; anything else unchanged."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return visible_text(value)


def percent(share: float | None) -> str:
    """A share as per cent with one decimal; a share that would round to 0.0 or 100.0 but is not shows as such."""
    if share is None:
        return DASH
    if 0 < share < 0.0005:  # noqa: PLR2004 (half of the last digit shown)
        return "< 0.1 %"
    if 0.9995 <= share < 1:  # noqa: PLR2004 (half of the last digit shown)
        return "> 99.9 %"
    return f"{100 * share:.1f} %"


def interval(rate: RateEstimate) -> str:
    """The interval of a rate, in per cent without the sign; empty when nothing was judged."""
    return "" if rate.rate is None else f"[{100 * rate.low:.1f}, {100 * rate.high:.1f}]"


def rate_text(rate: RateEstimate) -> str:
    """A rate as ``20.1 % [17.2, 23.4], n = 812``; without judged answers it says so."""
    if rate.rate is None:
        return "no judged answers"
    return f"{percent(rate.rate)} {interval(rate)}, n = {count(rate.n)}"


def count(number: float | None) -> str:
    """A count with thin spaces between thousands."""
    return DASH if number is None else f"{round(number):,}".replace(",", "\u202f")


def utc(moment: datetime | None) -> str:
    """A moment as ``2026-03-10 12:00 UTC``."""
    return DASH if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def iso(moment: datetime) -> str:
    """A moment in ISO 8601 with ``Z``, whole, since the store finds a trace by its exact time."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def duration(span: timedelta) -> str:
    """A length of time such as ``1 d 4 h`` or ``7 h``: a second unit only where the first counts to one or two."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < 60:  # noqa: PLR2004 (a minute)
        return f"{seconds} s"
    first = next(place for place, (size, _) in enumerate(_UNITS) if seconds >= size)
    (size, unit), finer = _UNITS[first], _UNITS[first + 1 : first + 2]
    number, rest = divmod(seconds, size)
    parts = [f"{number} {unit}"]
    parts += [f"{rest // small} {name}" for small, name in finer if number < COARSE_FROM and rest >= small]
    return " ".join(parts)


def ago(moment: datetime | None, now: datetime) -> str:
    """How long before ``now`` a moment was; a moment ahead of ``now`` is told as such."""
    if moment is None:
        return DASH
    if moment > now + timedelta(seconds=1):
        return f"in {duration(moment - now)}"
    return f"{duration(now - moment)} ago"


def link_part(text: str) -> str:
    """``text`` as one segment of a path or one value of a query: nothing in it can end the segment."""
    return quote(text.encode("utf-8", "replace"), safe="")


def trace_link(trace_id: str, moment: datetime) -> str:
    """The path of a trace's page. An id of dots alone goes into the query, as browsers resolve ``..`` in a path."""
    base = f"/traces/{iso(moment)}"
    if trace_id.strip(".") == "":
        return f"{base}?id={link_part(trace_id)}"
    return f"{base}/{link_part(trace_id)}"


def alert_link(alert_id: str) -> str:
    """The path of an alert's page."""
    return f"/alerts?id={link_part(alert_id)}" if alert_id.strip(".") == "" else f"/alerts/{link_part(alert_id)}"
