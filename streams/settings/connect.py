"""From the settings of a cluster to a connection; the one place where passwords are unwrapped."""

import ssl
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr

from schemas.errors import ConfigError
from streams.broker.connection import Connection
from streams.broker.reading import Reading
from streams.settings.kafka import OWN_TOPICS, InternalKafka, KafkaConnection, SourceKafka
from streams.settings.secret_files import read_secret

_OWN = "|".join(name.replace(".", r"\.") for name in OWN_TOPICS)


def connection_of(settings: KafkaConnection) -> Connection:
    """The connection that the settings describe. Raises ConfigError when a file of a secret or certificate is wrong."""
    section = "kafka.internal" if isinstance(settings, InternalKafka) else "kafka.source"
    codec = settings.compression if isinstance(settings, InternalKafka) else "zstd"
    return Connection(
        bootstrap_servers=settings.bootstrap_servers,
        sasl_mechanism=settings.sasl_mechanism,
        sasl_username=settings.sasl_username,
        sasl_password=_secret(settings.sasl_password, settings.sasl_password_file, f"{section}.sasl_password_file"),
        ssl_context=_ssl_context(settings, section) if settings.ssl else None,
        client_id=settings.client_id,
        section=section,
        compression=None if codec == "none" else codec,
    )


def reading_of(settings: KafkaConnection, *, is_embedded: bool) -> Reading:
    """How groups read from the cluster, but for where they begin."""
    reading = Reading(
        fetch_bytes=settings.fetch_bytes,
        partition_fetch_bytes=settings.fetch_partition_bytes,
        fetch_wait_ms=settings.fetch_wait_ms,
        rack=settings.rack,
        refresh_seconds=settings.refresh_seconds,
        buffer_bytes=settings.buffer_bytes,
        is_watched=not is_embedded,
    )
    if not isinstance(settings, SourceKafka):
        return reading
    pattern = rf"(?!{_OWN}|__)(?:{settings.topic_pattern})" if settings.topic_pattern else ""
    return replace(reading, pattern=pattern, isolation_level=settings.isolation)


def start_of(settings: SourceKafka) -> datetime | None:
    """The time from which on new groups read; None for one of the two words."""
    return None if settings.start in ("earliest", "latest") else datetime.fromisoformat(settings.start)


def _secret(given: SecretStr, file: Path | None, key: str) -> str:
    return read_secret(file, key) if file else given.get_secret_value()


def _ssl_context(settings: KafkaConnection, section: str) -> ssl.SSLContext:
    ca, certificate, key = settings.ssl_ca_file, settings.ssl_cert_file, settings.ssl_key_file
    try:
        context = ssl.create_default_context(cafile=str(ca) if ca else None)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"{section}.ssl_ca_file: {ca} cannot be used ({_reason(error)}); give the PEM file of the authority that "
            "signed the brokers' certificates"
        ) from error
    context.check_hostname = settings.ssl_check_hostname
    if certificate:
        # Never None: OpenSSL would ask for the password of an encrypted key on the terminal.
        password = _secret(
            settings.ssl_key_password, settings.ssl_key_password_file, f"{section}.ssl_key_password_file"
        )
        try:
            context.load_cert_chain(certificate, key, password=password)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(
                f"{section}.ssl_cert_file: {certificate} with ssl_key_file {key or certificate} cannot be used "
                f"({_reason(error)}); both must be PEM and belong together, and an encrypted key needs ssl_key_password"
            ) from error
    return context


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
