"""Coverage as text for people: the sums written out, so that they can be checked by eye."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from streams.cli.display import plain
from streams.health.coverage import MISSING, NO_MESSAGE, PRODUCED, READ, UNKNOWN, WAITING, TopicCoverage
from streams.store import SourceFate

_ALWAYS = {"stored", "drawn", "not_drawn", "judged", READ, WAITING, SourceFate.DEAD_LETTER.value}
_FATES = [*(fate.value for fate in SourceFate), NO_MESSAGE, UNKNOWN, MISSING]


def describe(found: Sequence[TopicCoverage]) -> RenderableType:
    """A block a topic."""
    blocks: list[RenderableType] = []
    for one in found:
        blocks += [Text(f"{plain(one.topic)}  ({one.partitions} partitions)", style="bold"), *_lines(one), Text()]
    flying = ", ".join(f"{topic} {count:,}" for topic, count in found[0].in_flight.items() if count)
    blocks.append(Text(f"In flight between our roles: {flying or 'nothing'}."))
    broken = dict.fromkeys(fault for one in found for fault in one.broken)
    if broken:
        blocks += [Text(f"BROKEN  {plain(fault)}", style="bold red") for fault in broken]
    else:
        blocks.append(Text("All is accounted for.", style="green"))
    return Group(*blocks)


def _lines(one: TopicCoverage) -> list[Text]:
    lines = [
        Text(f"  messages  {_sum(PRODUCED, [READ, WAITING], one.messages)}"),
        Text(f"            {_sum(READ, _FATES, one.messages)}"),
    ]
    traces, found = one.traces, one.found
    if found["stored"] or found["duplicates"] or found["expired"] or found["refused"]:
        total = {**found, "whole traces": sum(found[name] for name in ("stored", "duplicates", "expired", "refused"))}
        lines.append(Text(f"  in them   {_sum('whole traces', ['stored', 'duplicates', 'expired', 'refused'], total)}"))
    if found["spans"]:
        lines.append(Text(f"  in them   {found['spans']:,} spans"))
    closed = "".join(
        f", {traces[name]:,} {words}"
        for name, words in (("no_answer", "closed without an answer"), ("dead_letter", "of spans in the dead letter"))
        if traces[name]
    )
    lines.append(Text(f"  traces    {_sum('stored', ['drawn', 'not_drawn'], traces)}{closed}"))
    lines.append(Text(f"            {_sum('drawn', ['judged', 'errors', 'unresolved', 'pending'], traces)}"))
    return lines


def _sum(total: str, parts: Sequence[str], counts: Mapping[str, int]) -> str:
    shown = [name for name in parts if counts[name] or name in _ALWAYS]
    words = " + ".join(f"{counts[name]:,} {name.replace('_', ' ')}" for name in shown)
    return f"{counts[total]:,} {total.replace('_', ' ')} = {words or '0'}"
