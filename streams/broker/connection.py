"""How to reach one Kafka cluster, translated once for aiokafka and once for Faust."""

import ssl
from dataclasses import dataclass, field
from typing import Any

import faust


@dataclass(frozen=True, slots=True)
class Connection:
    """One cluster. ``sasl_mechanism`` is empty for none, else PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."""

    bootstrap_servers: str
    sasl_mechanism: str = ""
    sasl_username: str = ""
    sasl_password: str = field(default="", repr=False)
    ssl_context: ssl.SSLContext | None = field(default=None, repr=False)

    @property
    def security_protocol(self) -> str:
        """The protocol name that Kafka clients use: (SASL_)PLAINTEXT or (SASL_)SSL."""
        return ("SASL_" if self.sasl_mechanism else "") + ("SSL" if self.ssl_context else "PLAINTEXT")

    def aiokafka_options(self) -> dict[str, Any]:
        """Keyword arguments for aiokafka's consumer, producer and admin client."""
        options: dict[str, Any] = {
            "bootstrap_servers": self.bootstrap_servers,
            "security_protocol": self.security_protocol,
        }
        if self.ssl_context is not None:
            options["ssl_context"] = self.ssl_context
        if self.sasl_mechanism:
            options["sasl_mechanism"] = self.sasl_mechanism
            options["sasl_plain_username"] = self.sasl_username
            options["sasl_plain_password"] = self.sasl_password
        return options

    def faust_options(self) -> dict[str, Any]:
        """The two Faust settings that name a broker and its credentials."""
        servers = [f"aiokafka://{server.strip()}" for server in self.bootstrap_servers.split(",")]
        return {"broker": servers, "broker_credentials": self._faust_credentials()}

    def _faust_credentials(self) -> Any:
        if self.sasl_mechanism:
            return faust.SASLCredentials(
                mechanism=self.sasl_mechanism,
                username=self.sasl_username,
                password=self.sasl_password,
                ssl_context=self.ssl_context,
            )
        return faust.SSLCredentials(context=self.ssl_context) if self.ssl_context else None
