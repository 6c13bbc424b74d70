"""aiokafka's consumer as we use it everywhere: its stop ends."""

import asyncio

from aiokafka import AIOKafkaConsumer


class KafkaConsumer(AIOKafkaConsumer):  # type: ignore[misc]
    """A consumer whose ``stop`` is no cancellation of who calls it.

    aiokafka's own cancels the fetches in flight and waits for them: one that had not begun, or that waits to be tried
    again after a lost connection, ends it in a CancelledError. That would end a follower in silence, or a thread of the
    engine that somebody waits for.
    """

    async def stop(self) -> None:
        """Leave the group, and close all connections."""
        try:
            await super().stop()
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            await self._client.close()  # what was left to do


def is_cancelled() -> bool:
    """Whether somebody cancelled the running task; a CancelledError in it may be that of another, or of a future."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
