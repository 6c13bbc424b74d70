"""Starts what watches a process: questions to store and brokers, the probes, the watchdog."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import structlog
from aiokafka.errors import KafkaError

from schemas.errors import StoreUnavailable
from streams.agents.vitals import Follower
from streams.broker.connection import Connection
from streams.health.metrics import Sources, registry_of
from streams.health.probe import Probe
from streams.health.process import STORE, Process, Service
from streams.health.pulse import Pulse, end_process, remembered
from streams.health.server import ProbeRoutes, serve_probes
from streams.health.watchdog import Limits
from streams.settings.health import Health
from streams.store import Store

log = structlog.get_logger(__name__)
LOOK_SECONDS = 1.0
STORE_SECONDS = 5.0
ANSWER_SECONDS = 30.0
SOURCE, INTERNAL = "source", "internal"


def limits_of(settings: Health) -> Limits:
    """When something counts as stuck; joining a group may take three times as long as a batch may be missing."""
    return Limits(
        idle=settings.stall_seconds,
        batch=settings.batch_seconds,
        rebalance=3 * settings.stall_seconds,
        loop=settings.loop_seconds,
    )


async def start_watching(sources: Sources, settings: Health, data_dir: Path, stack: AsyncExitStack) -> ProbeRoutes:
    """Serve probes and metrics and start the watchdog until ``stack`` closes. Raises ConfigError (address in use)."""
    process = sources.process
    process.exits, process.last_exit_at = remembered(data_dir)
    if process.exits:
        log.info("watchdog_history", exits=dict(process.exits), last=str(process.last_exit_at))
    process.look_again()
    routes = ProbeRoutes(process, registry_of(sources))
    url = await serve_probes(routes, settings.host, settings.port, data_dir, stack)
    log.info("health_started", url=url, watchdog=settings.watchdog)
    if settings.watchdog:
        loop = asyncio.get_running_loop()
        pulse = Pulse(process, partial(end_process, data_dir=data_dir, loop=loop))
        pulse.start()
        stack.callback(pulse.stop)
    return routes


class ServiceChecks:
    """Asks store and brokers whether they answer, and how far the groups are."""

    def __init__(
        self, process: Process, store: Store, connections: dict[str, Connection], *, is_embedded: bool
    ) -> None:
        self._process = process
        self._store = store
        self._probes = {name: Probe(one, is_embedded=is_embedded) for name, one in connections.items()}
        process.services = {STORE: Service(), **{name: Service() for name in connections}}

    async def look(self) -> None:
        """Look at the process."""
        self._process.look_again()

    async def ask_store(self) -> None:
        """Whether the store answers, with a client that nothing else waits for."""
        service = self._process.services[STORE]
        try:
            is_there = await asyncio.wait_for(asyncio.to_thread(self._store.ping), ANSWER_SECONDS)
        except (StoreUnavailable, TimeoutError):
            is_there = False
        _note(service, self._process.clock(), is_there=is_there)

    async def ask_brokers(self) -> None:
        """Whether each cluster answers; and of each role's group how much waits."""
        for name, probe in self._probes.items():
            members = [one for one in self._process.members.values() if one.cluster == name]
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await probe.ping()
                    for member in members:
                        self._process.take_lag(member.role, await probe.look(member))
                    for follower in self._followers(name):
                        await probe.follow(follower)
            except (KafkaError, TimeoutError, OSError) as error:
                log.warning("broker_silent", cluster=name, error=type(error).__name__)
                _note(self._process.services[name], self._process.clock(), is_there=False)
            else:
                _note(self._process.services[name], self._process.clock(), is_there=True)

    def _followers(self, cluster: str) -> list[Follower]:
        """Who follows a topic of a cluster: only ours have such."""
        return list(self._process.lifeline.vitals.followers.values()) if cluster == INTERNAL else []

    async def stop(self) -> None:
        """Disconnect."""
        await asyncio.gather(*(probe.stop() for probe in self._probes.values()))


def _note(service: Service, now: float, *, is_there: bool) -> None:
    if is_there:
        service.answered(now)
    else:
        service.failed(now)
