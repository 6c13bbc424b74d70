"""The store's numbers as text for people."""

from rich.console import Group, RenderableType
from rich.text import Text

from streams.cli.display import columns, moment, plain
from streams.store import CheckResult, StoreStats

_UNITS = ("B", "kB", "MB", "GB", "TB")
_STEP = 1000
_FAR_DAYS = 3650


def size(count: float | None) -> str:
    """``1.2 MB``, decimal units; ``unknown`` for None."""
    if count is None:
        return "unknown"
    power = 0
    while abs(count) >= _STEP and power < len(_UNITS) - 1:
        count, power = count / _STEP, power + 1
    return f"{count:.0f} B" if not power else f"{count:.1f} {_UNITS[power]}"


def describe_stats(stats: StoreStats) -> RenderableType:
    """A table of tables, and the lines that somebody plans disk space with."""
    names = ("table", "rows", "parts", "on disk", "compressed", "raw", "oldest", "newest", "kept")
    table = columns(*names, right=slice(1, 6))
    for row in stats.tables:
        kept = f"{row.keeps_days} days" if row.keeps_days else "for ever"
        sizes = (row.disk_bytes, row.compressed_bytes, row.uncompressed_bytes)
        ages = (moment(row.oldest), moment(row.newest))
        table.add_row(row.name, f"{row.rows:,}", f"{row.parts:,}", *(size(one) for one in sizes), *ages, kept)
    return Group(table, Text(), *(Text(line) for line in _lines(stats)))


def _lines(stats: StoreStats) -> list[str]:
    lines = [f"traces         {stats.traces:,}, with {stats.verdicts:,} verdicts, over {stats.days:.1f} days"]
    if stats.bytes_per_trace is not None and stats.traces_per_day is not None:
        lines += [
            f"a trace        {size(stats.bytes_per_trace)}, all tables together",
            f"growth         {size(stats.bytes_per_day)} and {stats.traces_per_day:,.0f} traces a day",
        ]
    if stats.deduplicated_share is not None:
        share = f"{100 * stats.deduplicated_share:.1f} %"
        lines.append(
            f"passages       {stats.passages:,} shown, {stats.passage_texts:,} texts stored: {share} deduplicated"
        )
    is_soon = stats.days_until_full is not None and stats.days_until_full < _FAR_DAYS
    full = f", full in {stats.days_until_full:,.0f} days at this rate" if is_soon else ""
    lines.append(f"free disk      {size(stats.free_bytes)}{full}")
    return lines


def describe_result(result: CheckResult) -> Text:
    """One line for a check that is fine, else what was found and what to do."""
    name = f"{result.name.replace('_', ' '):<17}"
    note = f"  {plain(result.note)}" if result.note else ""
    if not result.faults:
        return Text.assemble(("fine   ", "green"), name, f"{result.checked:,} checked{note}")
    lines = [Text.assemble(("FAULT  ", "bold red"), name, f"{result.faults:,} of {result.checked:,}{note}")]
    lines += [Text(f"         {plain(example)}") for example in result.examples]
    if result.faults > len(result.examples):
        lines.append(Text(f"         and {result.faults - len(result.examples):,} more", style="dim"))
    return Text("\n").join([*lines, Text(f"       → {result.fix}", style="yellow")])
