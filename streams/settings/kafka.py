"""Settings of the two Kafka clusters: where traces come from, and where our own topics live."""

import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, field_validator, model_validator

from streams.settings.parts import Names, Section, is_pattern

OWN_TOPICS = ("gw.", "groundwatch.")
"""How the names of our own topics begin; they are never read as sources."""

OptionalPath = Annotated[Path | None, BeforeValidator(lambda value: value or None)]
"""A path; empty, as in a variable that is set to nothing, for none."""


class KafkaConnection(Section):
    """How to reach one cluster, and how much is read from it at once."""

    bootstrap_servers: str = Field(
        "127.0.0.1:9092",
        pattern=r"^[^\s,:]+:\d{1,5}(\s*,\s*[^\s,:]+:\d{1,5})*$",
        description="Brokers to start from, host:port, separated by commas. Ignored when `embedded` is on. "
        "Wrong: the process waits `start_seconds`, names the brokers and exits with 69.",
    )
    client_id: str = Field(
        "groundwatch",
        pattern=r"^[A-Za-z0-9._-]{1,100}$",
        description="Name under which brokers know us in quotas and logs; the part that asks is added, as in "
        "groundwatch-ingest. Wrong: a quota that an administrator set for us does not hold.",
    )
    ssl: bool = Field(
        default=False,
        description="Encrypt the connection. Wrong: the broker drops the connection during the handshake.",
    )
    ssl_ca_file: OptionalPath = Field(
        None,
        description="PEM file of the authority that signed the brokers' certificates; empty uses the system's. "
        "Wrong: certificate errors at start.",
    )
    ssl_cert_file: OptionalPath = Field(
        None, description="PEM file with our client certificate, for brokers that ask for one."
    )
    ssl_key_file: OptionalPath = Field(None, description="PEM file with the key of `ssl_cert_file`.")
    ssl_key_password: SecretStr = Field(SecretStr(""), description="Password of an encrypted `ssl_key_file`.")
    ssl_key_password_file: OptionalPath = Field(None, description="File that holds `ssl_key_password` instead.")
    ssl_check_hostname: bool = Field(
        default=True,
        description="Whether a broker's certificate must name the host that we connect to. Off: anyone with a "
        "certificate of that authority can pose as the broker.",
    )
    sasl_mechanism: Literal["", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        "", description="How to log in; empty for not at all. Wrong: authentication fails at start."
    )
    sasl_username: str = Field("", description="User for SASL.")
    sasl_password: SecretStr = Field(
        SecretStr(""), description="Password for SASL. Better given in the environment, or by `sasl_password_file`."
    )
    sasl_password_file: OptionalPath = Field(
        None, description="File that holds `sasl_password` instead, as secrets are mounted; read at start."
    )
    fetch_bytes: int = Field(
        16_000_000,
        ge=100_000,
        le=256_000_000,
        description="Most bytes of one answer of a broker, as they lie on its disk; one larger message still comes. "
        "Lower: less load on the broker when a backlog is read, and more requests.",
    )
    fetch_partition_bytes: int = Field(
        1_000_000,
        ge=10_000,
        le=256_000_000,
        description="Most bytes of one partition in such an answer. Too low: a backlog on few partitions is read "
        "slowly; too high: a busy partition makes others wait.",
    )
    fetch_wait_ms: int = Field(
        500,
        ge=1,
        le=30_000,
        description="Milliseconds that a broker may wait for messages before it answers with nothing. Lower: more "
        "empty requests while a topic is quiet.",
    )
    buffer_bytes: int = Field(
        64_000_000,
        ge=1_000_000,
        le=16_000_000_000,
        description="Bytes of messages that each role reads ahead of its work; one larger message passes alone. "
        "Higher: memory while the store is away; lower: batches become smaller than `ingest.batch_size`.",
    )
    refresh_seconds: float = Field(
        30.0,
        ge=1,
        le=600,
        description="Seconds between two looks at the cluster's topics: new partitions, topics that begin to match, "
        "messages lost to retention. Each asks for the metadata of all topics that our user may see.",
    )
    rack: str = Field(
        "",
        max_length=100,
        description="Rack or zone of this process, as brokers name theirs: reads then come from a replica nearby, "
        "where the cluster allows that. Wrong: reads come from leaders, as without it.",
    )

    @model_validator(mode="after")
    def _credentials_are_complete(self) -> Self:
        for name in ("sasl_password", "ssl_key_password"):
            if getattr(self, name).get_secret_value() and getattr(self, f"{name}_file"):
                message = f"{name} and {name}_file are both set; keep one"
                raise ValueError(message)
        has_password = bool(self.sasl_password.get_secret_value() or self.sasl_password_file)
        if self.sasl_mechanism and not (self.sasl_username and has_password):
            message = "sasl_mechanism is set, so sasl_username and sasl_password are needed (or sasl_password_file)"
            raise ValueError(message)
        if self.ssl_key_file and not self.ssl_cert_file:
            message = "ssl_key_file is set, so ssl_cert_file is needed"
            raise ValueError(message)
        unused = [name for name in ("ssl_ca_file", "ssl_cert_file", "ssl_key_file") if getattr(self, name)]
        if unused and not self.ssl:
            message = f"{', '.join(unused)} would not be used: set ssl to true"
            raise ValueError(message)
        return self


class SourceKafka(KafkaConnection):
    """The cluster with the product's traces. We only read here."""

    topics: Names = Field(
        ("traces",),
        description="Topics with traces. Wrong: a topic that does not exist is waited for and named in the log.",
    )
    topic_pattern: str = Field(
        "",
        description="Instead of `topics`: a pattern (RE2; upper and lower case differ) for the whole name, such as "
        r"`rag\.(chat|search)\..*`. Topics that begin to match are read from their beginning. Wrong: nothing is read, "
        "or messages that are no traces go to the dead letter.",
    )
    start: str = Field(
        "earliest",
        description="Where to begin with topics that this deployment has never read: earliest, latest, or a time such "
        "as 2026-03-01T00:00:00Z. Later on the group's offsets decide, and partitions that are added are read from "
        "their beginning. latest: what came before is never seen. Embedded: earliest alone.",
    )
    isolation: Literal["read_committed", "read_uncommitted"] = Field(
        "read_committed",
        description="Whether messages of a producer's transaction count before it is committed. read_uncommitted: "
        "those of aborted transactions are judged, too.",
    )

    @model_validator(mode="before")
    @classmethod
    def _pattern_replaces_default(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("topic_pattern") and "topics" not in values:
            return {**values, "topics": ()}
        return values

    @field_validator("topic_pattern")
    @classmethod
    def _runs(cls, pattern: str) -> str:
        is_pattern(pattern)
        try:
            re.compile(f"^(?:{pattern})$")
        except re.error as error:
            message = f"not a pattern that the Kafka client can run ({error}); flags are written (?i:…)"
            raise ValueError(message) from error
        return pattern

    @field_validator("start")
    @classmethod
    def _is_a_start(cls, start: str) -> str:
        if start in ("earliest", "latest"):
            return start
        try:
            moment = datetime.fromisoformat(start)
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            message = "neither earliest, latest, nor a time with a zone such as 2026-03-01T00:00:00Z"
            raise ValueError(message)
        return start

    @model_validator(mode="after")
    def _has_topics(self) -> Self:
        if bool(self.topics) == bool(self.topic_pattern):
            message = "give either topics or topic_pattern"
            raise ValueError(message)
        own = [topic for topic in self.topics if topic.startswith(OWN_TOPICS)]
        if own:
            message = f"{', '.join(own)}: topics of ours cannot be sources"
            raise ValueError(message)
        return self


class InternalKafka(KafkaConnection):
    """The cluster for our own gw.* topics; may be the same one. `groundwatch migrate` names topics that differ."""

    partitions: int = Field(
        8,
        ge=1,
        le=512,
        description="Partitions of new gw.* topics, the most workers of one role that share the work. "
        "Too low: no scaling; too high: memory and file handles on the broker.",
    )
    replication: int = Field(
        1,
        ge=1,
        le=9,
        description="Copies of each gw.* partition. 1: a lost broker disk loses verdicts that the store lacks yet; "
        "more than there are brokers: topics cannot be made.",
    )
    min_insync_replicas: int = Field(
        1,
        ge=1,
        le=9,
        description="Copies that must have a message before it counts as sent; at most `replication`, 2 with 3 copies. "
        "Too high: everything waits while a broker is restarted.",
    )
    retention_hours: int = Field(
        168,
        ge=1,
        le=87_600,
        description="Hours that gw.spans, gw.drawn and gw.verdicts are kept. Too short: an outage of the store "
        "that lasts longer loses what waits there.",
    )
    dead_letter_retention_hours: int = Field(
        168,
        ge=1,
        le=87_600,
        description="Hours that gw.deadletter is kept. Too short: unreadable messages vanish before somebody looks.",
    )
    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = Field(
        "zstd",
        description="Codec of what we send. lz4: four times the time that zstd takes here, and larger; none: four "
        "times the bytes for most traces.",
    )

    @model_validator(mode="after")
    def _can_be_in_sync(self) -> Self:
        if self.min_insync_replicas > self.replication:
            message = f"min_insync_replicas ({self.min_insync_replicas}) is above replication ({self.replication})"
            raise ValueError(message)
        return self


class Kafka(Section):
    """The two connections."""

    source: SourceKafka = SourceKafka()
    internal: InternalKafka = InternalKafka()
