"""An alert as an on-call engineer reads it in half a minute: what, how bad, since when, after what, with examples."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from urllib.parse import quote

from alerts.explain import NAMED
from alerts.notify.plain import plain
from alerts.notify.unmapped_text import unmapped_headline, unmapped_lines
from schemas.alert import Alert, AlertExample, RateEstimate, VersionChange
from schemas.labels import AlertState

EXAMPLES = 3
HEADLINES = {
    AlertState.FIRING: "FIRING: more hallucinated answers",
    AlertState.RESOLVED: "RESOLVED: the rate is back",
    AlertState.STALE: "STALE: no answers to judge, which is no recovery",
    AlertState.PENDING: "PENDING: evidence is building up",
    AlertState.INACTIVE: "WITHDRAWN: later data do not bear it out",
    AlertState.LEARNING: "LEARNING: the baseline is young",
}


def headline(alert: Alert) -> str:
    """One line: state, intent, tier, rate against reference."""
    if not alert.is_of_slice:
        return unmapped_headline(alert)
    times = "" if alert.ratio is None else f" (×{alert.ratio:.1f})"
    where = f"{plain(alert.slice.intent, 80)}, {alert.slice.tier.value} risk"
    was = "over the episode " if alert.state is AlertState.RESOLVED else ""
    rates = f"{was}{_percent(alert.rate.rate)} against {_percent(alert.reference.rate)}{times}"
    return f"{HEADLINES[alert.state]} · {where} · {rates}"


def render(alert: Alert, *, page_url: str = "") -> str:
    """The whole text, lines ended by newlines; a link to the alert's page if ``page_url`` is given.

    Texts of answers and passages are made plain; the receiver must still escape for its own markup.
    """
    since = f"  since      {_moment(alert.since)}" + _found(alert)
    lines = [headline(alert), since, *unmapped_lines(alert)]
    if alert.is_of_slice:
        rates = [f"  rate       {_rate(alert.rate)}", f"  reference  {_rate(alert.reference)}"]
        lines = [headline(alert), *rates, since, *_what_changed(alert.changes), *_examples(alert.examples)]
    if page_url:
        lines.append(f"  {page_url.rstrip('/')}/alerts/{quote(alert.alert_id, safe='')}")
    return "\n".join(lines) + "\n"


def _found(alert: Alert) -> str:
    parts = []
    if alert.fired_at is not None:
        parts.append(
            f"fired {_moment(alert.fired_at)}"
            + (f" after {alert.samples} verified answers" if alert.is_of_slice else "")
        )
    if alert.resolved_at is not None:
        parts.append(f"resolved {_moment(alert.resolved_at)}")
    return "".join(f", {part}" for part in parts)


def _what_changed(changes: Sequence[VersionChange]) -> list[str]:
    if not changes:
        return ["  changed    no version change found at the onset"]
    is_named = changes[0].posterior >= NAMED
    releases = [list(group) for _, group in groupby(changes, key=lambda change: (change.at, change.posterior))]
    word = "changed" if is_named else "perhaps"
    return [f"  {word:<9}  {_release(release, is_named=is_named)}" for release in releases]


def _release(changes: Sequence[VersionChange], *, is_named: bool) -> str:
    tags = ", ".join(
        f"{plain(change.field, 20)} {plain(change.before, 60) or '(none)'} → {plain(change.after, 60)}"
        for change in changes
    )
    likely = "" if is_named else f" (probability {changes[0].posterior:.0%})"
    return f"{tags} at {_moment(changes[0].at)}{likely}"


def _examples(examples: Sequence[AlertExample]) -> list[str]:
    lines = []
    for number, example in enumerate(examples[:EXAMPLES], start=1):
        revised = ", revised since" if example.is_revised else ""
        lines += [
            f"  {number}. {plain(example.label, 20)}: “{plain(example.claim)}”",
            f"     evidence ({plain(example.doc_id, 60) or 'none'}): “{plain(example.evidence)}”",
            f"     trace {plain(example.trace_id, 80)}, {_moment(example.ts)}{revised}",
        ]
    return lines


def _rate(rate: RateEstimate) -> str:
    interval = f"{rate.level:.0%} interval {_percent(rate.low)} to {_percent(rate.high)}"
    return f"{_percent(rate.rate)} ({interval}, n = {rate.n})"


def _percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1%}"


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
