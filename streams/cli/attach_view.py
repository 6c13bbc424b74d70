"""What ``attach`` found, for a terminal. Everything of a topic is untrusted: it goes through ``plain``."""

import io
from collections.abc import Iterator

import yaml
from rich.console import Console
from rich.text import Text

from streams.attach.report import Attached, Coverage, Example, FieldFound
from streams.cli.attach_view_cost import heading, show_cost, show_dry_run, show_needs, table
from streams.cli.display import moment, plain

_THERE = 0.95
_HALF = 0.5
_LONG_ENOUGH_SECONDS = 1_800
_UNITS = ((86_400, "days"), (3_600, "h"), (60, "min"))


def show(report: Attached, console: Console) -> None:
    """The whole report, in the order in which somebody decides: what is read, what is missing, what to set, cost."""
    _show_topics(report, console)
    _show_forms(report, console)
    _show_fields(report, console)
    _show_coverage(report.coverage, console)
    _show_examples(report, console)
    _show_proposal(report, console)
    if report.dry_run is not None:
        show_dry_run(report.dry_run, report.cost.left_out, console)
    show_cost(report, console)
    show_needs(report, console)
    console.print(f"\ntook {report.seconds:.1f} s; nothing was stored, no consumer group was joined")


def percent(share: float) -> str:
    """``12.5 %``."""
    return f"{100 * share:.1f} %"


def duration(seconds: float) -> str:
    """``3.6 s``, ``12 min``, ``200 days``."""
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(seconds) >= 2 * size), (1, "s"))
    return number(seconds / size, f" {unit}")


def number(value: float | None, unit: str = "") -> str:
    """A figure with three digits that count; a question mark where it is not known."""
    return "?" if value is None else f"{value:,.0f}{unit}" if value >= 100 else f"{value:.3g}{unit}"  # noqa: PLR2004


def _show_topics(report: Attached, console: Console) -> None:
    for topic in report.topics:
        what = "" if report.is_file else f" on {topic.partitions} partitions, of {topic.available:,} there"
        rate = "" if topic.messages_per_second is None else f", {number(topic.messages_per_second)} a second"
        console.print(Text.assemble((plain(topic.name), "bold"), f": {topic.read:,} messages read{what}{rate}"))
        busiest = topic.busiest_partition_per_second
        facts = [
            "" if busiest is None else f"busiest partition {number(busiest)} messages a second",
            f"compression.type {topic.compression}" if topic.compression else "",
            f"max.message.bytes {topic.max_message_bytes:,}" if topic.max_message_bytes else "",
            f"retention {topic.retention_seconds / 3600:,.0f} h" if topic.retention_seconds else "",
        ]
        if any(facts):
            console.print(Text(f"  {', '.join(fact for fact in facts if fact)}", style="dim"))
    for note in report.notes:
        console.print(Text(f"note: {plain(note)}", style="yellow"))


def _show_forms(report: Attached, console: Console) -> None:
    heading(console, f"What the messages are: {percent(report.decoded_share)} decode")
    rows = table("encoding", "convention", "messages", "share", "spans", "whole traces", "first at")
    for form in report.forms:
        name = f"{form.encoding}{f' in {form.layer}' if form.layer else ''}"
        convention = ", ".join(form.conventions) or ("belongs to no answer" if form.is_read else "not read")
        style = "" if form.is_read else "red"
        cells = (name, convention, f"{form.messages:,}", percent(form.share), f"{form.spans:,}", f"{form.traces:,}")
        rows.add_row(*(Text(plain(cell), style=style) for cell in (*cells, form.example)))
    console.print(rows)
    torn = report.traces - report.whole_traces
    judges = f", {report.judge_traces:,} of judges left out" if report.judge_traces else ""
    console.print(f"{report.traces:,} traces assembled, {torn:,} of them cut by the edges of the sample{judges}")
    if report.problems:
        heading(console, "What cannot be read")
        problems = table("reason", "messages", "share", "first at", "what, and what to do")
        for one in report.problems:
            text = Text(plain(one.detail))
            text.append(f"\n{one.fix}" if one.fix else "", style="green")
            known = (one.reason, f"{one.messages:,}", percent(one.share), plain(one.example))
            problems.add_row(*map(Text, known), text)
        console.print(problems)


def _show_fields(report: Attached, console: Console) -> None:
    heading(console, "Fields: share of traces that have them")
    rows = table("field", "", "share", "what it costs where it is missing")
    for field in report.fields:
        is_there = field.share >= _THERE
        cost = "" if is_there else plain(field.cost)
        rows.add_row(Text(field.title), _need(field), Text(percent(field.share), style=_style(field)), Text(cost))
    console.print(rows)
    missing = [field for field in report.fields if field.fixes and field.need != "optional"]
    if missing:
        heading(console, "What would add them")
    for field in missing:
        console.print(Text(f"{field.title}"))
        for fix in field.fixes:
            console.print(Text(f"  {plain(fix)}", style="green"))


def _need(field: FieldFound) -> Text:
    return Text(field.need, style="bold" if field.need == "needed" else "dim")


def _style(field: FieldFound) -> str:
    if field.share >= _THERE:
        return "green"
    if field.need == "needed":
        return "red"
    return "yellow" if field.share < _HALF else ""


def _show_coverage(found: Coverage, console: Console) -> None:
    heading(console, "Coverage")
    for line in _coverage_lines(found):
        console.print(line)
    for note in found.notes:
        console.print(Text(f"note: {plain(note)}", style="yellow"))


def _coverage_lines(found: Coverage) -> Iterator[str]:
    yield (
        f"size: median {found.median_bytes:,} bytes, largest {found.largest_bytes:,}; "
        f"{percent(found.over_1_mb_share)} above 1 MB"
    )
    if found.no_key_share is not None and found.spread_share is not None:
        yield (
            f"keys: {percent(found.no_key_share)} of messages have none; {percent(found.spread_share)} of traces have "
            "spans on several partitions"
        )
    yield (
        f"copies: {percent(found.repeated_span_share)} of spans came before, {percent(found.changed_span_share)} came "
        f"in several versions, {percent(found.late_span_share)} late; {found.repeated_traces:,} whole traces came twice"
    )
    if found.first_recorded_at is not None:
        yield (
            f"time: {moment(found.first_recorded_at)} to {moment(found.last_recorded_at)}; "
            f"{number(found.messages_per_second)} messages and {number(found.bytes_per_second)} bytes a second"
            f"{_counted_over(found.rate_over_seconds)}"
        )
    if found.skew_median_seconds is not None:
        yield (
            f"clock: recorded {duration(found.skew_median_seconds)} after the event (median), "
            f"{duration(found.skew_p95_seconds or 0)} at the 95th percentile; {percent(found.ahead_share)} more than "
            "5 min ahead, for which the record time is taken"
        )


def _counted_over(seconds: float | None) -> str:
    if seconds is None or seconds >= _LONG_ENOUGH_SECONDS:
        return ""
    return f", counted over {duration(seconds)} alone: a day may look different"


def _show_examples(report: Attached, console: Console) -> None:
    if not report.examples:
        return
    heading(console, f"Assembled traces: {len(report.examples)} examples")
    hint = "with the mapping below; recognised personal data is redacted, names and the like stay. --no-examples"
    console.print(Text(hint, style="dim"))
    for example in report.examples:
        _show_example(example, console)


def _show_example(example: Example, console: Console) -> None:
    flags = f"  {', '.join(example.flags)}" if example.flags else ""
    where = f"  {example.intent}, {example.tier}  {example.decoder}"
    spans = f", {example.spans} spans" if example.spans else ""
    console.print(Text.assemble((plain(example.trace_id), "bold"), plain(f"{where}{spans}{flags}")))
    for name, text in (("question", example.question), ("answer", example.answer or "")):
        console.print(Text.assemble((f"  {name:9} ", "dim"), plain(text).replace("\n", " ") or "(none)"))
    passages = ("(retrieval is not shown)",) if example.passages is None else example.passages or ("(empty)",)
    for passage in passages:
        console.print(Text.assemble(("  passage   ", "dim"), plain(passage).replace("\n", " ")))
    for tool in example.tools:
        console.print(Text.assemble(("  tool      ", "dim"), plain(tool)))


def _show_proposal(report: Attached, console: Console) -> None:
    proposal = report.proposal
    heading(console, "Mapping: where fields may be found")
    rows = table("field", "path", "share", "values", "")
    for field, found in proposal.candidates.items():
        for candidate in found:
            values = f"{candidate.distinct:,}: {', '.join(candidate.values)}"
            known = "found without a rule" if candidate.is_default else f"adds {percent(candidate.gain)}"
            known = known if candidate.is_default or candidate.gain else ""
            cells = (field, candidate.path, percent(candidate.share), values[:100], known)
            rows.add_row(*(Text(plain(cell)) for cell in cells))
    console.print(rows)
    for note in proposal.notes:
        console.print(Text(f"note: {plain(note)}", style="yellow"))
    if proposal.home_made:
        heading(console, "JSON of your own: paths for a mapping file (docs/mapping.md)")
        console.print(Text(plain("\n".join(proposal.home_made))))
    if proposal.config:
        heading(console, "For the configuration (--write puts it there)")
        out = io.StringIO()
        yaml.safe_dump(proposal.config, out, sort_keys=False, allow_unicode=True)
        console.print(Text(plain(out.getvalue().rstrip())))
