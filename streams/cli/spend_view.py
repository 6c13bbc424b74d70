"""What was spent as text for people."""

from rich.console import Group, RenderableType
from rich.text import Text

from sampling.budget_report import PotReport
from schemas.spend import Cost, SpendSum
from streams.cli.display import columns, moment, plain
from streams.spend.report import SpendReport

_FULL = 0.9
"""A budget of which more is used stands out."""


def describe_spend(report: SpendReport) -> RenderableType:
    """Budgets of this hour first, then a row a time, intent, tier and layer, and the sum."""
    parts: list[RenderableType] = [_pot(pot) for pot in report.pots]
    if not report.rows:
        return Group(*parts, Text(f"Nothing was spent since {moment(report.since)}."))
    table = columns(
        "from", "intent", "tier", "layer", "calls", "cached", "refused", "tokens", "USD", "a call", "slowest",
        right=slice(4, None),
    )  # fmt: skip
    total = Cost()
    for row in report.rows:
        total = total.plus(row.cost)
        table.add_row(*_cells(row))
    table.add_row("all", "", "", "", *_figures(total), style="bold")
    return Group(*parts, Text(), table)


def _pot(pot: PotReport) -> Text:
    used = pot.used
    style = "bold yellow" if used is not None and used > _FULL else ""
    spent = f"{_of(pot.tokens, pot.tokens_limit, '{:,.0f}')} tokens, {_of(pot.usd, pot.usd_limit, '${:,.2f}')}"
    left = "no budget" if used is None else f"{max(1 - used, 0):.0%} left"
    line = f"{plain(pot.pot)}  since {pot.hour:%H:%M} UTC: {spent}; {left}"
    if pot.share < 1:
        line += f"; π × {pot.share:g} until {pot.share_until:%H:%M} UTC"
    return Text(line, style=style)


def _of(spent: float, limit: float | None, form: str) -> str:
    return form.format(spent) + ("" if limit is None else f" of {form.format(limit)}")


def _cells(row: SpendSum) -> tuple[Text | str, ...]:
    return (
        f"{row.start:%Y-%m-%d %H:%M}",
        Text(plain(row.intent)),
        row.tier.value,
        row.layer.value,
        *_figures(row.cost),
    )


def _figures(cost: Cost) -> tuple[str, ...]:
    mean = f"{cost.took_ms / cost.calls / 1000:.1f} s" if cost.calls else ""
    slowest = f"{cost.slowest_ms / 1000:.1f} s" if cost.slowest_ms else ""
    return (
        f"{cost.calls:,}",
        f"{cost.cached:,}",
        f"{cost.refused:,}",
        f"{cost.tokens:,}",
        f"{cost.usd:,.4f}",
        mean,
        slowest,
    )
