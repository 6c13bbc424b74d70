"""What each role adds to a process: its Faust app with one agent, or its timer, or the web server."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import blake2b

import faust

from alerts.config import JumpConfig
from alerts.folder import Folder
from alerts.notify import Notifier, StdoutNotifier, WebhookNotifier
from alerts.rules import jump_rule, unmapped_rule
from alerts.unmapped import UnmappedConfig
from schemas.labels import RiskTier
from streams.agents.alert import AlertStep
from streams.agents.alert_pulse import AlertPulse
from streams.agents.budgets import BudgetWatch
from streams.agents.following import followed
from streams.agents.notified import Notified
from streams.agents.policies import PolicyPublisher
from streams.agents.sink import Sink
from streams.agents.telling import Teller
from streams.agents.verify import Verify
from streams.broker.topics import ALERT_LEADER, DRAWN, NOTIFIED, VERDICTS
from streams.clock import settled_now, utc_now
from streams.completion import llm_splitter
from streams.deadletters.running import replay_here
from streams.health.server import ProbeRoutes
from streams.inline.running import check_routes, served
from streams.intake import build_assemble, build_ingest
from streams.run_file import RunFile, remove_run_file, write_run_file
from streams.runtime import Runtime, run_step
from streams.settings import Role, known_salt
from streams.watched import count_again_and_again, coverage_counter
from streams.web import Api

CATCH_UP_SECONDS = 30.0
KNOWN_ALERTS = 1000
"""Stored alerts that a restarted leader must not tell again."""


async def build_verify(runtime: Runtime) -> faust.App:
    """``gw.drawn`` to ``gw.verdicts``."""
    settings = runtime.settings
    app = runtime.app(Role.VERIFY, runtime.internal)
    layers = await runtime.layers()
    runtime.health.fingerprint = lambda: (layers.models or runtime.detector).fingerprint
    step = Verify(
        publisher=runtime.publisher,
        policies=runtime.policies,
        detector=runtime.detector,
        now=utc_now,
        max_answer_bytes=settings.ingest.max_answer_bytes,
        max_message_bytes=settings.ingest.max_message_bytes,
        splitter=llm_splitter(settings.verify),
        layers=layers,
        counts=runtime.health.layers,
    )
    handle, step.read, step.last_look = await runtime.guarded(step.handle, step.read)
    runtime.attach(app, Role.VERIFY, [DRAWN], handle, batch_size=settings.verify.batch_size)
    return app


async def build_sink(runtime: Runtime) -> faust.App:
    """``gw.verdicts`` to the store."""
    settings = runtime.settings
    app = runtime.app(Role.SINK, runtime.internal)
    step = Sink(runtime.open_store(), runtime.publisher, settings.ingest.max_message_bytes)
    handle, step.read, _ = await runtime.guarded(step.handle, step.read)
    runtime.attach(app, Role.SINK, [VERDICTS], handle, batch_size=settings.ingest.batch_size)
    return app


async def build_alert(runtime: Runtime) -> faust.App:
    """The alert timer; among all processes with this role only the elected leader ticks."""
    app = runtime.app(Role.ALERT, runtime.internal, is_timer=True)
    runtime.health.process.members[Role.ALERT].topics = (ALERT_LEADER,)
    vitals = runtime.lifeline.vitals.of(Role.ALERT)
    vitals.every_seconds = runtime.settings.alerts.tick_seconds
    pulse = runtime.health.alert = AlertPulse()
    store = runtime.open_store()
    known = await asyncio.to_thread(store.alerts, limit=KNOWN_ALERTS)
    notifiers = _notifiers(runtime)
    notified = Notified()
    replica = followed(runtime.internal, NOTIFIED, notified.on_record, runtime.lifeline)
    await replica.start()
    runtime.stack.push_async_callback(replica.stop)
    if runtime.settings.embedded:
        notified.assume(known, [notifier.name for notifier in notifiers])
    policies = PolicyPublisher(runtime.policies, runtime.publisher, store)
    budgets = BudgetWatch(store, runtime.policies, policies, utc_now)
    runtime.health.budgets = lambda: budgets.pots
    step = AlertStep(
        store=store,
        policies=policies,
        folder=Folder(jump_rule(_jump_config(runtime)), known=known),
        unmapped=Folder(unmapped_rule(_unmapped_config(runtime)), known=known),
        teller=Teller(notifiers, notified, runtime.publisher, pulse, utc_now),
        now=utc_now,
        settled_now=settled_now,
        pulse=pulse,
    )

    async def whole() -> None:
        await step.tick()
        await budgets.look()

    @app.timer(runtime.settings.alerts.tick_seconds, on_leader=True)  # type: ignore[untyped-decorator]
    async def tick() -> None:
        if await replica.caught_up(CATCH_UP_SECONDS):
            await run_step("alert", whole, vitals)

    count_again_and_again(runtime)
    return app


def _jump_config(runtime: Runtime) -> JumpConfig:
    alerts = runtime.settings.alerts
    return JumpConfig(
        pages_per_month=alerts.pages_per_month,
        jump_share=alerts.jump_share,
        timezone=alerts.timezone,
        expected_rate={tier: getattr(alerts.expected_rate, tier.value) for tier in RiskTier},
    )


def _unmapped_config(runtime: Runtime) -> UnmappedConfig:
    alerts = runtime.settings.alerts
    return UnmappedConfig(share=alerts.unmapped_share, least_traces=alerts.unmapped_least_traces)


def _notifiers(runtime: Runtime) -> list[Notifier]:
    """Standard output always, and each webhook under a name that does not show its URL."""
    alerts = runtime.settings.alerts
    webhooks: list[Notifier] = [
        WebhookNotifier(
            url.get_secret_value(),
            name=f"webhook-{blake2b(url.get_secret_value().encode(), digest_size=4).hexdigest()}",
            page_url=runtime.url,
            timeout_seconds=alerts.webhook_timeout_seconds,
        )
        for url in alerts.webhook_urls
    ]
    return [StdoutNotifier(sys.stdout, page_url=runtime.url), *webhooks]


BUILDERS: dict[Role, Callable[[Runtime], Awaitable[faust.App]]] = {
    Role.INGEST: build_ingest,
    Role.ASSEMBLE: build_assemble,
    Role.VERIFY: build_verify,
    Role.SINK: build_sink,
    Role.ALERT: build_alert,
}
"""The roles that are Faust apps."""


async def start_web(runtime: Runtime, probes: ProbeRoutes) -> str:
    """Start the web server and say where it is; writes the address file that commands look for."""
    settings = runtime.settings
    store = runtime.open_store()
    api = Api(
        store=store,
        policies=runtime.policies,
        publisher=PolicyPublisher(runtime.policies, runtime.publisher, store),
        now=utc_now,
        probes=probes,
        coverage=coverage_counter(runtime),
        host=settings.web.host,
        reports=runtime.open_store(),
        salt=lambda: known_salt(settings),
        retention_days=settings.store.retention_days,
        negative_feedback=settings.web.negative_feedback,
        deploys_token=settings.web.deploys_token.get_secret_value(),
        replay=partial(replay_here, runtime),
        check=await check_routes(runtime) if Role.CHECK in settings.roles else None,
        check_token=settings.web.check_token.get_secret_value(),
    )
    url = runtime.url = await served(runtime, api.application())
    servers = runtime.internal.bootstrap_servers if settings.embedded else ""
    write_run_file(runtime.work_dir, RunFile(url, api.token, os.getpid(), servers))
    runtime.stack.callback(remove_run_file, runtime.work_dir, os.getpid())
    return url
