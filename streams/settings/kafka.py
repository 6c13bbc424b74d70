"""Settings of the two Kafka clusters: where traces come from, and where our own topics live."""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from streams.settings.parts import Names, Section


class KafkaConnection(Section):
    """How to reach one cluster."""

    bootstrap_servers: str = Field(
        "127.0.0.1:9092",
        pattern=r"^[^\s,:]+:\d{1,5}(\s*,\s*[^\s,:]+:\d{1,5})*$",
        description="Brokers to start from, host:port, separated by commas. Ignored when `embedded` is on. "
        "Wrong: the process waits `start_seconds`, names the brokers and exits with 69.",
    )
    ssl: bool = Field(
        default=False,
        description="Encrypt the connection. Wrong: the broker drops the connection during the handshake.",
    )
    ssl_ca_file: Path | None = Field(
        None,
        description="PEM file of the authority that signed the brokers' certificates; empty uses the system's. "
        "Wrong: certificate errors at start.",
    )
    ssl_cert_file: Path | None = Field(
        None, description="PEM file with our client certificate, for brokers that ask for one."
    )
    ssl_key_file: Path | None = Field(None, description="PEM file with the key of `ssl_cert_file`.")
    sasl_mechanism: Literal["", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        "", description="How to log in; empty for not at all. Wrong: authentication fails at start."
    )
    sasl_username: str = Field("", description="User for SASL.")
    sasl_password: SecretStr = Field(
        SecretStr(""), description="Password for SASL. Better given in the environment than in a file."
    )

    @model_validator(mode="after")
    def _credentials_are_complete(self) -> Self:
        if self.sasl_mechanism and not (self.sasl_username and self.sasl_password.get_secret_value()):
            message = "sasl_mechanism is set, so sasl_username and sasl_password are needed"
            raise ValueError(message)
        if self.ssl_key_file and not self.ssl_cert_file:
            message = "ssl_key_file is set, so ssl_cert_file is needed"
            raise ValueError(message)
        return self


class SourceKafka(KafkaConnection):
    """The cluster with the product's traces. We only read here."""

    topics: Names = Field(
        ("traces",),
        min_length=1,
        description="Topics with traces. Wrong: a topic that does not exist is waited for and named in the log.",
    )


class InternalKafka(KafkaConnection):
    """The cluster for our own gw.* topics; may be the same one."""

    partitions: int = Field(
        8,
        ge=1,
        le=512,
        description="Partitions of new gw.* topics, the most workers of one role that share the work. "
        "Too low: no scaling; too high: memory and file handles on the broker. Existing topics stay as they are.",
    )
    replication: int = Field(
        1,
        ge=1,
        le=9,
        description="Copies of each gw.* partition. 1: a lost broker disk loses verdicts that the store lacks yet; "
        "more than there are brokers: topics cannot be made.",
    )


class Kafka(Section):
    """The two connections."""

    source: SourceKafka = SourceKafka()
    internal: InternalKafka = InternalKafka()
