"""How to reach one Kafka cluster, translated once for aiokafka and once for Faust."""

import ssl
from dataclasses import dataclass, field, replace
from typing import Any, Self

import faust

CLIENT_ID = "groundwatch"


@dataclass(frozen=True, slots=True)
class Connection:
    """One cluster. ``sasl_mechanism`` is empty for none, else PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.

    ``client_id`` is what brokers know us by in quotas and logs; ``section`` names the settings in messages.
    """

    bootstrap_servers: str
    sasl_mechanism: str = ""
    sasl_username: str = ""
    sasl_password: str = field(default="", repr=False)
    ssl_context: ssl.SSLContext | None = field(default=None, repr=False)
    client_id: str = CLIENT_ID
    section: str = "kafka.source"
    compression: str | None = "zstd"
    """Codec of what we send there: gzip, snappy, lz4, zstd, or None."""

    @property
    def security_protocol(self) -> str:
        """The protocol name that Kafka clients use: (SASL_)PLAINTEXT or (SASL_)SSL."""
        return ("SASL_" if self.sasl_mechanism else "") + ("SSL" if self.ssl_context else "PLAINTEXT")

    def named(self, part: str) -> Self:
        """The same cluster under a client id that says which part of us asks."""
        return replace(self, client_id=f"{self.client_id}-{part}")

    def aiokafka_options(self) -> dict[str, Any]:
        """Keyword arguments for aiokafka's consumer, producer and admin client."""
        options: dict[str, Any] = {
            "bootstrap_servers": self.bootstrap_servers,
            "security_protocol": self.security_protocol,
            "client_id": self.client_id,
        }
        if self.ssl_context is not None:
            options["ssl_context"] = self.ssl_context
        if self.sasl_mechanism:
            options["sasl_mechanism"] = self.sasl_mechanism
            options["sasl_plain_username"] = self.sasl_username
            options["sasl_plain_password"] = self.sasl_password
        return options

    def faust_options(self) -> dict[str, Any]:
        """The Faust settings that name a broker, its credentials and us."""
        servers = [f"aiokafka://{server.strip()}" for server in self.bootstrap_servers.split(",")]
        return {
            "broker": servers,
            "broker_credentials": self._faust_credentials(),
            "broker_client_id": self.client_id,
        }

    def _faust_credentials(self) -> Any:
        if self.sasl_mechanism:
            return faust.SASLCredentials(
                mechanism=self.sasl_mechanism,
                username=self.sasl_username,
                password=self.sasl_password,
                ssl_context=self.ssl_context,
            )
        return faust.SSLCredentials(context=self.ssl_context) if self.ssl_context else None
