"""The work of ``groundwatch gate``: sets and runs read, answers judged, the report put together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from detectors.golden import GoldenSet, read_golden
from schemas.errors import ConfigError
from schemas.golden import Split
from schemas.policy import PolicyDocument
from streams.cli.display import stderr
from streams.cli.gate_runs import Judge, Run, judged_run, read_run
from streams.cli.layered import detectors_of
from streams.gate.limits import Limits
from streams.gate.report import Baseline, GateReport, Golden, report_of
from streams.settings import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be judged, and by what; ``splits`` empty: all cases."""

    golden: Path
    candidate: Path
    baseline: Path | None
    policy: PolicyDocument
    baseline_policy: PolicyDocument | None
    limits: Limits
    splits: tuple[Split, ...] = ()


def gated(asked: Asked, settings: Settings, now: datetime) -> GateReport:
    """The report; shows its progress on a terminal. Raises ConfigError for a set or a run that cannot be used."""
    whole = read_golden(asked.golden)
    part = whole.part(*asked.splits) if asked.splits else whole
    if not part.cases:
        of = f" of split {', '.join(asked.splits)}" if asked.splits else ""
        raise ConfigError(f"{asked.golden} has no case{of}, so there is nothing to judge; add cases")
    kept = part.by_id()
    others = [case.case_id for case in whole.cases if case.case_id not in kept]
    runs = [read_run(file, part.cases, others, now) for file in (asked.candidate, asked.baseline) if file is not None]
    detector, above = detectors_of(settings)
    by = Judge(detector, asked.policy, asked.limits.rules(), now, above)
    return _judged(asked, Golden(str(asked.golden), whole.version, asked.splits), part, runs, by)


def _judged(asked: Asked, golden: Golden, part: GoldenSet, runs: Sequence[Run], by: Judge) -> GateReport:
    earlier = asked.baseline_policy if asked.baseline_policy != asked.policy else None
    columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = stderr()
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("", total=len(part.cases) * (len(runs) + (earlier is not None)))

        def done(count: int) -> None:
            progress.advance(task, count)

        results, info = judged_run(runs[0], part.cases, by, done)
        baseline: Baseline | None = None
        for run in runs[1:]:
            before, before_info = judged_run(run, part.cases, by, done)
            baseline = Baseline(before_info, before)
            if earlier is not None:
                own, own_info = judged_run(run, part.cases, replace(by, policy=earlier), done)
                baseline = Baseline(own_info, before, own)
    return report_of(golden, info, results, asked.limits, baseline)
