"""From a file and the environment to settings; the environment wins, and a mistake names key, value and fix."""

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import EnvSettingsSource, SettingsError

from schemas.errors import ConfigError
from streams.settings.catalogue import ITEM, Entry, Group, dotted, entries, walk
from streams.settings.fields import ENV_DELIMITER, ENV_PREFIX, Settings
from streams.settings.secret_files import file_variables, secrets_from_files, without_files

DEFAULT_FILE = Path("groundwatch.yaml")
FILE_VARIABLE = f"{ENV_PREFIX}CONFIG"


def load_settings(path: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Settings from ``path``, the environment and ``overrides`` (nested, win over both).

    Without ``path``: the file named by GROUNDWATCH_CONFIG, else ``groundwatch.yaml`` here if there is one.
    Raises ConfigError naming every wrong key, its value and what to write instead; secrets are not shown.
    """
    file, values = _file_values(path)
    _refuse_unknown_variables(os.environ)
    try:
        from_environment = _merged(without_files(EnvSettingsSource(Settings)()), secrets_from_files(os.environ))
    except SettingsError as error:
        raise ConfigError(f"environment: {error}; lists are written a,b,c") from error
    merged = _merged(_merged(values, from_environment), overrides or {})
    try:
        return Settings(**merged)
    except ValidationError as error:
        raise ConfigError(_explain(error, file, from_environment)) from error


def _file_values(path: Path | None) -> tuple[str, dict[str, Any]]:
    named = path or (Path(os.environ[FILE_VARIABLE]) if os.environ.get(FILE_VARIABLE) else None)
    if named is None and not DEFAULT_FILE.exists():
        return "defaults", {}
    file = named or DEFAULT_FILE
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}; give another --config") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not YAML: {_one_line(error)}") from error
    if values is None:
        return str(file), {}
    if not isinstance(values, dict):
        raise ConfigError(f"{file}: expected `key: value` lines at the top, found {type(values).__name__}")
    return str(file), _without_empty(values)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both, section by section; ``above`` wins."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def _without_empty(values: dict[Any, Any]) -> dict[str, Any]:
    """A key with nothing after it means the default."""
    return {str(key): _filled(value) for key, value in values.items() if value is not None}


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        return _without_empty(value)
    return [_filled(item) for item in value] if isinstance(value, list) else value


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    """A misspelt nested variable is an error; others with our prefix may be set by the platform for a service."""
    known = {item.variable for item in entries()} | file_variables().keys()
    for name in environ:
        if name.upper().startswith(ENV_PREFIX) and ENV_DELIMITER in name and name.upper() not in known:
            raise ConfigError(f"environment: unknown variable {name}; {_nearest(name.upper(), known)}")


def _explain(error: ValidationError, file: str, from_environment: Mapping[str, Any]) -> str:
    items = {item.path: item for item in walk()}
    faults = error.errors(include_url=False)
    return "\n".join(_fault(fault, file, from_environment, items) for fault in faults)


def _fault(
    fault: ErrorDetails, file: str, from_environment: Mapping[str, Any], items: Mapping[tuple[str, ...], Entry | Group]
) -> str:
    location = tuple(ITEM if isinstance(part, int) else str(part) for part in fault["loc"])
    path = _known_prefix(location, items)
    key = dotted(fault["loc"] if ITEM in path else path)
    if fault["type"] == "extra_forbidden":
        key = dotted(fault["loc"])
        return f"{file}: unknown key {key}; {_nearest(key, {dotted(known) for known in items})}"
    item = items.get(path)
    origin = "environment" if _is_in(path, from_environment) else file
    message = fault["msg"].removeprefix("Value error, ")
    if not isinstance(item, Entry):
        return f"{origin}: {key or 'settings'}: {message}"
    shown = "(secret)" if item.is_secret else repr(fault["input"])
    name = item.variable if origin == "environment" else key
    if fault["type"] == "missing":
        return f"{origin}: {key} is missing\n  write {item.allowed}. {item.description}"
    return f"{origin}: {name} = {shown}: {message}\n  write {item.allowed}. {item.description}"


def _known_prefix(location: tuple[str, ...], items: Mapping[tuple[str, ...], Entry | Group]) -> tuple[str, ...]:
    """The setting that a fault lies in: list positions and the like are cut off."""
    return next((location[:end] for end in range(len(location), 0, -1) if location[:end] in items), location)


def _is_in(path: Iterable[str], values: Mapping[str, Any]) -> bool:
    here: Any = values
    for part in path:
        if not isinstance(here, Mapping) or part not in here:
            return False
        here = here[part]
    return True


def _nearest(name: str, known: Iterable[str]) -> str:
    """A suggestion; a last part that is right in a wrong place counts more than similar letters."""
    choices = sorted(known)
    leaf = name.rpartition(".")[2]
    same_leaf = [choice for choice in choices if choice.rpartition(".")[2] == leaf]
    close = same_leaf or difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]}?"
    return "see `groundwatch config example` for all keys"
