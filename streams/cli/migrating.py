"""What ``groundwatch migrate`` does, apart from talking to the user."""

import asyncio

from streams.cli.opened import opened_store
from streams.deployment import prepare
from streams.settings import Settings
from streams.settings.connect import connection_of
from streams.store import MigrationReport


def migrate_deployment(settings: Settings) -> list[str]:
    """Migrate and say what changed, a line each. Embedded, the store alone: topics are made at every start.

    Raises StoreUnavailable, BrokerUnavailable.
    """
    if settings.embedded:
        with opened_store(settings, read_only=False) as store:
            return [describe(store.migrate(retention_days=settings.store.retention_days))]
    done = asyncio.run(prepare(settings, connection_of(settings.kafka.internal)))
    return [describe(done.store), f"topics made: {', '.join(done.topics) or 'none'}"]


def describe(report: MigrationReport) -> str:
    """What a migration did, in one line."""
    files = ", ".join(f"{name} ({statements})" for name, statements in report.applied.items())
    return f"store: applied {files}" if files else "store: up to date"
