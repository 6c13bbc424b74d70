"""Policies and their differences as text for people."""

import json
from collections.abc import Iterator
from typing import Any

import yaml
from rich.console import Group, RenderableType
from rich.text import Text

from sampling.policy_diff import Change, PolicyDiff
from sampling.spend_forecast import Forecast
from schemas.base import Record
from schemas.policy import Overlay, PolicyRecord
from streams.cli.display import columns, moment, plain
from streams.cli.policy_log import InForce

_LONGEST_VALUE = 160


class NamedDiff(Record):
    """What ``policy diff --json`` prints: a policy's id or a file for each side, and the differences.

    ``spend`` is what judges are expected to cost before and after; None where neither asks one, or nothing is known.
    """

    before: str
    after: str
    diff: PolicyDiff
    spend: tuple[Forecast, Forecast] | None = None


def describe_record(record: PolicyRecord) -> Text:
    """One entry of the log in a line."""
    kind = f"policy {record.document.name}" if record.document else "overlay"
    if record.overlay is not None:
        kind = f"overlay ({_overlay(record.overlay)})"
    since = moment(record.effective_from) or "the beginning"
    return Text(plain(f"{record.policy_id}  {kind}  from {since}  by {record.author or 'groundwatch'}"))


def describe_in_force(holds: InForce) -> Text:
    """Id, times and overlays, then the document as the YAML that would make it; what is at its default is left out."""
    since = moment(holds.effective_from) or "the beginning"
    lines = [f"# policy {holds.policy_id}, from {since}, by {holds.author or 'groundwatch'}"]
    lines += [f"# overlay {name}: {_overlay(overlay)}" for name, overlay in holds.overlays]
    lines += [f"# later: {name} (`groundwatch policy show {name}`)" for name in holds.upcoming]
    content = holds.document.model_dump(mode="json", exclude_defaults=True)
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=_LONGEST_VALUE).rstrip()
    return Text(plain("\n".join((*lines, text))))


def describe_diff(diff: PolicyDiff, before: str, after: str) -> RenderableType:
    """What changes, most consequential first."""
    head = Text.assemble((plain(f"{before} → {after}"), "bold"))
    if diff.is_empty:
        return Group(head, Text("No difference in what it does."))
    parts: list[RenderableType] = [head]
    if diff.thresholds:
        parts += _section("thresholds", diff.thresholds)
        warning = "  ! a new fingerprint: rates start a new series with a new baseline, and alerts begin to learn anew"
        parts.append(Text(warning, style="bold yellow"))
    parts += [*_section("strata", diff.strata), *_probabilities(diff), *_expected(diff)]
    parts += [*_section("rules", diff.rules), *_section("routes", diff.routes)]
    if diff.routes:
        hint = "  ! may start new series: `groundwatch fingerprint --compare now FILE` says where"
        parts.append(Text(hint, style="bold yellow"))
    parts += _section("other", diff.other)
    return Group(*parts)


def describe_spend(before: Forecast | None, after: Forecast) -> RenderableType:
    """What judges are expected to cost, and which budgets that exceeds."""
    old = before or after
    shown = [
        f"{_change(old.calls, after.calls, '{:,.1f}')} calls",
        f"{_change(old.tokens, after.tokens, '{:,.0f}')} tokens",
    ]
    if after.usd is not None:
        shown.append(f"{_change(old.usd, after.usd, '{:,.2f}')} USD")
    busiest = f"{after.busiest_tokens:,.0f} tokens" + (
        "" if after.busiest_usd is None else f", {after.busiest_usd:,.2f} USD"
    )
    lines = [Text(f"judges, an hour  {', '.join(shown)}; in the busiest hour {busiest}", style="bold")]
    lines += [Text(plain(f"  ! {fault}"), style="bold yellow") for fault in after.over]
    lines += [Text(plain(f"  {note}"), style="dim") for note in after.notes]
    return Group(*lines)


def _change(before: float | None, after: float, form: str) -> str:
    same = before is None or form.format(before) == form.format(after)
    return form.format(after) if same else f"{form.format(before)} → {form.format(after)}"


def _section(name: str, changes: tuple[Change, ...]) -> Iterator[Text]:
    if changes:
        yield Text(name, style="bold")
    for change in changes:
        path = plain(change.path)
        if change.before is None:
            yield Text(f"  + {path}: {_value(change.after)}", style="green")
        elif change.after is None:
            yield Text(f"  - {path}: {_value(change.before)}", style="red")
        else:
            yield Text(f"  ~ {path}: {_value(change.before)} → {_value(change.after)}")


def _probabilities(diff: PolicyDiff) -> Iterator[RenderableType]:
    if not diff.probabilities:
        return
    yield Text("share of traces that is verified (π)", style="bold")
    table = columns("  intent", "tier", "stratum", "before", "after", "traces a day")
    for cell in diff.probabilities:
        seen = "" if cell.traces_per_day is None else f"{cell.traces_per_day:,.0f}"
        shares = [f"{value:g}" if value is not None else "none" for value in (cell.before, cell.after)]
        table.add_row(Text(plain(f"  {cell.intent}")), cell.tier.value, Text(plain(cell.stratum)), *shares, seen)
    yield table


def _expected(diff: PolicyDiff) -> Iterator[Text]:
    if diff.checks_per_day is None:
        return
    before, after = diff.checks_per_day
    change = f" ({100 * (after / before - 1):+.0f} %)" if before else ""
    rough = "; roughly, since strata change" if diff.is_approximate else ""
    yield Text(f"verified traces a day  {before:,.0f} → {after:,.0f}{change}{rough}", style="bold")


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return plain(text[:_LONGEST_VALUE] + ("…" if len(text) > _LONGEST_VALUE else ""))


def _overlay(overlay: Overlay) -> str:
    what = f"π at least {overlay.at_least:g}" if overlay.at_least is not None else f"π times {overlay.times or 1:g}"
    where = overlay.intent + (f"/{overlay.tier}" if overlay.tier else "")
    return f"{overlay.reason}, {what} for {where} until {moment(overlay.until)}"
