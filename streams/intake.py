"""The two roles that take traces in: ingest reads the product's topics, assemble the spans that ingest made of them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import faust

from detectors.screening import Screener
from schemas.trace import Trace
from streams.agents.admission import Admission, IngestLimits
from streams.agents.app import assigned
from streams.agents.assemble import Assemble
from streams.agents.batches import Handle, Partition
from streams.agents.deadletter import Ceiling
from streams.agents.fates import Ledger
from streams.agents.ingest import Ingest
from streams.agents.quarantine import LeftOut
from streams.agents.watermarks import Watermarks, place_of
from streams.assembly import ClosingRules, OpenTraces
from streams.broker.topics import SPANS
from streams.clock import settled_now, utc_now
from streams.deadletters.halts import Halts
from streams.documents import CHECK_SECONDS, Documents
from streams.messages import Message
from streams.redaction.letters import concealing
from streams.redaction.redactor import Redactor, redactor_of
from streams.runtime import Runtime
from streams.settings import Role, deployment_salt
from streams.source_topics import source_reading
from streams.sources.checked import checked
from streams.sources.decode import LARGE_BYTES, SourceDecoder
from streams.sources.intents import Intents
from streams.sources.raw import Decoded
from streams.store import Store

WATERMARK_SECONDS = 2.0
CLOSING_SECONDS = 0.5
"""How often open traces are looked at between batches."""
Finish = Callable[[Trace], Trace]
OpenSince = Callable[[], Mapping[Partition, datetime]]


async def build_ingest(runtime: Runtime) -> faust.App:
    """Source topics to stored traces and ``gw.drawn``, or to ``gw.spans``."""
    settings = runtime.settings
    marks_store, watermarks = await _watermarks(runtime)
    topics, reading = await source_reading(runtime, marks_store)
    app = runtime.app(Role.INGEST, runtime.source, reading)
    step = await ingest_step(runtime, watermarks)
    handle: Handle = step.handle
    hazards = await runtime.hazards()
    if hazards is not None:  # an embedded broker forgets with the process where it stopped, too
        step.decode = hazards.watched(step.decode)
        handle = hazards.guarded(Halts.around(step, runtime.work_dir, runtime.lifeline).handle)
    runtime.attach(app, Role.INGEST, topics, handle, batch_size=settings.ingest.batch_size)
    _save_watermarks(runtime, app, watermarks, marks_store, dict)
    return app


async def ingest_step(runtime: Runtime, watermarks: Watermarks) -> Ingest:
    """What takes messages of source topics in, for the role and for a replay of dead letters."""
    settings = runtime.settings
    redactor = _redactor(runtime)
    return Ingest(
        admission=_admission(runtime),
        decode=_decoding(_source_decoder(runtime), await _finishing(runtime), redactor),
        watermarks=watermarks,
        ceiling=Ceiling(settings.ingest.dead_letter_max_run, settings.ingest.dead_letter_max_share),
        conceal=concealing(settings.privacy.dead_letter, redactor.key),
        record=_ledger(runtime).record,
    )


async def build_assemble(runtime: Runtime) -> faust.App:
    """``gw.spans`` to stored traces and ``gw.drawn``; holds acknowledgements while traces are open."""
    settings = runtime.settings
    app = runtime.app(Role.ASSEMBLE, runtime.internal, holds=True)
    marks_store, watermarks = await _watermarks(runtime)
    finish, redactor = await _finishing(runtime), _redactor(runtime)
    assembly = settings.assembly
    rules = ClosingRules(
        grace=timedelta(seconds=assembly.grace_seconds),
        quiet=timedelta(seconds=assembly.quiet_seconds),
        age=timedelta(seconds=assembly.max_age_seconds),
        spans=assembly.max_spans,
        bytes=assembly.max_bytes,
        total_bytes=assembly.max_open_bytes,
    )
    step = Assemble(
        admission=_admission(runtime),
        open=OpenTraces(rules),
        rules_of=_source_decoder(runtime).rules,
        finish=lambda trace, recorded_at: redactor.redact_trace(finish(checked(trace, recorded_at))),
        watermarks=watermarks,
        record=_ledger(runtime).record_unstored,
    )
    runtime.health.open_traces, runtime.health.assembled = step.open, step.emitted
    batch_size = settings.ingest.batch_size
    handle, step.read, _ = await runtime.guarded(step.handle, step.read)
    agent = runtime.attach(app, Role.ASSEMBLE, [SPANS], handle, batch_size=batch_size, held=step.held)

    async def forget(_app: Any, /, *revoked: Any, signal: Any, **_: Any) -> None:
        del signal
        partitions = [(tp.topic, tp.partition) for tps in revoked for tp in tps]
        agent.lose(partitions)
        step.lose(partitions)

    app.on_partitions_revoked.connect(forget, weak=False)

    async def close_quiet() -> None:
        ends = assigned(app)
        if ends:
            idle = watermarks.read_to_end(ends)
            await agent.pulse(lambda: step.tick(idle, settled_now()))

    runtime.every(CLOSING_SECONDS, "closing", close_quiet)
    _save_watermarks(runtime, app, watermarks, marks_store, step.open.began)
    return app


def _admission(runtime: Runtime) -> Admission:
    settings = runtime.settings
    return Admission(
        store=runtime.open_store(),
        publisher=runtime.publisher,
        policies=runtime.policies,
        screener=Screener(runtime.detector, max_answer_bytes=settings.ingest.max_answer_bytes),
        salt=deployment_salt(settings),
        now=utc_now,
        limits=IngestLimits(settings.store.retention_days, settings.ingest.max_message_bytes),
        settled_now=settled_now,
        refused=runtime.health.refused,
    )


def _ledger(runtime: Runtime) -> Ledger:
    return Ledger(runtime.open_store(), utc_now, runtime.health.fates, runtime.health.refused)


async def _finishing(runtime: Runtime) -> Finish:
    """What every trace gets before it is admitted: the bound on intents, and what a file of documents says."""
    intents = Intents(runtime.settings.ingest.max_intents)
    annotate = await annotating(runtime)
    return lambda trace: annotate(intents.folded(trace))


async def annotating(runtime: Runtime) -> Finish:
    """What a file of documents says of a trace's passages, kept up to date; without a file nothing."""
    file = runtime.settings.ingest.documents_file
    if file is None:
        return lambda trace: trace
    documents = await asyncio.to_thread(Documents.open, file)

    async def refresh() -> None:
        await asyncio.to_thread(documents.refresh)

    runtime.every(CHECK_SECONDS, "documents", refresh)
    return documents.annotated


def _source_decoder(runtime: Runtime) -> SourceDecoder:
    settings = runtime.settings
    decoder = SourceDecoder.of(settings.sources, max_message_bytes=settings.ingest.max_message_bytes)
    runtime.stack.push_async_callback(decoder.close)
    return decoder


def _redactor(runtime: Runtime) -> Redactor:
    return redactor_of(runtime.settings.privacy, deployment_salt(runtime.settings))


def _decoding(decoder: SourceDecoder, finish: Finish, redactor: Redactor) -> Callable[[Message], Awaitable[Decoded]]:
    """What a message holds, without personal data: nothing behind this has seen more."""

    async def decode(message: Message) -> Decoded:
        found = await decoder.decode(message)
        found = replace(found, traces=tuple(finish(trace) for trace in found.traces)) if found.traces else found
        if len(message.value or b"") < LARGE_BYTES:
            return redactor.redact_decoded(found)
        return await asyncio.to_thread(redactor.redact_decoded, found)

    return decode


async def _watermarks(runtime: Runtime) -> tuple[Store, Watermarks]:
    store = runtime.open_store()
    return store, Watermarks(await asyncio.to_thread(store.watermarks))


def _save_watermarks(
    runtime: Runtime, app: faust.App, watermarks: Watermarks, store: Store, open_since: OpenSince
) -> None:
    consequence = "the mark of that partition stays where it was, and so buckets stay open until one is taken again"
    left_out = LeftOut("watermarks", place_of, consequence, runtime.health.refused)

    async def save() -> None:
        rows = watermarks.rows(assigned(app), settled_now(), open_since())
        if rows:
            await asyncio.to_thread(left_out.write, store.insert_watermarks, rows)

    runtime.every(WATERMARK_SECONDS, "watermarks", save)
