"""One process with some or all roles: connect, prepare what is embedded, start the roles, serve until stopped."""

import asyncio
import faulthandler
import gc
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import structlog
import uvloop

from schemas.policy import PolicyDocument
from streams.agents.batches import FAILED, Lifeline
from streams.agents.following import followed
from streams.agents.policies import KnownPolicies, without_heartbeats
from streams.agents.shell import EXIT_OK, install_signals, serve
from streams.broker.connection import Connection
from streams.broker.embedded import embedded_broker
from streams.broker.publisher import Publisher, record_message
from streams.broker.topics import DRAWN, POLICY, TopicSpec, create_topics
from streams.deployment import prepare
from streams.inline.running import start_check
from streams.roles import BUILDERS, start_web
from streams.runtime import Runtime
from streams.settings import Role, Settings, deployment_salt
from streams.settings.connect import connection_of
from streams.starting import Stopping, answers, reached
from streams.store import Store
from streams.store.standing import standing
from streams.watched import watch

log = structlog.get_logger(__name__)
GC_OBJECTS = 200_000
"""New objects after which the collector looks for circles among them: more than a batch has, of which none is garbage
before its end (some 110 objects a trace of 8 KB). Python's own 700 fit scripts."""
RESEND_AT_MOST = 20_000
"""Drawn traces sent again after an embedded restart; about 100 MB, and more than such a deployment leaves undone."""


def run(settings: Settings, roles: Sequence[str], reload: Callable[[], Settings] | None = None) -> int:
    """Run until a signal; the exit code says how it ended (see ``streams.agents.shell``).

    ``reload`` reads the settings again, for a replay of dead letters after a mapping was mended.
    """
    return run_loop(lambda: run_roles(settings, roles, reload))


def run_loop(main: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a coroutine to its end on uvloop, which carries about a quarter more messages a second.

    Faust's consumer threads keep the loops of asyncio: it calls into them from other threads, which uvloop, whose loops
    are native code, may answer by a crash. A crash in native code leaves the stacks of all threads on standard error.
    """
    faulthandler.enable()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


async def run_roles(settings: Settings, roles: Sequence[str], reload: Callable[[], Settings] | None = None) -> int:
    """Everything that ``groundwatch run`` does."""
    if Role.INGEST in roles:
        deployment_salt(settings)  # before anything is connected: without it nothing may be drawn
    lifeline = Lifeline()
    install_signals(lifeline, settings.drain_seconds)
    try:
        async with connected(settings, lifeline) as runtime:
            runtime.reload = reload
            return await serve_roles(runtime, [Role(role) for role in roles])
    except Stopping:  # while it waited for a broker or a store: nothing was begun
        return EXIT_OK


async def serve_roles(runtime: Runtime, roles: Sequence[Role]) -> int:
    """Start the roles and serve until the lifeline stops."""
    process = runtime.health.process
    process.is_starting = True
    process.look_again()  # the first answer of a probe is true as well
    probes = await watch(runtime)
    if Role.WEB in roles:  # before the others: alerts carry its address
        log.info("web_started", url=await start_web(runtime, probes))
    elif Role.CHECK in roles:
        log.info("check_started", url=await start_check(runtime, probes))
    apps = [await BUILDERS[role](runtime) for role in roles if role in BUILDERS]
    process.is_starting = False
    spare_the_collector()
    return await serve(apps, runtime.lifeline, runtime.settings.drain_seconds)


def spare_the_collector() -> None:
    """Let the cyclic collector pass over what is loaded by now, and come less often: it took a fifth of ingest.

    A batch is a hundred thousand objects without a circle among them. Errors, which make circles, are let go of by
    hand.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_OBJECTS, 20, 20)


@asynccontextmanager
async def connected(
    settings: Settings, lifeline: Lifeline, first_policy: PolicyDocument | None = None
) -> AsyncIterator[Runtime]:
    """A runtime with broker, store, policy log and publisher in place; all closed again at the end of the block.

    Embedded, the broker is started and tables, topics and a first policy are made; otherwise ``groundwatch migrate``
    did that. What is not there yet is waited for. Raises BrokerUnavailable or StoreUnavailable when that took longer
    than ``start_seconds``, Stopping when the process was told to stop meanwhile, and ConfigError.
    """
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        source, internal = await _connections(settings, lifeline, stack)
        store = await _store(settings, lifeline)
        stack.callback(store.close)
        if settings.embedded:
            await prepare(settings, internal, first_policy)
            topics = [TopicSpec(name, settings.kafka.internal.partitions) for name in settings.kafka.source.topics]
            await create_topics(source, topics)
        else:
            await _compare_versions(settings)
        publisher = Publisher(internal, settings.ingest.max_message_bytes)
        await publisher.start()
        stack.push_async_callback(publisher.stop)
        policies = KnownPolicies(without_heartbeats(await asyncio.to_thread(store.policy_records)))
        replica = followed(internal, POLICY, policies.on_record, lifeline)
        await replica.start()
        stack.push_async_callback(replica.stop)
        if settings.embedded:
            await _resend_drawn(store, publisher)
        yield Runtime(settings, source, internal, publisher, policies, lifeline, stack)


async def _connections(settings: Settings, lifeline: Lifeline, stack: AsyncExitStack) -> tuple[Connection, Connection]:
    if settings.embedded:

        def on_death(what: str) -> None:
            log.error("broker_ended", error=what, consequence="the process ends with 1; drawn traces are sent again")
            lifeline.stop(f"{FAILED}: {what}")

        broker = await stack.enter_async_context(embedded_broker(settings.data_dir / "broker.log", on_death=on_death))
        return broker, broker
    source, internal = connection_of(settings.kafka.source), connection_of(settings.kafka.internal)
    for name, connection in {"kafka.source": source, "kafka.internal": internal}.items():
        await reached(name, partial(answers, connection), settings.start_seconds, lifeline)
    return source, internal


async def _store(settings: Settings, lifeline: Lifeline) -> Store:
    """A server is waited for; a path is there or it is not, and who starts a second process on it wants to know now."""

    async def attempt() -> Store:
        return await asyncio.to_thread(Store.open, settings.store_dsn, database=settings.store.database)

    if settings.store_dsn.startswith("chdb:"):
        return await attempt()
    return await reached("store", attempt, settings.start_seconds, lifeline)


async def _compare_versions(settings: Settings) -> None:
    """Say what a store of another version means for this process: docs/upgrades.md."""
    found = await asyncio.to_thread(standing, settings.store_dsn, database=settings.store.database)
    if found.newer:
        log.warning("store_is_newer", has=found.newer, consequence="new columns keep their defaults")
    if found.missing:
        log.warning("store_is_older", lacks=found.missing, fix="run `groundwatch migrate`; what needs them waits")


async def _resend_drawn(store: Store, publisher: Publisher) -> None:
    """The embedded broker forgot ``gw.drawn`` at the restart; what was drawn and has no verdict goes there again."""
    rows = await asyncio.to_thread(store.draws_without_verdict, RESEND_AT_MOST)
    if len(rows) == RESEND_AT_MOST:
        log.warning("drawn_left_waiting", sent_again=len(rows), fix="the rest is sent again at the next start")
    if rows:
        log.info("drawn_sent_again", traces=len(rows))
        await publisher.send(DRAWN, [record_message(row.trace.trace_id, row) for row in rows])
