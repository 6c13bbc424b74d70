"""What sections of the settings are made of: the base, and values that need more than a type."""

from enum import StrEnum
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, SecretStr
from pydantic_settings import NoDecode

from schemas.errors import ConfigError
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


def _long_token(token: SecretStr) -> SecretStr:
    length = len(token.get_secret_value())
    if 0 < length < MIN_TOKEN_CHARACTERS:
        message = f"{length} characters are too few; give {MIN_TOKEN_CHARACTERS} or more random ones"
        raise ValueError(message)
    return token


def _is_pattern(text: str) -> str:
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
Salt = Annotated[SecretStr, AfterValidator(_long_enough)]
Token = Annotated[SecretStr, AfterValidator(_long_token)]
Pattern = Annotated[str, AfterValidator(_is_pattern)]
Timezone = Annotated[str, AfterValidator(_known_timezone)]


class Section(BaseModel):
    """A group of settings; frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
