"""The second half of what ``attach`` shows: verdicts on the sample, cost, load and rights."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from streams.attach.report import Attached, DryRun
from streams.cli.display import plain, styled


def show_dry_run(found: DryRun, left_out: Sequence[str], console: Console) -> None:
    """Outcomes by intent, what would be flagged, and why the rest has no verdict."""
    heading(console, f"Dry run: {found.judged:,} traces judged in memory by layers L0 and L1, with this mapping")
    for layer in left_out:
        console.print(Text(f"verify adds {layer}: its verdicts will differ", style="dim"))
    if found.torn:
        console.print(Text(f"{found.torn:,} that the edges of the sample cut are left out", style="dim"))
    if found.skipped:
        text = f"{found.skipped:,} more were not judged: too large for a quick look, or its time was up"
        console.print(Text(text, style="dim"))
    rows = table("intent", "tier", "traces", "grounded", "hallucinated", "unclear", "other", "unresolved")
    for row in found.outcomes:
        counts = (row.traces, row.grounded, row.hallucinated, row.unclear, row.other, row.unresolved)
        rows.add_row(Text(plain(row.intent)), row.tier, *(f"{count:,}" for count in counts))
    console.print(rows)
    for one in found.flagged:
        head = (plain(f"{one.intent}, {one.tier}  {', '.join(one.failures)}"), "dim")
        console.print(Text.assemble(styled(one.outcome), f"  {plain(one.trace_id)}  ", head))
        console.print(Text(f"  claim     {plain(one.claim)}".replace("\n", " ")))
        console.print(Text(f"  evidence  {plain(one.evidence) or '(none)'}".replace("\n", " "), style="dim"))
    for reason in found.unresolved:
        console.print(Text.assemble(styled(reason.reason), f"  {reason.traces:,} ({100 * reason.share:.1f} %)"))
        console.print(Text(f"  {reason.fix}", style="green"))


def show_cost(report: Attached, console: Console) -> None:
    """What verifying costs under the policy."""
    cost = report.cost
    heading(console, f"Cost of verifying under the policy {cost.policy}")
    rows = table("tier", "traces in the sample", "drawn", "strata")
    for tier in cost.tiers:
        strata = ", ".join(f"{name} {count:,}" for name, count in tier.strata.items())
        rows.add_row(tier.tier, f"{tier.traces:,}", f"{100 * tier.drawn_share:.1f} %", strata)
    console.print(rows)
    daily = "traces a day: unknown" if cost.traces_per_day is None else (
        f"{cost.traces_per_day:,.0f} traces a day, {cost.drawn_per_day:,.0f} drawn and verified, "
        f"{(cost.cpu_seconds_per_day or 0) / 60:,.1f} CPU minutes a day"
    )  # fmt: skip
    console.print(daily)
    console.print(
        f"measured here: decode {cost.decode_ms:.2f} ms a message, assemble {cost.assemble_ms:.2f} and screen "
        f"{cost.screen_ms:.2f} ms a trace, verify {cost.verify_ms:.2f} ms a drawn one"
    )
    for layer in cost.left_out:
        console.print(f"not in these times: {layer}")
    console.print(f"judge: {cost.judge}")


def show_needs(report: Attached, console: Console) -> None:
    """Load on the brokers, and rights."""
    if report.is_file:
        return
    heading(console, "Load on the source brokers")
    rate = report.load.bytes_per_second
    console.print(f"read: {'unknown' if rate is None else f'{rate:,.0f}'} bytes a second")
    console.print(f"fetches: {report.load.fetch}")
    console.print(f"connections: {report.load.connections}")
    console.print(f"consumer groups: {', '.join(report.load.groups)}")
    for note in report.load.notes:
        console.print(Text(note, style="dim"))
    heading(console, "Rights that a deployment needs, as user groundwatch")
    for line in report.acls:
        console.print(Text(plain(line)))


def heading(console: Console, text: str) -> None:
    """A line above a part."""
    console.print(Text(f"\n{text}", style="bold"))


def table(*columns: str) -> Table:
    """A table without lines."""
    return Table(*columns, box=None, pad_edge=False, show_edge=False, header_style="dim")
