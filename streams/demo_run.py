"""``groundwatch demo``: three weeks of a made-up product through the normal pipeline, then live traffic.

Only the source of the traces is a demo; broker, roles, rules, buckets and thresholds are those of production.
"""

import asyncio
import json
import shutil
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

import structlog
from pydantic import SecretStr
from rich.console import Console

import demo
from demo.recipe import DEMO_RECIPE
from demo.stream import demo_traces, live_traces
from sampling.policy_file import parse_policy
from schemas.alert import Alert
from schemas.errors import ConfigError
from schemas.labels import AlertState
from streams.agents.batches import FAILED, Lifeline
from streams.agents.shell import EXIT_OK, install_signals
from streams.broker.publisher import Outgoing
from streams.clock import utc_now
from streams.demo_llm import Writer, small_model, told
from streams.inline.workers import Workers
from streams.logging import configure_logging
from streams.run import connected, run_loop, serve_roles
from streams.run_file import DEMO_FOLDER, find_running
from streams.runtime import Runtime
from streams.settings import Role, Settings
from streams.store import ALL_TENANTS, Store, StoreCounts

log = structlog.get_logger(__name__)
SOURCE_TOPIC = "demo.traces"
POLICY_FILE = Path(demo.__file__).with_name("demo_policy.yaml")
SEED = 20_26
AT_ONCE = 250
WATCH_SECONDS = 1.0
QUIET_PRINT_SECONDS = 5.0
VERDICT_SECONDS = 300.0
"""How long the next answer of the small model waits for the verdict on the last one."""
PATIENCE_SECONDS = 300.0
"""How long the demo waits for its alert; with ``--no-live`` it then says that none came."""
DRAIN_SECONDS = 5.0
"""How long Ctrl-C waits for what is in hand, as a call of the small model; nothing of it is kept for the next demo."""
EXIT_NO_ALERT = 1


@dataclass(slots=True)
class DemoRun:
    """What one demo run knows of itself; seconds count from ``began``."""

    console: Console
    live: bool
    rate: float
    writer: Writer | None = None
    """The language model that answers live questions; None without one."""
    began: float = field(default_factory=monotonic)
    sent: int = 0
    shown: set[str] = field(default_factory=set)
    alerted: asyncio.Event = field(default_factory=asyncio.Event)
    first_verdict_seconds: float | None = None
    alert_seconds: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return monotonic() - self.began


def run_demo(settings: Settings, *, live: bool, rate: float, llm: bool = False) -> int:
    """Run the demo in a fresh folder below ``data_dir``; ``rate`` is live traces a second.

    With ``llm`` a small language model on this machine answers a live question whenever it is done with the last one.
    Raises ConfigError when another demo runs on that folder, and when what serves the model is not installed.
    Exit codes are those of the process shell; without ``live`` 0 means that the alert fired, 1 that none came.
    """
    settings = _demo_settings(settings)
    if running := find_running(settings.data_dir):
        raise ConfigError(f"a demo runs on {settings.data_dir} (pid {running.pid}, {running.url}); stop it first")
    shutil.rmtree(settings.data_dir, ignore_errors=True)
    settings.data_dir.mkdir(parents=True)
    console = Console(highlight=False, soft_wrap=True)
    with (
        (settings.data_dir / "groundwatch.log").open("w", encoding="utf-8") as log_file,
        small_model(settings) if llm else nullcontext((settings, None)) as (settings, writer),
    ):
        run = DemoRun(console, live, rate, writer)
        configure_logging(settings.log.level, "json", log_file)
        return run_loop(lambda: _run(settings, run))


def _demo_settings(settings: Settings) -> Settings:
    kafka, models = settings.kafka, settings.models
    source = kafka.source.model_copy(update={"topics": (SOURCE_TOPIC,)})
    if models.use == "auto":  # 7,000 answers take a small machine a quarter of an hour by a model: only if asked for
        models = models.model_copy(update={"use": "none"})
    return settings.model_copy(
        update={
            "embedded": True,
            "data_dir": settings.data_dir.resolve() / DEMO_FOLDER,
            "kafka": kafka.model_copy(update={"source": source}),
            "models": models,
            "store": settings.store.model_copy(update={"dsn": SecretStr("")}),
            "alerts": settings.alerts.model_copy(update={"tick_seconds": 5.0}),
        }
    )


async def _run(settings: Settings, run: DemoRun) -> int:
    lifeline = Lifeline()
    install_signals(lifeline, min(DRAIN_SECONDS, settings.drain_seconds), late_code=EXIT_OK)
    run.console.print(f"Groundwatch demo. Log: {settings.data_dir / 'groundwatch.log'}")
    async with connected(
        settings, lifeline, first_policy=parse_policy(POLICY_FILE.read_text(encoding="utf-8"))
    ) as runtime:
        await _send_history(runtime, run)  # before anybody reads: a topic read to its end would make it late
        watched = runtime.open_store()
        tasks = [asyncio.create_task(_or_stop(_watch(watched, runtime, run), runtime))]
        if run.live:
            tasks.append(asyncio.create_task(_or_stop(_send_live(runtime, run), runtime)))
        if run.live and run.writer is not None:
            written = _send_written(run.writer, runtime, run)
            tasks.append(asyncio.create_task(_or_stop(written, runtime)))
        try:
            code = await serve_roles(runtime, tuple(Role))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    run.console.print("Stopped.")
    if not run.live and code == 0 and run.alert_seconds is None:
        run.console.print("No alert fired; see the log.")
        return EXIT_NO_ALERT
    return code


async def _or_stop(part: Coroutine[Any, Any, None], runtime: Runtime) -> None:
    """Run a part of the demo; what it cannot go on from ends the demo in the open."""
    try:
        await part
    except Exception:
        log.exception("demo_part_failed")
        runtime.lifeline.stop(f"{FAILED}: see the log")


async def _send_history(runtime: Runtime, run: DemoRun) -> None:
    traces = iter(demo_traces(utc_now(), SEED, DEMO_RECIPE))
    while chunk := list(islice(traces, AT_ONCE)):
        await _send(runtime, run, chunk)
    run.console.print(
        f"{run.seconds:5.0f} s  {run.sent:,} traces of the last {DEMO_RECIPE.window.days} days are in Kafka"
    )


async def _send_live(runtime: Runtime, run: DemoRun) -> None:
    recipe = DEMO_RECIPE.model_copy(update={"live_traces_per_second": run.rate})
    for trace in live_traces(utc_now(), SEED, recipe):
        await asyncio.sleep((datetime.fromisoformat(trace["ts"]) - utc_now()).total_seconds())
        await _send(runtime, run, [trace])


async def _send_written(writer: Writer, runtime: Runtime, run: DemoRun) -> None:
    """Answers of the small model, one after the verdict on the other, so that any machine keeps pace.

    Not before the alert: judging one takes half a minute, in which the others of its batch wait.
    """
    with suppress(TimeoutError):
        await asyncio.wait_for(run.alerted.wait(), PATIENCE_SECONDS)
    store = runtime.open_store()
    traces = writer.traces(SEED + 1)  # of its own: the same seed would give the trace ids of the other live traffic
    workers = Workers("demo-writer", 1)  # a call that hangs must not keep the process from ending
    while True:
        trace = await workers.run(partial(next, traces), monotonic() + PATIENCE_SECONDS)
        if trace is None:
            await asyncio.sleep(QUIET_PRINT_SECONDS)
            continue
        await _send(runtime, run, [trace])
        until = run.seconds + VERDICT_SECONDS
        while run.seconds < until:
            await asyncio.sleep(WATCH_SECONDS)
            found = await asyncio.to_thread(store.trace, trace["trace_id"], tenants=ALL_TENANTS)
            if found and found.verdicts:
                run.console.print(f"{run.seconds:5.0f} s  small model: {told(found.verdicts[-1])}")
                break


async def _send(runtime: Runtime, run: DemoRun, traces: Iterable[Mapping[str, Any]]) -> None:
    messages = [Outgoing(str(trace["trace_id"]).encode(), json.dumps(trace).encode()) for trace in traces]
    await runtime.publisher.send(SOURCE_TOPIC, messages)
    run.sent += len(messages)


async def _watch(store: Store, runtime: Runtime, run: DemoRun) -> None:
    """Show counts as they grow, and each alert once when it fires."""
    printed_at = -QUIET_PRINT_SECONDS
    while True:
        counts = await asyncio.to_thread(store.counts)
        if counts.verdicts and run.first_verdict_seconds is None:
            run.first_verdict_seconds = run.seconds
        for alert in await asyncio.to_thread(store.alerts, states=[AlertState.FIRING]):
            if alert.alert_id not in run.shown:
                _show(alert, runtime, run)
        if run.seconds - printed_at >= QUIET_PRINT_SECONDS:
            printed_at = run.seconds
            run.console.print(_status(counts, run))
        if not run.live and (run.shown or run.seconds > PATIENCE_SECONDS):
            runtime.lifeline.stop("demo done")
            return
        await asyncio.sleep(WATCH_SECONDS)


def _show(alert: Alert, runtime: Runtime, run: DemoRun) -> None:
    """The alert itself came from the standard output receiver; this says how long it took and where to look."""
    run.shown.add(alert.alert_id)
    run.alerted.set()
    run.alert_seconds = run.alert_seconds or run.seconds
    run.console.print(
        f"First verdict after {run.first_verdict_seconds or 0:.0f} s, this alert after {run.seconds:.0f} s.\n"
        f"Page: {runtime.url}/   Ctrl-C stops everything."
    )


def _status(counts: StoreCounts, run: DemoRun) -> str:
    return (
        f"{run.seconds:5.0f} s  sent {run.sent:,}  stored {counts.traces:,}  drawn {counts.drawn:,}"
        f"  verified {counts.verdicts:,}  alerts firing {counts.alerts_firing}"
    )
