"""Settings: one file and the environment, read once by the command line; functions elsewhere get plain values."""

from streams.settings.fields import (
    Alerts,
    Ingest,
    Kafka,
    KafkaConnection,
    Log,
    Role,
    Settings,
    SourceKafka,
    Store,
    Verify,
    Web,
)
from streams.settings.loading import load_settings
from streams.settings.salt import deployment_salt

__all__ = [
    "Alerts",
    "Ingest",
    "Kafka",
    "KafkaConnection",
    "Log",
    "Role",
    "Settings",
    "SourceKafka",
    "Store",
    "Verify",
    "Web",
    "deployment_salt",
    "load_settings",
]
