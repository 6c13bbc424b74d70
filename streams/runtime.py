"""What the roles of one process share: connections, the policy log, the publisher, and who gets told to stop."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import faust
import structlog

from detectors.detector import Detector
from detectors.evidence import load_evidence_detector
from detectors.layers import Layers
from schemas.errors import Retryable
from streams.agents.app import make_app
from streams.agents.batches import EXIT_BUG, Agent, Handle, Held, Lifeline, register
from streams.agents.policies import KnownPolicies
from streams.agents.vitals import Vitals
from streams.broker.connection import Connection
from streams.broker.publisher import Publisher
from streams.broker.reading import Losses, Reading
from streams.clock import clock_step, utc_now
from streams.deadletters.hazards import Hazards
from streams.health.members import Member
from streams.health.metrics import Sources
from streams.health.process import Process
from streams.health.watch import INTERNAL, SOURCE, limits_of
from streams.layers import close_layers, costs_money, events_of, load_layers, present
from streams.messages import Message
from streams.settings import KafkaConnection, Role, Settings
from streams.settings.connect import reading_of
from streams.spend import MEET_SECONDS, Spending, policy_now, spending_of
from streams.store import Store

log = structlog.get_logger(__name__)
EMBEDDED_SESSION_SECONDS = 6.0
"""The embedded broker makes a first join wait for a part of the session: shorter starts faster."""
SESSION_SECONDS = 15.0
BATCH_WAIT_SECONDS = 0.3
T = TypeVar("T")


@dataclass(slots=False)
class Runtime:
    """Shared by the roles of a process; ``stack`` closes what they open, last opened first."""

    settings: Settings
    source: Connection
    internal: Connection
    publisher: Publisher
    policies: KnownPolicies
    lifeline: Lifeline
    stack: AsyncExitStack
    losses: Losses = field(default_factory=Losses)
    """Messages that retention took before they were read, and topics that were made anew."""
    url: str = ""
    """Where the web role of this process is; empty without one."""
    reload: Callable[[], Settings] | None = None
    """Reads the settings again, as the next start of this process would; None where they came from no file."""
    _layers: Layers | None = None
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _alone: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Whose turn it is to have one suspect alone in hand."""

    @cached_property
    def detector(self) -> Detector:
        """The detector of this process, loaded once; weights are read at first use."""
        return load_evidence_detector()

    async def layers(self) -> Layers:
        """The layers above L1, loaded once for all roles of this process and before these count as ready.

        In a thread: it takes seconds, in which probes answer. Raises ConfigError as ``load_layers``.
        """
        async with self._loading:
            if self._layers is None:
                spending = self.spending if costs_money(self.settings) else None
                store = self.open_store() if self.settings.judge.url else None
                self._layers = await asyncio.to_thread(load_layers, self.settings, self.detector, spending, store)
                self.stack.callback(close_layers, self._layers)
                self.health.judge = partial(events_of, self._layers)
                process = self.health.process
                process.layers, process.without = present(self._layers), list(self._layers.notes)
            return self._layers

    @cached_property
    def spending(self) -> Spending:
        """The books of what judges cost in this process, from the first layer on that is paid for; ask in the loop."""
        made = spending_of(
            self.open_store(), lambda: policy_now(self.policies, utc_now()), instance=self.settings.instance_id
        )
        self.every(MEET_SECONDS, "spend", partial(asyncio.to_thread, made.meet))
        self.stack.push_async_callback(asyncio.to_thread, made.leave)
        self.health.spending = made.totals
        return made

    @cached_property
    def health(self) -> Sources:
        """What probes, metrics and the watchdog know of this process."""
        settings = self.settings.health
        process = Process(self.lifeline, limits_of(settings), settings.old_batch_seconds)
        return Sources(process, utc_now, losses=self.losses, clock_step=clock_step)

    @property
    def work_dir(self) -> Path:
        """Where this process may write."""
        return self.settings.data_dir

    def open_store(self) -> Store:
        """A store client of its own, since a client serves one call at a time."""
        store = Store.open(self.settings.store_dsn, database=self.settings.store.database)
        self.stack.callback(store.close)
        return store

    def app(
        self,
        role: str,
        connection: Connection,
        reading: Reading | None = None,
        *,
        is_timer: bool = False,
        holds: bool = False,
    ) -> faust.App:
        """The Faust app of a role; ``holds``: its agent acknowledges later than it handles.

        Without ``reading`` it reads as the settings of our own cluster say.
        """
        session = EMBEDDED_SESSION_SECONDS if self.settings.embedded else SESSION_SECONDS
        app = make_app(
            role,
            connection,
            self.work_dir,
            reading or self.reading(self.settings.kafka.internal),
            session_timeout_seconds=session,
            instance_id=self.settings.instance_id,
            is_timer=is_timer,
            holds=holds,
        )
        cluster = SOURCE if connection is self.source and role == Role.INGEST else INTERNAL
        self.health.process.members[role] = Member(role, app, cluster, self.lifeline.vitals.of(role))
        return app

    def reading(self, cluster: KafkaConnection) -> Reading:
        """How groups read from a cluster; what they lose is counted for the whole process."""
        return replace(reading_of(cluster, is_embedded=self.settings.embedded), losses=self.losses)

    def attach(  # noqa: PLR0913  what an agent is
        self, app: faust.App, role: Role, topics: Sequence[str], handle: Handle, *, batch_size: int, held: Held = dict
    ) -> Agent:
        """The one agent of a role."""
        self.health.process.members[role].topics = topics
        return register(
            app,
            topics,
            handle,
            self.lifeline,
            name=role,
            batch_size=batch_size,
            within_seconds=BATCH_WAIT_SECONDS,
            held=held,
        )

    async def hazards(self) -> Hazards | None:
        """What sees to it that no message kills this process again and again; one an agent.

        None with an embedded broker, which forgets with the process what it died on. Raises StoreUnavailable.
        """
        if self.settings.embedded:
            return None
        made = await Hazards.open(self.work_dir, self.open_store(), utc_now(), self._alone)
        self.stack.callback(made.close)
        watching = asyncio.create_task(made.until_stop(self.lifeline), name="until stop")
        self.stack.push_async_callback(_cancel, watching)
        return made

    async def guarded(
        self, handle: Handle, read: Callable[[Message], T]
    ) -> tuple[Handle, Callable[[Message], T], Callable[[Message], T | None]]:
        """Both with ``hazards``, where there are any: what an agent of our own topics does, and how it reads.

        And how it reads what was set aside.
        """
        hazards = await self.hazards()
        if hazards is None:
            return handle, read, lambda _: None
        return hazards.guarded(handle), hazards.checked(read), hazards.last_look(read)

    def every(self, seconds: float, name: str, step: Callable[[], Awaitable[None]]) -> None:
        """Run ``step`` again and again until the process stops; Retryable is logged, anything else ends the process."""
        vitals = self.lifeline.vitals.of_timer(name, seconds)
        task = asyncio.create_task(self._repeat(seconds, name, step, vitals), name=name)
        self.stack.push_async_callback(_cancel, task)

    async def _repeat(self, seconds: float, name: str, step: Callable[[], Awaitable[None]], vitals: Vitals) -> None:
        while not self.lifeline.stopping.is_set():
            await run_step(name, step, vitals)
            try:
                await asyncio.wait_for(self.lifeline.stopping.wait(), seconds)
            except TimeoutError:
                continue


async def run_step(name: str, step: Callable[[], Awaitable[None]], vitals: Vitals) -> None:
    """Run one step of a timer: what passes by itself waits for the next tick, a bug ends the process in the open."""
    vitals.begin()
    try:
        await step()
        vitals.done(1)
    except Retryable as error:
        vitals.give_up(error)
        log.warning("step_waits", step=name, error=str(error))
    except asyncio.CancelledError:
        raise
    except BaseException:
        log.exception("step_failed", step=name)
        os._exit(EXIT_BUG)


async def _cancel(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
