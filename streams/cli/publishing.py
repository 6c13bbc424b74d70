"""Publishing a policy when no process with an API runs here: the same steps that the API takes."""

import asyncio
from datetime import datetime

from schemas.errors import NotReached
from schemas.policy import PolicyDocument, PolicyRecord
from streams.agents.policies import PolicyPublisher, read_policies
from streams.broker.publisher import Publisher
from streams.cli.opened import opened_store
from streams.settings import Settings
from streams.settings.connect import connection_of


def publish_policy(settings: Settings, document: PolicyDocument, author: str, now: datetime) -> PolicyRecord:
    """Append the policy to ``gw.policy`` and to the store's copy.

    Raises NotReached in embedded mode (the log's topic lives in the running process), BrokerUnavailable or
    StoreUnavailable; applying again is safe then.
    """
    if settings.embedded:
        raise NotReached(f"no process runs on {settings.data_dir}; start `groundwatch run`, then apply the policy")
    return asyncio.run(_publish(settings, document, author, now))


async def _publish(settings: Settings, document: PolicyDocument, author: str, now: datetime) -> PolicyRecord:
    connection = connection_of(settings.kafka.internal)
    publisher = Publisher(connection, settings.ingest.max_message_bytes)
    await publisher.start()
    try:
        with opened_store(settings, read_only=False) as store:
            known = await read_policies(connection, store.policy_records())
            return await PolicyPublisher(known, publisher, store).apply(document, author, now)
    finally:
        await publisher.stop()
