"""Labelled answers for a calibration: read, kept apart from hold-outs, judged with a progress bar, written down."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from alerts.config import JumpConfig
from detectors.calibration import Target
from detectors.detector import Detector
from detectors.golden import GoldenSet, read_for_tuning, read_golden, trace_of
from detectors.layers import Layers
from detectors.screening import Screener
from sampling.policy_file import default_policy, default_policy_text
from schemas.errors import ConfigError
from schemas.golden import GoldenCase, Split
from schemas.policy import PolicyDocument
from schemas.slice import Slice
from schemas.verdict import Verdict
from streams.calibration.page import calibration_page
from streams.calibration.picture import calibration_picture
from streams.calibration.report import CalibrationReport
from streams.calibration.wanted import Wanted
from streams.calibration.work import Sources, calibrate
from streams.cli.checking import judge
from streams.cli.display import stderr
from streams.cli.golden_files import write
from streams.cli.layered import detectors_of
from streams.cli.policy_files import parsed
from streams.reviews.summary import ReviewStats
from streams.settings import Settings

BATCH = 16
REVIEWS = "labels of reviewers"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for; ``reviewed_since`` None: golden sets alone."""

    files: tuple[Path, ...]
    policy: Path | None
    target: Target
    base_rate: float | None
    slices: int
    deploys_per_month: float
    is_holdout: bool
    reviewed_since: datetime | None
    tenants: tuple[str, ...]
    seed: int


def calibrated(settings: Settings, asked: Asked, now: datetime) -> tuple[CalibrationReport, list[str]]:
    """The report, and why some reviewed answers are not in it. Raises ConfigError, NotReached, StoreUnavailable."""
    sets = [_read(path, is_holdout=asked.is_holdout) for path in asked.files]
    cases = _together(list(zip(asked.files, sets, strict=True)))
    names, versions = [path.name for path in asked.files], [golden.version for golden in sets]
    refused: list[str] = []
    stats: ReviewStats | None = None
    if asked.reviewed_since is not None:
        reviewed, refused, stats = _reviewed(settings, asked, now)
        fresh = list(_unseen(reviewed, asked.files, cases))
        names, versions, cases = [*names, REVIEWS], [*versions, GoldenSet(tuple(fresh)).version], [*cases, *fresh]
        if len(reviewed) > len(fresh):
            told = "reviewed answers are cases of a golden set already, or near its hold-out; they are not counted here"
            refused = [*refused, f"{len(reviewed) - len(fresh)} {told}"]
    wanted = _wanted(settings, asked, stats)
    golden = GoldenSet(tuple(cases))
    detector, above = detectors_of(settings)
    verdicts = judged(golden, detector, wanted.policy, now, above)
    return calibrate(golden, verdicts, wanted, Sources(tuple(names), tuple(versions))), refused


def judged(
    golden: GoldenSet, detector: Detector, policy: PolicyDocument, now: datetime, above: Layers
) -> dict[str, Verdict]:
    """Verdicts by case id on every recorded answer with a label of its own or of a claim."""
    ids = {item.case.case_id for item in golden.labelled()} | {case.case_id for case, _ in golden.labelled_claims()}
    cases = [case for case in golden.cases if case.case_id in ids]
    screener = Screener(detector)
    verdicts: dict[str, Verdict] = {}
    columns = (TextColumn("judge"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=stderr()) as progress:
        task = progress.add_task("judge", total=len(cases))
        for start in range(0, len(cases), BATCH):
            batch = cases[start : start + BATCH]
            found = judge([trace_of(case, now) for case in batch], detector, screener, policy, now, above=above)
            verdicts |= {case.case_id: verdict for case, verdict in zip(batch, found, strict=True)}
            progress.advance(task, len(batch))
    return verdicts


def write_report(report: CalibrationReport, folder: Path) -> Iterator[str]:
    """Page, picture, JSON and changed policy into a folder, with a line for each. Raises ConfigError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot make {folder}: {error.strerror}; give another folder for --out") from error
    write(folder / "calibration.html", calibration_page(report))
    write(folder / "calibration.json", report.model_dump_json(indent=1) + "\n")
    yield f"wrote {folder / 'calibration.html'} and {folder / 'calibration.json'}"
    yield _picture(report, folder / "calibration.png")
    if report.suggestion.policy:
        path = folder / "policy.yaml"
        write(path, report.suggestion.policy)
        yield f"wrote {path}: the policy with what is suggested; compare with `groundwatch policy diff {path}`"


def _picture(report: CalibrationReport, path: Path) -> str:
    try:
        content = calibration_picture(report)
    except ConfigError as error:
        return f"no {path.name}: {error}"
    try:
        path.write_bytes(content)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}; give another folder for --out") from error
    return f"wrote {path}"


def _read(path: Path, *, is_holdout: bool) -> GoldenSet:
    if not is_holdout:
        return read_for_tuning(path)
    held = read_golden(path).part(Split.HOLDOUT)
    if not held.cases:
        raise ConfigError(f"{path} has no hold-out; make one with `groundwatch golden split {path}`")
    return held


def _together(sets: Sequence[tuple[Path, GoldenSet]]) -> list[GoldenCase]:
    found: dict[str, Path] = {}
    for path, golden in sets:
        for case in golden.cases:
            first = found.setdefault(case.case_id, path)
            if first is not path:
                raise ConfigError(f"{path}: case {case.case_id!r} is in {first}, too; ids must differ between files")
    return [case for _, golden in sets for case in golden.cases]


def _unseen(reviewed: Sequence[GoldenCase], files: Sequence[Path], cases: Sequence[GoldenCase]) -> Iterator[GoldenCase]:
    """Reviewed answers that no golden set has, and that share no source with a hold-out."""
    held = [case for path in files for case in read_golden(path).part(Split.HOLDOUT).cases]
    ids = {name for case in (*cases, *held) for name in (case.case_id, case.trace_id) if name}
    sources = {case.source_id for case in held if case.source_id}
    return (case for case in reviewed if not ids & {case.case_id, case.trace_id} and case.source_id not in sources)


def _reviewed(settings: Settings, asked: Asked, now: datetime) -> tuple[list[GoldenCase], list[str], ReviewStats]:
    from streams.cli.reviewing import cases, days, stats  # noqa: PLC0415  the store's client is slow to import
    from streams.reviews.summary import StatsWanted, rolling  # noqa: PLC0415
    from streams.store import ReviewFilter  # noqa: PLC0415

    wanted = days(asked.reviewed_since, now, ReviewFilter(rolling(now).since, now))
    found, refused = cases(settings, wanted, asked.tenants)
    return found, refused, stats(settings, StatsWanted(wanted, seed=asked.seed), asked.tenants)


def _wanted(settings: Settings, asked: Asked, stats: ReviewStats | None) -> Wanted:
    policy = default_policy() if asked.policy is None else parsed(asked.policy)
    text = default_policy_text() if asked.policy is None else asked.policy.read_text(encoding="utf-8")
    alerts = settings.alerts
    by_slice, whole = ({}, None) if stats is None else _base_rates(stats)
    return Wanted(
        policy=policy,
        policy_text=text,
        target=asked.target,
        base_rate=asked.base_rate,
        by_slice=by_slice,
        whole=whole,
        seed=asked.seed,
        is_holdout=asked.is_holdout,
        jump=JumpConfig(pages_per_month=alerts.pages_per_month, jump_share=alerts.jump_share),
        slices=asked.slices,
        deploys_per_month=asked.deploys_per_month,
    )


def _base_rates(stats: ReviewStats) -> tuple[dict[Slice, float], float | None]:
    """Corrected rates that can double; a slice with too few labels has none and gets the default."""
    known = {Slice(intent=one.intent, tier=one.tier): one.corrected.rate for one in stats.slices}
    by_slice = {cell: rate for cell, rate in known.items() if rate is not None and _can_double(rate)}
    whole = stats.corrected.rate
    return by_slice, whole if whole is not None and _can_double(whole) else None


def _can_double(rate: float) -> bool:
    return 0 < rate < 0.5  # noqa: PLR2004  twice that is everything
