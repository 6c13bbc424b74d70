"""What it means when a cluster cannot be reached, and which setting mends it; secrets are never quoted."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiokafka.errors import (
    AuthenticationFailedError,
    AuthenticationMethodNotSupported,
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
    UnsupportedSaslMechanismError,
)

from schemas.errors import BrokerUnavailable
from streams.broker.client_log import overheard
from streams.broker.connection import Connection

_LOGIN = (
    AuthenticationFailedError,
    AuthenticationMethodNotSupported,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
_RIGHTS = (ClusterAuthorizationFailedError, GroupAuthorizationFailedError, TopicAuthorizationFailedError)
_SAID_CHARS = 200
_CAUSES = (
    (
        re.compile(r"hostname mismatch|IP address mismatch|doesn't match", re.IGNORECASE),
        "its certificate names another host",
        "{section}.bootstrap_servers (as the certificate names it) or, if that cannot be, {section}.ssl_check_hostname",
    ),
    (
        re.compile(r"certificate has expired|not yet valid", re.IGNORECASE),
        "its certificate is out of date",
        "the broker's certificate and this machine's clock",
    ),
    (
        re.compile(r"CERTIFICATE_VERIFY_FAILED|self[- ]signed|unable to get local issuer", re.IGNORECASE),
        "its certificate is not signed by an authority that we know",
        "{section}.ssl_ca_file",
    ),
    (
        re.compile(r"alert (?:certificate|bad certificate|unknown ca|handshake)|CERTIFICATE_REQUIRED", re.IGNORECASE),
        "it does not accept our certificate, or we have none",
        "{section}.ssl_cert_file and {section}.ssl_key_file",
    ),
    (
        re.compile(r"WRONG_VERSION_NUMBER|RECORD_LAYER|unexpected message", re.IGNORECASE),
        "it does not encrypt on that port",
        "{section}.ssl and the port in {section}.bootstrap_servers",
    ),
    (
        re.compile(
            r"Name or service not known|name resolution|nodename nor servname|No address associated|getaddrinfo"
        ),
        "a name in that address does not resolve",
        "{section}.bootstrap_servers, and this machine's name service (DNS)",
    ),
    (
        re.compile(r"authentication|sasl", re.IGNORECASE),
        "it refused the login",
        "{section}.sasl_mechanism, sasl_username and sasl_password ({variable} or sasl_password_file)",
    ),
)


def unreachable(error: BaseException, connection: Connection, said: Sequence[str] = ()) -> BrokerUnavailable:
    """The error in words, with the settings to check; ``said`` is what the client logged, as errors may say little."""
    section = connection.section
    variable = f"GROUNDWATCH_{section.upper().replace('.', '__')}__SASL_PASSWORD"
    lines = [*said, str(error), "authentication" if isinstance(error, _LOGIN) else ""]
    for pattern, cause, check in _CAUSES:
        if any(pattern.search(line) for line in lines):
            fix = check.format(section=section, variable=variable)
            return BrokerUnavailable(f"{connection.bootstrap_servers}: {cause} ({type(error).__name__}); check {fix}")
    if isinstance(error, _RIGHTS):
        return BrokerUnavailable(
            f"{connection.bootstrap_servers}: our user lacks a right ({type(error).__name__}); docs/kafka.md lists them"
        )
    if not isinstance(error, KafkaConnectionError | TimeoutError | OSError) and type(error) is not KafkaError:
        return BrokerUnavailable(
            f"{connection.bootstrap_servers}: {type(error).__name__}: {str(error)[:_SAID_CHARS]}; its log says more"
        )
    last = (said or [type(error).__name__])[-1][:_SAID_CHARS].rstrip(": ")
    return BrokerUnavailable(
        f"no broker answers at {connection.bootstrap_servers} ({last}); start it, or check "
        f"{section}.bootstrap_servers, {section}.ssl and {section}.ssl_cert_file (a listener that encrypts drops plain "
        f"connections and the other way round, one that wants certificates those without) and {section}.sasl_mechanism "
        "(likewise)"
    )


@asynccontextmanager
async def explained(connection: Connection) -> AsyncIterator[None]:
    """A block that connects: what fails in it is BrokerUnavailable with the cause and the setting to check."""
    with overheard() as said:
        try:
            yield
        except (KafkaError, TimeoutError, OSError) as error:
            raise unreachable(error, connection, said) from error
