"""A gate report for the terminal: the decision first, then what broke, for whom, and what changed."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from detectors.gate import Bucket
from schemas.labels import RiskTier
from streams.cli.display import columns, plain
from streams.gate.comparison import Comparison, PairedShare
from streams.gate.gates import GateResult
from streams.gate.junit import gate_line
from streams.gate.report import ChangedPart, GateReport, RunInfo
from streams.gate.summary import Share, Summary

_LONG = 100
_MOST_IDS = 20


def describe(report: GateReport) -> Group:
    """The whole report as text and tables; texts of cases and answers cannot style it."""
    return Group(*_parts(report))


def _parts(report: GateReport) -> Iterator[RenderableType]:
    failed = sum(not gate.is_passed for gate in report.gates)
    told = (
        ("PASSED", "bold green") if report.is_passed else (f"FAILED: {failed} of {len(report.gates)} gates", "bold red")
    )
    yield Text.assemble(
        told, plain(f"  {report.golden}, version {report.golden_version}, {report.whole.cases:,} cases")
    )
    yield _run_line("candidate", report.candidate)
    if report.baseline:
        yield _run_line("baseline", report.baseline)
        yield from _changed("product", report.changed_product, "the traces name no version that differs")
        yield from _changed("judging", report.changed_judging, "same detector, same policy")
    yield Text("")
    yield _gates_table(report.gates)
    yield Text("")
    yield _slices_table([*report.slices, report.whole])
    yield from _retrieval(report.tiers)
    if report.product:
        yield from _comparison("candidate against baseline, the same policy", report.product)
    if report.judging:
        yield from _comparison("the baseline's answers, new policy against its own", report.judging)
    for bucket in report.buckets:
        yield from _bucket(bucket, report.buckets_are_of)


def _run_line(name: str, run: RunInfo) -> Text:
    versions = "".join(f", {part} {'/'.join(values)}" for part, values in run.versions.items())
    strangers = f" ({run.strangers} lines belong to no case)" if run.strangers else ""
    judged = f"fingerprint {run.fingerprint or '-'}, policy {run.policy} {run.policy_id}"
    return Text(plain(f"{name:<10} {run.file}: {run.answers:,} answers{strangers}; {judged}{versions}"))


def _changed(what: str, parts: Sequence[ChangedPart], none: str) -> Iterator[Text]:
    told = "; ".join(f"{one.part} {one.before or '(none)'} -> {one.after or '(none)'}" for one in parts) or none
    yield Text(plain(f"{what} changed: {told}" if parts else f"{what}: {told}"), style="" if parts else "dim")


def _gates_table(gates: Sequence[GateResult]) -> Table:
    table = columns("gate", "tier", "", "value")
    for gate in sorted(gates, key=lambda gate: gate.is_passed):
        state = Text("passed", style="green") if gate.is_passed else Text("FAILED", style="bold red")
        table.add_row(gate.gate, _tier(gate.tier), state, Text(gate_line(gate)))
    return table


def _slices_table(slices: Sequence[Summary]) -> Table:
    names = ("slice", "cases", "passed", "failed", "missing", "unclear", "errors", "hallucinated (95 %)", "why failed")
    table = columns(*names, right=slice(1, 7))
    for one in slices:
        name = "all" if one.intent is None else f"{one.intent}, {one.tier}"
        numbers = (one.cases, one.passed, one.failed, one.missing, one.unclear, one.errors)
        why = ", ".join(f"{diagnosis} {count}" for diagnosis, count in one.diagnoses.items())
        table.add_row(Text(plain(name)), *(str(number) for number in numbers), _share(one.hallucinated), why)
    return table


def _retrieval(tiers: Sequence[Summary]) -> Iterator[Text]:
    for one in tiers:
        found = one.retrieval
        if found is not None:
            recall = ", ".join(f"@{depth} {value:.2f}" for depth, value in found.recall_at.items())
            precision = "-" if found.precision is None else f"{found.precision:.2f}"
            told = f"precision {precision}, recall {recall}, MRR {found.mrr:.2f} (n = {found.n})"
            yield Text(f"retrieval, {_tier(one.tier)}: {told}")


def _comparison(name: str, found: Comparison) -> Iterator[RenderableType]:
    yield Text(f"\n{name}", style="bold")
    table = columns("slice", "pairs", "newly failed", "newly passed", "difference of passed (95 %)", "McNemar p")
    for one in (*found.slices, found.whole):
        table.add_row(*_paired_cells(one))
    yield table
    for told, ids in (("newly failed", found.newly_failed), ("newly passed", found.newly_passed)):
        if ids:
            more = f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
            yield Text(plain(f"{told}: {', '.join(ids[:_MOST_IDS])}{more}"))
    if found.flips:
        yield Text("labels: " + ", ".join(f"{flip} ({count})" for flip, count in found.flips.items()))


def _paired_cells(one: PairedShare) -> tuple[Text, ...]:
    name = "all" if one.intent is None else f"{one.intent}, {one.tier}"
    undecided = f" (+{one.undecided} undecided)" if one.undecided else ""
    difference = f"{100 * one.difference:+.1f} % ({100 * one.low:+.1f} to {100 * one.high:+.1f})"
    cells = (
        name,
        f"{one.n}{undecided}",
        str(one.newly_failed),
        str(one.newly_passed),
        difference,
        f"{one.p_value:.3g}",
    )
    return tuple(Text(plain(cell)) for cell in cells)


def _bucket(bucket: Bucket, of: str) -> Iterator[Text]:
    owners = ", ".join(bucket.owners) or "nobody"
    count = len(bucket.cases)
    told = f"{count} {of.replace('_', ' ')}: {bucket.fault}; owner {owners}"
    yield Text.assemble("\n", (bucket.diagnosis.value, "bold"), plain(f"  {told}"))
    for one in bucket.examples:
        yield Text(plain(f"  {one.case_id} ({one.intent}, {one.tier})  {_short(one.question)}"))
        if one.answer:
            yield Text(plain(f"      answer  {_short(one.answer)}"), style="dim")
        if one.detail:
            yield Text(plain(f"      {bucket.fault}  {_short(one.detail)}"), style="dim")


def _share(found: Share) -> str:
    if found.value is None:
        return "nothing judged"
    return f"{100 * found.value:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f}, n = {found.n})"


def _tier(tier: RiskTier | None) -> str:
    return tier.value if tier else "all"


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _LONG else one_line[: _LONG - 1] + "…"
