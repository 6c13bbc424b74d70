"""``groundwatch policy``: check, compare, publish and look at sampling, thresholds and rules."""

import getpass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from sampling.policy_diff import CellTraffic, diff_policies
from sampling.policy_file import default_policy_text
from schemas.errors import ConfigError, GroundwatchError
from schemas.policy import PolicyDocument, PolicyRecord
from streams.cli import completions
from streams.cli.display import json_line, moment, plain, stderr, stdout
from streams.cli.exits import ExitCode
from streams.cli.options import AsJson, ConfigFile, moment_of, settings_of
from streams.cli.policy_files import checked_file, parsed
from streams.cli.policy_log import by_id, in_force
from streams.cli.policy_spend import forecasts
from streams.cli.policy_view import NamedDiff, describe_diff, describe_in_force, describe_record, describe_spend
from streams.clock import utc_now
from streams.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Sampling, thresholds and rules: one YAML file, published with a time.")
PolicyFile = Annotated[Path, typer.Argument(help="Policy file; `groundwatch policy example` prints one to start from.")]


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="Policy files.")],
    as_json: AsJson = False,
) -> None:
    """Check policy files without publishing or reaching anything; every fault with its line and what to write instead.

    Exit code 2 when a file is faulty.

    For example:

    - `groundwatch policy check policy.yaml`

    - `groundwatch policy check policies/*.yaml --json`
    """
    results = [checked_file(file) for file in files]
    for result in results:
        if as_json:
            json_line(result.model_dump(mode="json"))
        elif result.is_fine:
            stdout().print(plain(f"{result.file}: fine ({result.name})"))
        else:
            stderr().print(plain("\n".join(f"{result.file}: {fault}" for fault in result.faults)))
    if not all(result.is_fine for result in results):
        raise typer.Exit(ExitCode.WRONG_CONFIG)


@app.command()
def diff(
    file: PolicyFile,
    other: Annotated[Path | None, typer.Argument(help="Compare with this file instead of the policy in force.")] = None,
    config: ConfigFile = None,
    is_in_force: Annotated[
        bool, typer.Option("--in-force", help="Compare with the policy in force now; so it is without OTHER, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what FILE would change: thresholds, who is verified how often, rules, texts; nothing is published.

    Where a running process or a store is reached, last week's traffic says how many traces would be verified a day, and
    the last day's scores and prices what judges would cost, with a warning where that exceeds the budget.

    For example:

    - `groundwatch policy diff policy.yaml` against the policy in force

    - `groundwatch policy diff new.yaml old.yaml`
    """
    if other is not None and is_in_force:
        raise ConfigError("give either OTHER or --in-force, not both")
    new = parsed(file)
    settings, now = settings_of(config), utc_now()
    if other is None:
        holds = in_force(published(settings), now)
        name, old, overlays = holds.policy_id, holds.document, holds.overlays
    else:
        name, old, overlays = str(other), parsed(other), ()
    traffic, missing = _traffic_if_reached(settings, now)
    found = diff_policies(old, new, traffic, overlays)
    spend, unknown = forecasts(settings, (old, new), now)
    if as_json:
        pair = (spend[0], spend[1]) if spend else None
        json_line(NamedDiff(before=name, after=str(file), diff=found, spend=pair).model_dump(mode="json"))
        return
    stdout().print(describe_diff(found, name, str(file)))
    if spend:
        stdout().print(describe_spend(*spend))
    elif unknown:
        stderr().print(plain(f"No expected cost of judges: {unknown}"))
    if missing:
        stderr().print(plain(f"No expected numbers of verified traces: {missing}"))


@app.command()
def apply(
    file: PolicyFile,
    config: ConfigFile = None,
    author: Annotated[str, typer.Option(help="Who changes the policy, for the log; your login when left out.")] = "",
    as_json: AsJson = False,
) -> None:
    """Check a policy file and publish it; it takes effect at a bucket start, ten minutes from now or a little later.

    A file with a mistake is refused with exit code 2, and the policy in force stays in force. Where the new one asks
    judges, what they are expected to cost is said first, and which budgets that exceeds.

    For example: `groundwatch policy apply policy.yaml --author ana`
    """
    document = parsed(file)
    settings = settings_of(config)
    who = author or getpass.getuser()
    expected, _ = forecasts(settings, (document,), utc_now())
    if expected:
        stderr().print(describe_spend(None, expected[0]))
    text = file.read_text(encoding="utf-8")
    record = publish_through_process(settings, text, who) or publish_directly(settings, document, who)
    if as_json:
        json_line(record.model_dump(mode="json", exclude_none=True))
        return
    since = moment(record.effective_from) or "the beginning (first policy)"
    stdout().print(plain(f"Policy {record.policy_id} published; in force from {since}."))


@app.command()
def show(
    policy_id: Annotated[
        str, typer.Argument(help="Show this one, whenever it held.", autocompletion=completions.policy_ids)
    ] = "",
    config: ConfigFile = None,
    at: Annotated[str, typer.Option(help="Show what held then: 2026-03-10T12:00Z, 2026-03-10, or 6h, 7d ago.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show the policy in force: its document, the overlays on top of it, and what takes effect next.

    For example:

    - `groundwatch policy show`

    - `groundwatch policy show --at 2026-03-10T12:00Z`

    - `groundwatch policy show p3f2a90b1c7` as a trace names it, also `p3f2a90b1c7+s51c0e2d9aa`
    """
    if policy_id and at:
        raise ConfigError("give either an id or --at, not both")
    now = utc_now()
    records = published(settings_of(config))
    holds = by_id(records, policy_id) if policy_id else in_force(records, moment_of(at, now, "--at") or now)
    if as_json:
        json_line(holds.model_dump(mode="json"))
    else:
        stdout().print(describe_in_force(holds))


@app.command()
def log(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """List every published policy and overlay, oldest first: id, since when, by whom.

    For example: `groundwatch policy log`
    """
    records = published(settings_of(config))
    for record in records:
        if as_json:
            json_line(record.model_dump(mode="json", exclude_none=True))
        else:
            stdout().print(describe_record(record))
    if not records and not as_json:
        stdout().print("No policy was published yet; the default holds (`groundwatch policy example`).")


@app.command()
def example() -> None:
    """Print the annotated default policy.

    For example: `groundwatch policy example > policy.yaml`
    """
    typer.echo(default_policy_text(), nl=False)


def publish_through_process(settings: Settings, text: str, author: str) -> PolicyRecord | None:
    """Hand the text to the running process; None when none runs."""
    from streams.cli.opened import running_process  # noqa: PLC0415  the store's client is slow to import

    process = running_process(settings)
    if process is None:
        return None
    return PolicyRecord.model_validate(process.post("/api/v1/policy", text, author=author))


def publish_directly(settings: Settings, document: PolicyDocument, author: str) -> PolicyRecord:
    """Publish to topic and store. Raises NotReached in embedded mode, where both live in a running process."""
    from streams.cli.publishing import publish_policy  # noqa: PLC0415  Kafka clients are slow to import

    return publish_policy(settings, document, author, utc_now())


def published(settings: Settings) -> list[PolicyRecord]:
    """Documents and overlays of the log, oldest first; heartbeats are left out."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  the store's client is slow to import

    if process := running_process(settings):
        rows: list[Any] = process.get("/api/v1/policy")
        records = [PolicyRecord.model_validate(row) for row in rows]
    else:
        with opened_store(settings, read_only=True) as store:
            records = store.policy_records()
    return sorted((r for r in records if r.complete_until is None), key=lambda record: record.published_at)


def _traffic_if_reached(settings: Settings, now: datetime) -> tuple[list[CellTraffic], str]:
    """Last week's traffic, or why there is none: a comparison of files works without."""
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  as above
    from streams.traffic import read_traffic  # noqa: PLC0415

    try:
        if process := running_process(settings):
            rows: list[Any] = process.get("/api/v1/traffic", is_long=True)
            traffic = [CellTraffic.model_validate(row) for row in rows]
        else:
            with opened_store(settings, read_only=True) as store:
                traffic = read_traffic(store, now)
    except GroundwatchError as error:
        return [], str(error)
    return traffic, "" if traffic else "no traffic in the last 7 days"
