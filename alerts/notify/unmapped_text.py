"""An alert about traces without an intent, as text: what, since when, what it costs, what to do."""

from collections.abc import Sequence

from schemas.alert import Alert
from schemas.labels import AlertState

HEADLINES = {
    AlertState.FIRING: "FIRING: traces without an intent",
    AlertState.RESOLVED: "RESOLVED: traces have intents again",
    AlertState.STALE: "STALE: no traces to look at, which is no recovery",
    AlertState.INACTIVE: "WITHDRAWN: later data do not bear it out",
}
COST = "they are one slice of everything, in which a jump is found late or not at all"
ADVICE = "`groundwatch intents unmapped` shows the topics; give intent a rule in their entry under `sources`"


def unmapped_headline(alert: Alert) -> str:
    """One line: state, share, limit."""
    state = HEADLINES.get(alert.state, alert.state.value.upper())
    share = f"{_percent(alert.rate.rate)} of {alert.rate.n:,} traces in an hour"
    return f"{state} · {share}, limit {_percent(alert.reference.rate)}"


def unmapped_lines(alert: Alert) -> Sequence[str]:
    """What the headline does not say, but since when; only while somebody has to act."""
    is_open = alert.state in {AlertState.FIRING, AlertState.STALE}
    return [f"  cost       {COST}", f"  do         {ADVICE}"] if is_open else []


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.1%}"
