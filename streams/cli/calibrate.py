"""``groundwatch calibrate``: thresholds, the alert's operating point and reliability from people's labels."""

from pathlib import Path
from typing import Annotated

import typer

from detectors.calibration import Measure, Target
from schemas.errors import ConfigError
from streams.cli.calibrate_view import describe_report
from streams.cli.display import json_line, plain, stderr, stdout
from streams.cli.exits import ExitCode
from streams.cli.options import AsJson, ConfigFile, Tenant, moment_of, settings_of
from streams.clock import utc_now

DEFAULT_PRECISION = 0.8
LABELS_OF = "28d"


def calibrate(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    files: Annotated[list[Path] | None, typer.Argument(help="Golden sets, JSON Lines.")] = None,
    is_reviewed: Annotated[
        bool, typer.Option("--reviews", help="Answers that reviewers labelled, too, and base rates from their labels.")
    ] = False,
    policy: Annotated[
        Path | None, typer.Option(help="Policy file whose rules and bars hold; the default policy when left out.")
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Share of the flagged that must be hallucinated; 0.8 when left out."),
    ] = None,
    recall: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of the hallucinated that must be flagged, instead.")
    ] = None,
    base_rate: Annotated[
        float | None,
        typer.Option(help="True share of hallucinated answers in traffic, above 0 and below 0.5, for all slices."),
    ] = None,
    slices: Annotated[int, typer.Option(min=1, help="Slices that share the budget of false pages.")] = 200,
    deploys: Annotated[float, typer.Option(min=0, help="Deploys a month in a slice.")] = 10.0,
    is_holdout: Annotated[
        bool, typer.Option("--holdout", help="Measure the policy's thresholds on the hold-out; nothing is chosen.")
    ] = False,
    since: Annotated[str, typer.Option(help="With --reviews: labels of answers from this time on.")] = LABELS_OF,
    tenant: Tenant = None,
    seed: Annotated[int, typer.Option(min=0, help="Of folds and resamples: the same seed, the same report.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the page, the picture, the JSON and the changed policy.")
    ] = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Choose thresholds on labelled answers, measure them on answers of other sources, and say what is missing.

    Judges every recorded answer with the present detector. The hold-out of a golden set is never chosen on. Nothing is
    applied: --out writes a changed policy to compare and apply by hand. Exit code 1 when labels are too few (below 200,
    or all alike); the report is written all the same and says so (docs/calibration.md).

    For example:

    - `groundwatch calibrate golden.jsonl --precision 0.8 --base-rate 0.03 --out report`

    - `groundwatch calibrate golden.jsonl --reviews --recall 0.9 --policy policy.yaml`

    - `groundwatch calibrate golden.jsonl --holdout --policy report/policy.yaml --json`
    """
    from streams.cli.calibrating import Asked, calibrated, write_report  # noqa: PLC0415  loads weights

    if precision is not None and recall is not None:
        raise ConfigError("give --precision or --recall, one of the two: the other follows from it")
    if base_rate is not None and not 0 < base_rate < 0.5:  # noqa: PLR2004  it must be able to double
        raise ConfigError(f"--base-rate {base_rate}: give a share above 0 and below 0.5, for it must be able to double")
    if not files and not is_reviewed:
        raise ConfigError("give a golden set, --reviews for labels from the store, or both")
    if is_reviewed and is_holdout:
        raise ConfigError("--holdout measures the locked part of golden sets; labels of reviewers have none")
    target = Target(Measure.PRECISION, DEFAULT_PRECISION if precision is None else precision)
    now = utc_now()
    asked = Asked(
        files=tuple(files or ()),
        policy=policy,
        target=target if recall is None else Target(Measure.RECALL, recall),
        base_rate=base_rate,
        slices=slices,
        deploys_per_month=deploys,
        is_holdout=is_holdout,
        reviewed_since=moment_of(since or LABELS_OF, now, "--since") if is_reviewed else None,
        tenants=tuple(tenant or ()),
        seed=seed,
    )
    report, refused = calibrated(settings_of(config), asked, now)
    for reason in refused:
        stderr().print(plain(reason))
    if as_json:
        json_line(report.model_dump(mode="json"))
    else:
        stdout().print(describe_report(report))
    if out is not None:
        for line in write_report(report, out):
            stderr().print(plain(line))
    if not report.is_enough:
        raise typer.Exit(ExitCode.FOUND_FAULTS)
