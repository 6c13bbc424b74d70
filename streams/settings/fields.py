"""Every setting with its unit, bounds and the consequence of a wrong value; the example file is made from it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self
from zoneinfo import available_timezones

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

ENV_PREFIX = "GROUNDWATCH_"
ENV_DELIMITER = "__"
MIN_SALT_CHARACTERS = 32


class Role(StrEnum):
    """What a process does; ``all`` roles in one process is the default."""

    INGEST = "ingest"
    VERIFY = "verify"
    SINK = "sink"
    ALERT = "alert"
    WEB = "web"


def _split(value: object) -> object:
    """``a, b`` from an environment variable as a list; lists pass."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _long_enough(salt: SecretStr) -> SecretStr:
    length = len(salt.get_secret_value())
    if 0 < length < MIN_SALT_CHARACTERS:
        message = f"{length} characters are too few; give {MIN_SALT_CHARACTERS} or more random ones"
        raise ValueError(message)
    return salt


def _known_timezone(name: str) -> str:
    if name not in available_timezones():
        message = f"no such time zone: {name!r}; give an IANA name such as Europe/Berlin"
        raise ValueError(message)
    return name


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Secrets = Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_split)]
Roles = Annotated[tuple[Role, ...], NoDecode, BeforeValidator(_split)]
Salt = Annotated[SecretStr, AfterValidator(_long_enough)]
Timezone = Annotated[str, AfterValidator(_known_timezone)]


class Section(BaseModel):
    """A group of settings; frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class KafkaConnection(Section):
    """How to reach one cluster."""

    bootstrap_servers: str = Field(
        "127.0.0.1:9092",
        pattern=r"^[^\s,:]+:\d{1,5}(\s*,\s*[^\s,:]+:\d{1,5})*$",
        description="Brokers to start from, host:port, separated by commas. Ignored when `embedded` is on. "
        "Wrong: the process waits at start, names the brokers and exits with 69.",
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


class Store(Section):
    """ClickHouse."""

    dsn: SecretStr = Field(
        SecretStr(""),
        description="http(s)://user:password@host:port of ClickHouse, or chdb:///absolute/path for the embedded "
        "engine; empty puts the embedded engine under `data_dir`. Wrong: exits with 69 after the start timeout.",
    )
    database: str = Field(
        "groundwatch",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$",
        description="Database for our tables, made when missing. Another name shows an empty history.",
    )
    retention_days: int = Field(
        90,
        ge=30,
        le=3650,
        description="Days that traces, passages and verdicts are kept. Shorter: baselines have less to learn from "
        "and flagged cases vanish sooner; longer: disk. Older traces are counted as unresolved:expired.",
    )


class Ingest(Section):
    """Reading, screening and drawing."""

    batch_size: int = Field(
        200,
        ge=1,
        le=5000,
        description="Messages per batch. Too low: many small inserts; too high: memory (messages times their size) "
        "and a longer wait until a trace is stored.",
    )
    max_message_bytes: int = Field(
        16_000_000,
        ge=10_000,
        le=512_000_000,
        description="Largest message, bytes; also the limit of gw.* topics. Lower than the producers' limit: large "
        "traces go to the dead letter as prefix, length and hash.",
    )
    max_answer_bytes: int = Field(
        1_000_000,
        ge=1_000,
        le=64_000_000,
        description="Longest answer that is checked, bytes of UTF-8. A longer one is stored with error:too_long, "
        "never cut. Too high: one answer holds up a batch.",
    )
    salt: Salt = Field(
        SecretStr(""),
        description="Key of the sampling draw: 32 or more characters, one per deployment, never changed (a new one "
        "draws a different sample). Empty: embedded makes one in `data_dir`/salt; otherwise the start is refused.",
    )
    dead_letter_max_run: int = Field(
        1_000,
        ge=1,
        le=1_000_000,
        description="Unreadable messages in a row after which ingest stops and says so. Too low: a burst of junk "
        "stops monitoring; too high: a wrong decoder empties a topic into the dead letter.",
    )
    dead_letter_max_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Share of unreadable messages among the last 10,000 after which ingest stops; 1 turns it off.",
    )


class Verify(Section):
    """Judging drawn traces."""

    batch_size: int = Field(
        64,
        ge=1,
        le=2000,
        description="Drawn traces judged together. Too high: a slow batch delays all of its verdicts.",
    )
    workers: int = Field(
        1,
        ge=1,
        le=64,
        description="Threads that judge, in this process. More than cores: slower, not faster.",
    )


class ExpectedRate(Section):
    """Share of hallucinated answers expected before there is history, by risk tier, 0 to 1."""

    low: float = Field(0.08, gt=0, lt=0.5, description="Tier low. Too high: the first real jump is paged later.")
    medium: float = Field(0.05, gt=0, lt=0.5, description="Tier medium. Too low: false pages in the first weeks.")
    high: float = Field(0.03, gt=0, lt=0.5, description="Tier high. Too low: false pages in the first weeks.")


class Alerts(Section):
    """When to page, and whom."""

    timezone: Timezone = Field(
        "UTC", description="IANA time zone of days and hours in reports. Wrong: days begin at the wrong hour."
    )
    expected_rate: ExpectedRate = ExpectedRate()
    pages_per_month: float = Field(
        1.0,
        gt=0,
        le=100,
        description="False pages a month that all slices together may cost. Higher: earlier pages, more false ones.",
    )
    jump_share: float = Field(
        0.6,
        gt=0,
        le=1,
        description="Share of that budget for jumps; the rest is for slow drift. Higher: jumps are found earlier.",
    )
    tick_seconds: float = Field(
        20.0,
        ge=1,
        le=600,
        description="Seconds between two looks at closed buckets. Longer: later pages; shorter: load on the store.",
    )
    webhook_urls: Secrets = Field(
        (),
        description="URLs that get every alert as a JSON POST; secret, because such URLs often carry a token. "
        "Wrong: the notification is tried again and the alert stays on the page.",
    )
    webhook_timeout_seconds: float = Field(
        10.0, gt=0, le=120, description="Seconds to wait for a receiver. Too short: the same alert may arrive twice."
    )


class Web(Section):
    """The page and the local API."""

    host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="Address to listen on. Anything but 127.0.0.1 shows answers to everyone who reaches the port: "
        "put a proxy with a login in front.",
    )
    port: int = Field(
        8642, ge=0, le=65535, description="TCP port; 0 takes a free one. Taken by another program: exits with 69."
    )


class Log(Section):
    """What goes to standard error; never questions, passages or answers."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level written. warning hides the line that each trace gets."
    )
    format: Literal["auto", "console", "json"] = Field(
        "auto", description="json for machines, console for people, auto: console on a terminal, else json."
    )


class Settings(BaseSettings):
    """Everything that can be set. Made from keywords alone; ``load_settings`` adds the file and the environment."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        env_prefix=ENV_PREFIX,
        env_nested_delimiter=ENV_DELIMITER,
        validate_default=True,
    )

    embedded: bool = Field(
        default=True,
        description="Start a broker inside this process (memory only: forgets at a restart) instead of using "
        "`kafka`. Off for anything but trying out.",
    )
    roles: Roles = Field(
        tuple(Role), min_length=1, description="Roles of this process. A role that runs nowhere stops the flow there."
    )
    data_dir: Path = Field(
        Path("data"),
        description="Folder for the embedded store, the salt and the address file. Another folder is another "
        "deployment: an empty history and, embedded, a different sample.",
    )
    drain_seconds: float = Field(
        20.0,
        ge=1,
        le=600,
        description="Seconds to finish what is in flight when stopped; then exit 75, and it is done again after the "
        "next start. Keep the supervisor's grace period 2 s longer.",
    )
    kafka: Kafka = Kafka()
    store: Store = Store()
    ingest: Ingest = Ingest()
    verify: Verify = Verify()
    alerts: Alerts = Alerts()
    web: Web = Web()
    log: Log = Log()

    @property
    def store_dsn(self) -> str:
        """The store's address as plain text, with the embedded default filled in; never log it."""
        return self.store.dsn.get_secret_value() or f"chdb://{self.data_dir.resolve() / 'store'}"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Keywords alone, so that a test never depends on its surroundings."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)
