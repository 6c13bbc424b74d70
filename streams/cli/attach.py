"""``groundwatch attach``: a look at topics that exist, before anything is set up; it joins no consumer group."""

import asyncio
import os
import secrets
import sys
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sampling.effective import compose
from sampling.policy_file import default_policy
from schemas.errors import ConfigError
from streams.cli.attach_view import show
from streams.cli.display import json_line, plain, stderr, stdout
from streams.cli.exits import ExitCode
from streams.cli.options import AsJson, ConfigFile, moment_of, settings_of
from streams.clock import utc_now
from streams.run_file import embedded_servers
from streams.settings import Settings, known_salt

if TYPE_CHECKING:
    from streams.attach.report import Attached
    from streams.attach.sample import Sample
    from streams.attach.study import Study
    from streams.broker.connection import Connection

MOST_MESSAGES = 50_000


def attach(  # noqa: PLR0913, PLR0917  each option of the command is a parameter
    bootstrap: Annotated[
        str,
        typer.Option(
            help="Brokers, host:port, separated by commas; else kafka.source, or the running embedded broker."
        ),
    ] = "",
    topic: Annotated[
        list[str] | None, typer.Option(help="Topic to look at; may be repeated. Left out: those of the configuration.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="A file instead: JSON Lines, plain or gzip, or one JSON or OTLP document.", dir_okay=False),
    ] = None,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, max=MOST_MESSAGES, help="Messages to read, over all partitions.")
    ] = 500,
    since: Annotated[
        str, typer.Option("--from", help="latest, earliest, or a time: 2026-03-10T12:00Z, 2026-03-10, or 6h, 7d ago.")
    ] = "latest",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Judge the sample in memory, and print outcomes by intent.")
    ] = False,
    examples: Annotated[
        bool, typer.Option(help="Show three assembled traces; personal data is redacted as far as it is recognised.")
    ] = True,
    write: Annotated[
        bool, typer.Option("--write", help="Put topics and mapping into the configuration file, after asking.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="With --write: without asking.")] = False,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Look at topics that carry traces, and say what groundwatch would make of them.

    Reads some messages of every partition without joining a consumer group, and prints: what they are, which share
    decodes, which fields are there and what each missing one costs, sizes, keys and clocks, three assembled traces,
    the mapping for the configuration, the rights that are needed, load and cost. Stores and sends nothing.

    Login and encryption come from kafka.source of the configuration or the environment, such as
    GROUNDWATCH_KAFKA__SOURCE__SASL_PASSWORD. Exit code 1 when nothing could be read as a trace.

    For example:

    - `groundwatch attach --bootstrap kafka:9092 --topic otlp_spans --topic otlp_logs`

    - `groundwatch attach --bootstrap kafka:9092 --topic otlp_spans --dry-run --write`

    - `groundwatch attach --file dump.jsonl.gz --json | jq .fields`
    """
    is_new = write and config is not None and not config.exists()
    settings = _settings(Path(os.devnull) if is_new else config, bootstrap)
    sample, servers = _sample(settings, bootstrap, topic or [], file, (count, since))
    report = _studied(sample, settings, servers, is_dry_run=dry_run, has_examples=examples)
    if as_json:
        json_line(report.model_dump(mode="json"))
    else:
        show(report, stdout())
    if write:
        _write(report, settings, config, servers, is_forced=force)
    if not report.traces:
        stderr().print("no trace came out of the sample; see the problems above")
        raise typer.Exit(ExitCode.FOUND_FAULTS)


def _settings(config: Path | None, bootstrap: str) -> Settings:
    """With --bootstrap the cluster is meant, whatever the configuration says of an embedded broker."""
    overrides: dict[str, Any] = {"kafka": {"source": {"bootstrap_servers": bootstrap}}, "embedded": False}
    return settings_of(config, overrides if bootstrap else None)


def _sample(
    settings: Settings, bootstrap: str, topics: list[str], file: Path | None, which: tuple[int, str]
) -> tuple["Sample", str]:
    """The messages, and the address that they came from; empty for a file and for the embedded broker."""
    from streams.attach.dump import read_dump  # noqa: PLC0415  Kafka clients are slow to import
    from streams.attach.topics import Wanted, read_topics  # noqa: PLC0415

    count, since = which
    names = list(dict.fromkeys(topics or settings.kafka.source.topics))
    if not names:
        raise ConfigError("kafka.source.topic_pattern stands for many topics; name those to look at with --topic")
    if file is not None:
        if bootstrap or len(topics) > 1:
            raise ConfigError("--file is looked at instead of a broker: leave out --bootstrap, and give one --topic")
        return read_dump(file, names[0], count, utc_now()), ""
    connection = _connection(settings)
    wanted = Wanted(count, _start(since))
    sample = asyncio.run(read_topics(connection, names, wanted))
    return sample, "" if settings.embedded else connection.bootstrap_servers


def _start(since: str) -> datetime | None:
    from streams.attach.topics import BEGINNING  # noqa: PLC0415  as above

    if since in {"latest", "earliest"}:
        return None if since == "latest" else BEGINNING
    return moment_of(since, utc_now(), "--from")


def _connection(settings: Settings) -> "Connection":
    from streams.broker.connection import Connection  # noqa: PLC0415  as above
    from streams.settings.connect import connection_of  # noqa: PLC0415

    if not settings.embedded:
        return connection_of(settings.kafka.source)
    return Connection(embedded_servers(settings.data_dir, "name brokers with --bootstrap, or a file with --file"))


def _studied(sample: "Sample", settings: Settings, servers: str, *, is_dry_run: bool, has_examples: bool) -> "Attached":
    from streams.attach.study import study  # noqa: PLC0415  as above

    with_ = _study(settings, servers, is_dry_run=is_dry_run, has_examples=has_examples)
    return asyncio.run(study(sample, with_))


def _study(settings: Settings, servers: str, *, is_dry_run: bool, has_examples: bool) -> "Study":
    from detectors.evidence import load_evidence_detector  # noqa: PLC0415  loads weights
    from streams.attach.study import Study  # noqa: PLC0415
    from streams.attach.trial import NO_JUDGE, Means  # noqa: PLC0415
    from streams.layers import asked_for  # noqa: PLC0415
    from streams.redaction.redactor import redactor_of  # noqa: PLC0415

    salt = known_salt(settings) or secrets.token_bytes(32)
    redactor = redactor_of(settings.privacy, salt)
    means = Means(
        detector=load_evidence_detector(),
        policy=compose("default", default_policy()),
        finish=redactor.redact_trace,
        now=utc_now(),
        clock=perf_counter,
        left_out=tuple(asked_for(settings)),
        judge=f"{settings.judge.model}, where a route names it; `groundwatch policy diff` forecasts the cost"
        if settings.judge.url
        else NO_JUDGE,
    )
    internal = settings.kafka.internal.bootstrap_servers
    is_set = "bootstrap_servers" in settings.kafka.internal.model_fields_set
    return Study(
        sources=settings.sources,
        max_message_bytes=settings.ingest.max_message_bytes,
        means=means,
        source=servers,
        internal=internal if is_set else servers,
        retention_days=settings.store.retention_days,
        is_dry_run=is_dry_run,
        has_examples=has_examples,
    )


def _write(report: "Attached", settings: Settings, config: Path | None, servers: str, *, is_forced: bool) -> None:
    from streams.cli.attach_write import change_of, config_path, planned, save  # noqa: PLC0415  ruamel is slow

    path = config_path(config)
    change = change_of(report, settings, servers)
    plan = planned(path, change)
    if not plan.diff:
        stderr().print(f"{path} says all this already")
        return
    stderr().print(plain(plan.diff))
    is_agreed = is_forced or not path.exists()
    if not is_agreed and not (sys.stdin.isatty() and typer.confirm(f"Change {path}?", err=True)):
        raise ConfigError(f"{path} was left as it is; --force changes it without asking")
    save(path, plan)
    stderr().print(f"wrote {path}; look at it with `groundwatch config check --config {path}`")
