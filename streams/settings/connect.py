"""From the settings of a cluster to a connection; the one place where the password is unwrapped."""

import ssl
from pathlib import Path

from schemas.errors import ConfigError
from streams.broker.connection import Connection
from streams.settings.kafka import KafkaConnection


def connection_of(settings: KafkaConnection) -> Connection:
    """The connection that the settings describe. Raises ConfigError when a certificate file cannot be used."""
    return Connection(
        bootstrap_servers=settings.bootstrap_servers,
        sasl_mechanism=settings.sasl_mechanism,
        sasl_username=settings.sasl_username,
        sasl_password=settings.sasl_password.get_secret_value(),
        ssl_context=_ssl_context(settings) if settings.ssl else None,
    )


def _ssl_context(settings: KafkaConnection) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=_text(settings.ssl_ca_file))
        if settings.ssl_cert_file:
            context.load_cert_chain(settings.ssl_cert_file, settings.ssl_key_file)
    except (OSError, ssl.SSLError) as error:
        files = [str(path) for path in (settings.ssl_ca_file, settings.ssl_cert_file, settings.ssl_key_file) if path]
        raise ConfigError(
            f"kafka ssl files ({', '.join(files)}) cannot be used: {error}; check their paths, and that the key is the "
            "certificate's"
        ) from error
    return context


def _text(path: Path | None) -> str | None:
    return str(path) if path else None
