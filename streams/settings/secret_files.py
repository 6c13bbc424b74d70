"""Secrets from files: any secret setting may be given as the name of a file in its variable with ``_FILE`` behind it.

That is how containers get secrets mounted, and a file shows in no process list and in no dump of an environment.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schemas.errors import ConfigError
from streams.settings.catalogue import Entry, entries

SUFFIX = "_FILE"
_MAX_BYTES = 100_000
_SECTION_AND_NAME = 2
"""Where such secrets stand; those deeper down have a setting for their file."""


def file_variables() -> dict[str, Entry]:
    """The variables that name such files, with the secret that each stands for.

    Where a setting of that name exists, it does the same and is left out here.
    """
    known = {entry.variable for entry in entries()}
    found = {entry.variable + SUFFIX: entry for entry in entries() if entry.is_secret}
    return {name: entry for name, entry in found.items() if name not in known}


def secrets_from_files(environ: Mapping[str, str]) -> dict[str, Any]:
    """Nested values of the secrets whose files the environment names. Raises ConfigError naming variable and file.

    Lines of a file for a list are its items.
    """
    values: dict[str, Any] = {}
    for name, entry in file_variables().items():
        path = environ.get(name, "")
        if not path:
            continue
        if environ.get(entry.variable):
            raise ConfigError(f"environment: {entry.variable} and {name} are both set; keep one")
        here = values
        for part in entry.path[:-1]:
            here = here.setdefault(part, {})
        text = read_secret(Path(path), name)
        here[entry.path[-1]] = text.replace("\n", ",") if isinstance(entry.default, tuple) else text
    return values


def without_files(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values from the environment without the names of such files, which look like settings there."""
    kept = {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}
    for entry in file_variables().values():
        section = kept.get(entry.path[0])
        if len(entry.path) == _SECTION_AND_NAME and isinstance(section, dict):
            section.pop(f"{entry.path[-1]}{SUFFIX.lower()}", None)
    return kept


def read_secret(path: Path, key: str) -> str:
    """What a file holds, without line ends behind it. Raises ConfigError naming ``key`` and file, not the content."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{key}: cannot read {path}: {error.strerror}; mount the secret there, or correct the path"
        ) from error
    try:
        text = content[:_MAX_BYTES].decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{key}: {path} is not UTF-8 text; give a file that holds the secret alone") from error
    if not text or len(content) > _MAX_BYTES:
        raise ConfigError(f"{key}: {path} holds {len(content)} bytes; give a file that holds the secret alone")
    return text
