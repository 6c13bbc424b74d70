"""ClickHouse, embedded or a server: the one place that knows it. Writes may be repeated; reads are named."""

from streams.store.checks import Verification
from streams.store.leads import WantedLeads
from streams.store.listing import ListFilter
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
    StoredSpan,
    StoredTrace,
    Tenants,
    TraceHead,
    Watermark,
)
from streams.store.reports import (
    CheckName,
    CheckProgress,
    CheckResult,
    FoundTrace,
    IntentTraffic,
    Lead,
    StoreStats,
    TableStats,
    TraceSummary,
    UnmappedShare,
)
from streams.store.reviews import Reviewable, ReviewFilter
from streams.store.store import Store

__all__ = [
    "ALL_TENANTS",
    "AlertAction",
    "AllTenants",
    "CheckName",
    "CheckProgress",
    "CheckResult",
    "Deploy",
    "ExpiredCount",
    "FlaggedAnswer",
    "FoundTrace",
    "IntentTraffic",
    "Lead",
    "ListFilter",
    "MigrationReport",
    "RebuildReport",
    "ReviewFilter",
    "Reviewable",
    "Store",
    "StoreCounts",
    "StoreStats",
    "StoredSpan",
    "StoredTrace",
    "TableStats",
    "Tenants",
    "TraceHead",
    "TraceSummary",
    "UnmappedShare",
    "Verification",
    "WantedLeads",
    "Watermark",
]
