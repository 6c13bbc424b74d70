"""ClickHouse, embedded or a server: the one place that knows it. Writes may be repeated; reads are named."""

from streams.store.records import (
    ALL_TENANTS,
    AlertAction,
    AllTenants,
    Deploy,
    ExpiredCount,
    FlaggedAnswer,
    MigrationReport,
    RebuildReport,
    StoreCounts,
    StoredTrace,
    Tenants,
    TraceHead,
    Watermark,
)
from streams.store.store import Store

__all__ = [
    "ALL_TENANTS",
    "AlertAction",
    "AllTenants",
    "Deploy",
    "ExpiredCount",
    "FlaggedAnswer",
    "MigrationReport",
    "RebuildReport",
    "Store",
    "StoreCounts",
    "StoredTrace",
    "Tenants",
    "TraceHead",
    "Watermark",
]
