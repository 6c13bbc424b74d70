"""Settings: one file and the environment, read once by the command line; functions elsewhere get plain values."""

from streams.settings.consistency import Consistency
from streams.settings.fields import Settings
from streams.settings.health import Health
from streams.settings.inline import Inline
from streams.settings.kafka import Kafka, KafkaConnection, SourceKafka
from streams.settings.loading import load_settings
from streams.settings.models import Models
from streams.settings.parts import Role
from streams.settings.salt import deployment_salt, known_salt
from streams.settings.sections import Alerts, Ingest, Log, Store, Web
from streams.settings.sources import SourceSettings
from streams.settings.verify import Verify

__all__ = [
    "Alerts",
    "Consistency",
    "Health",
    "Ingest",
    "Inline",
    "Kafka",
    "KafkaConnection",
    "Log",
    "Models",
    "Role",
    "Settings",
    "SourceKafka",
    "SourceSettings",
    "Store",
    "Verify",
    "Web",
    "deployment_salt",
    "known_salt",
    "load_settings",
]
