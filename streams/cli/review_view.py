"""What ``groundwatch review stats`` shows."""

from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from sampling.corrected import CorrectedRate
from schemas.alert import RateEstimate
from streams.cli.display import columns, moment, percent, plain
from streams.reviews.summary import ReviewStats

MOST_SHOWN = 10


def describe_stats(found: ReviewStats) -> Group:
    """Numbers of labels, rates, agreement, then the first disagreements."""
    parts: list[Any] = [Text(_head(found)), Text(""), _rates(found)]
    if found.agreement:
        parts += [Text(""), _agreement(found)]
    if found.disagreements:
        many = len(found.disagreements)
        parts += [Text(""), Text(f"{many} disagreements to settle with `groundwatch review import --adjudicate`:")]
        parts += [Text(plain(line)) for line in _disagreements(found)]
        if many > MOST_SHOWN:
            parts.append(Text(f"… and {many - MOST_SHOWN} more: --json lists them"))
    return Group(*parts)


def corrected_text(found: CorrectedRate) -> str:
    """The estimated true rate with its interval and number of labels, or how many labels are missing."""
    if found.rate is None:
        if not found.missing:
            return "no judged answers"
        each = f"{found.missing_flagged} flagged, {found.missing_unflagged} unflagged"
        return f"{found.missing} labels missing ({each})"
    return percent(RateEstimate(rate=found.rate, low=found.low, high=found.high, n=found.labels, level=found.level))


def _head(found: ReviewStats) -> str:
    strata = ", ".join(f"{number} {stratum}" for stratum, number in found.by_stratum.items())
    labels = ", ".join(f"{number} {label}" for label, number in found.labels.items())
    who = ", ".join(f"{name} {number}" for name, number in found.reviewers.items())
    lines = [
        f"{moment(found.since)} to {moment(found.until)}, detector {found.fingerprint or '(none)'}",
        f"{found.answers} answers and {found.claims} claims labelled ({strata or 'none'})",
    ]
    return plain("\n".join(lines + [f"{name}: {text}" for name, text in (("labels", labels), ("by", who)) if text]))


def _rates(found: ReviewStats) -> Table:
    table = columns("slice", "apparent", "estimated true", "labels", right=slice(3, 4))
    rows = [("all", found.corrected), *((f"{one.intent}/{one.tier}", one.corrected) for one in found.slices)]
    for name, rate in rows:
        if name == "all" or rate.labels:
            table.add_row(Text(plain(name)), percent(rate.apparent), corrected_text(rate), str(rate.labels))
    return table


def _agreement(found: ReviewStats) -> Table:
    table = columns("two reviewers on", "pairs", "agree", "kappa", "95 % interval")
    for row in found.agreement:
        kappa = "–" if row.kappa is None else f"{row.kappa:.2f}"
        agree = "–" if row.observed is None else f"{row.observed:.0%}"
        name = f"{row.what}, {row.intent or 'all'}"
        table.add_row(Text(plain(name)), str(row.n), agree, kappa, f"{row.low:.2f} to {row.high:.2f}")
    return table


def _disagreements(found: ReviewStats) -> list[str]:
    lines = []
    for one in found.disagreements[:MOST_SHOWN]:
        what = "answer" if one.claim_index is None else f"claim {one.claim_index}"
        said = ", ".join(f"{opinion.reviewer}: {opinion.label}" for opinion in one.opinions)
        lines.append(f"  {one.trace_id}  {what}  {said}")
    return lines
