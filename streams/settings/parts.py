"""What sections of the settings are made of: the base, and values that need more than a type."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, SecretStr
from pydantic_settings import NoDecode

from schemas.errors import ConfigError
from schemas.labels import Layer
from schemas.patterns import compile_pattern

MIN_SALT_CHARACTERS = 32
MIN_TOKEN_CHARACTERS = 16


class Role(StrEnum):
    """What a process does; ``all`` roles in one process is the default."""

    INGEST = "ingest"
    ASSEMBLE = "assemble"
    VERIFY = "verify"
    SINK = "sink"
    ALERT = "alert"
    CHECK = "check"
    WEB = "web"


def _split(value: object) -> object:
    """``a, b`` from an environment variable as a list; lists pass."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _at_least(minimum: int) -> Callable[[SecretStr], SecretStr]:
    """A check that a secret is empty or has so many characters."""

    def check(secret: SecretStr) -> SecretStr:
        length = len(secret.get_secret_value())
        if 0 < length < minimum:
            message = f"{length} characters are too few; give {minimum} or more random ones"
            raise ValueError(message)
        return secret

    return check


def is_pattern(text: str) -> str:
    """The text, when it is a pattern that we can run. Raises ValueError with the reason."""
    try:
        compile_pattern(text)
    except ConfigError as error:
        raise ValueError(str(error)) from error
    return text


def _known_timezone(name: str) -> str:
    if name not in available_timezones():
        message = f"no such time zone: {name!r}; give an IANA name such as Europe/Berlin"
        raise ValueError(message)
    return name


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Secrets = Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(_split)]
Roles = Annotated[tuple[Role, ...], NoDecode, BeforeValidator(_split)]
LayerNames = Annotated[tuple[Layer, ...], NoDecode, BeforeValidator(_split)]
Salt = Annotated[SecretStr, AfterValidator(_at_least(MIN_SALT_CHARACTERS))]
Token = Annotated[SecretStr, AfterValidator(_at_least(MIN_TOKEN_CHARACTERS))]
Pattern = Annotated[str, AfterValidator(is_pattern)]
Timezone = Annotated[str, AfterValidator(_known_timezone)]


class Section(BaseModel):
    """A group of settings; frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
