"""What ``groundwatch migrate`` does, apart from talking to the user."""

import asyncio

from streams.cli.migrate import Migrated
from streams.cli.opened import opened_store
from streams.deployment import prepare
from streams.settings import Settings
from streams.settings.connect import connection_of


def migrate_deployment(settings: Settings) -> Migrated:
    """Migrate and say what changed. Embedded, the store alone: topics are made at every start.

    Raises StoreUnavailable, BrokerUnavailable.
    """
    if settings.embedded:
        with opened_store(settings, read_only=False, is_made_here=True) as store:
            return Migrated(store=store.migrate(retention_days=settings.store.retention_days).applied)
    done = asyncio.run(prepare(settings, connection_of(settings.kafka.internal)))
    differing = tuple(
        f"topic {one.topic}: {one.setting} is {one.found}, configured is {one.wanted}; it was left as it is"
        for one in done.differing
    )
    return Migrated(store=done.store.applied, topics=tuple(done.topics), differing=differing)
