"""A replay with the parts of a process: its store, publisher and policy log, and source formats as they are now."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_fixed

from schemas.errors import PolicyIncomplete
from streams.agents.batches import PART_BYTES
from streams.agents.watermarks import Watermarks
from streams.deadletters.envelope import Whole
from streams.deadletters.letters import Position
from streams.deadletters.reading import read_whole
from streams.deadletters.replaying import Outcome, Replayer
from streams.intake import ingest_step
from streams.runtime import Runtime
from streams.settings import Settings

POLICY_SECONDS = 30.0
"""How long the policy log may take to be read, in a command that has just started."""


async def replay_here(runtime: Runtime, positions: Sequence[Position]) -> list[Outcome]:
    """``replay_letters`` in a process that runs: formats, mappings and rules (``sources``) are read anew, so that a
    mended mapping counts before the process is started again. Raises ConfigError when they are wrong.
    """  # noqa: D205  what is read anew belongs into the first sentence
    settings = runtime.settings
    if runtime.reload is not None:
        fresh = await asyncio.to_thread(runtime.reload)
        settings = settings.model_copy(update={"sources": fresh.sources})
    return await replay_letters(runtime, settings, positions)


async def replay_letters(runtime: Runtime, settings: Settings, positions: Sequence[Position]) -> list[Outcome]:
    """What became of each letter; those that are not on the topic (any longer) are left out.

    ``settings`` say how messages are read (``sources``). Raises Retryable, ConfigError, NotReached; what was replayed
    before stays so, and replaying all again changes nothing.
    """
    outcomes: list[Outcome] = []
    async with AsyncExitStack() as stack:
        own = replace(runtime, settings=settings, stack=stack)
        own.detector = runtime.detector  # its weights are loaded already
        replayer = Replayer(await ingest_step(own, Watermarks()))
        async with aclosing(_parts(runtime, positions, settings.ingest.batch_size)) as parts:
            async for part in parts:
                async for attempt in AsyncRetrying(
                    retry=retry_if_exception_type(PolicyIncomplete),
                    wait=wait_fixed(0.5),
                    stop=stop_after_delay(POLICY_SECONDS),
                    reraise=True,
                ):
                    with attempt:
                        outcomes += await replayer.replay(part)
    return outcomes


async def _parts(runtime: Runtime, positions: Sequence[Position], most: int) -> AsyncGenerator[list[Whole]]:
    """Letters together up to ``most`` and 16 MB, as in a batch."""
    part: list[Whole] = []
    size = 0
    async for whole in read_whole(runtime.internal, positions):
        if part and (len(part) >= most or size + whole.letter.kept_bytes > PART_BYTES):
            yield part
            part, size = [], 0
        part.append(whole)
        size += whole.letter.kept_bytes
    if part:
        yield part
