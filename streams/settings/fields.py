"""All settings together; unit, bounds and consequence of each make the example file and the reference page."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from streams.settings.consistency import Consistency
from streams.settings.health import Health
from streams.settings.inline import Inline
from streams.settings.judge import Judge
from streams.settings.kafka import Kafka
from streams.settings.models import Models
from streams.settings.parts import Role, Roles
from streams.settings.privacy import Privacy
from streams.settings.sections import Alerts, Assembly, Ingest, Log, Store, Web
from streams.settings.sources import MAX_SOURCES, SourceSettings
from streams.settings.verify import Verify

ENV_PREFIX = "GROUNDWATCH_"
ENV_DELIMITER = "__"


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
    instance_id: str = Field(
        "",
        pattern=r"^[A-Za-z0-9._-]{0,200}$",
        description="Name of this process, unique among all and the same after a restart (a pod's name of a stateful "
        "set): its partitions wait for it a session long instead of moving twice. Used twice at a time: the two "
        "throw each other out of the consumer group. Empty: none.",
    )
    start_seconds: float = Field(
        300.0,
        ge=0,
        le=86_400,
        description="Seconds to wait at start for a broker or a store that does not answer, with growing pauses and a "
        "line in the log at each; then exit 69. Too short: the supervisor starts us again and again while they come "
        "up; too long: a wrong address is noticed late. A liveness probe must allow for it.",
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
    sources: tuple[SourceSettings, ...] = Field(
        (),
        max_length=MAX_SOURCES,
        description="What the messages of single topics are, and where intent and tier are found in them; topics "
        "without an entry are recognised message by message. Wrong: see each key.",
    )
    assembly: Assembly = Assembly()
    privacy: Privacy = Privacy()
    verify: Verify = Verify()
    models: Models = Models()
    judge: Judge = Judge()
    consistency: Consistency = Consistency()
    inline: Inline = Inline()
    alerts: Alerts = Alerts()
    web: Web = Web()
    health: Health = Health()
    log: Log = Log()

    @model_validator(mode="after")
    def _lets_somebody_check(self) -> Self:
        has_other_token = Role.WEB in self.roles or Role.CHECK not in self.roles
        if not has_other_token and not self.web.check_token.get_secret_value():
            message = (
                "web.check_token is empty, and without the role web nothing else lets anybody have answers checked"
            )
            raise ValueError(message)
        return self

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
