"""Topics and mapping into the configuration file: what is there stays, with its comments; the result is checked."""

import difflib
import io
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError

from schemas.errors import ConfigError
from streams.attach.report import Attached
from streams.settings import Settings, load_settings
from streams.settings.loading import DEFAULT_FILE, FILE_VARIABLE

_HEAD = (
    "# Written by `groundwatch attach`. Every setting there is: `groundwatch config example`.\n"
    "# Outside the embedded mode ingest.salt is needed: set GROUNDWATCH_INGEST__SALT, and never change it.\n"
)
_WIDTH = 1_000_000
"""Nothing that stands on one line is wrapped."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The file as it would be, and what that changes."""

    text: str
    diff: str


def config_path(config: Path | None) -> Path:
    """The file that a command reads: --config, else GROUNDWATCH_CONFIG, else ./groundwatch.yaml."""
    return config or Path(os.environ.get(FILE_VARIABLE) or DEFAULT_FILE)


def change_of(report: Attached, settings: Settings, servers: str) -> dict[str, Any]:
    """What belongs into the file: the topics, where they are, and the mapping that was found.

    Of a cluster also that the embedded broker is off, and, where nothing else was said, that our own topics are there.
    """
    change: dict[str, Any] = {"kafka": {"source": {"topics": [topic.name for topic in report.topics]}}}
    if servers:
        change = {"embedded": False, **change}
        change["kafka"]["source"] = {"bootstrap_servers": servers, **change["kafka"]["source"]}
        if "bootstrap_servers" not in settings.kafka.internal.model_fields_set:
            change["kafka"]["internal"] = {"bootstrap_servers": servers}
    return {**change, **report.proposal.config}


def planned(path: Path, change: Mapping[str, Any]) -> Plan:
    """The file with the change. Raises ConfigError for a file that is no YAML map, and for one that would be wrong."""
    before = _read(path)
    yaml = YAML()
    yaml.width = _WIDTH
    yaml.preserve_quotes = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    try:
        document = yaml.load(before) if before.strip() else None
    except YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {' '.join(str(error).split())[:200]}") from error
    if document is None:
        document = CommentedMap()
    if not isinstance(document, CommentedMap):
        raise ConfigError(f"{path}: expected `key: value` lines at the top")
    _merge(document, change)
    out = io.StringIO()
    yaml.dump(document, out)
    after = out.getvalue() if before.strip() else _HEAD + out.getvalue()
    _check(path, after)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(path), str(path), lineterm="", n=1)
    return Plan(after, "\n".join(lines))


def save(path: Path, plan: Plan) -> None:
    """Write the file in one step, with the rights that it had. Raises ConfigError when that cannot be done."""
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        written = _beside(path, plan.text)
        written.chmod(mode)
        written.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}; give another --config") from error


def _merge(document: CommentedMap, change: Mapping[str, Any]) -> None:
    """Values of maps one by one; sources by topic, of which keys that are there already stay."""
    for key, value in change.items():
        here = document.get(key)
        if key == "sources":
            document[key] = _sources(here if isinstance(here, list) else [], value)
        elif isinstance(value, Mapping):
            if not isinstance(here, CommentedMap):
                here = document[key] = CommentedMap()
            _merge(here, value)
        elif isinstance(here, CommentedSeq) and here != value:
            here[:] = value
        elif here != value:
            document[key] = value


def _sources(here: list[Any], new: Sequence[Mapping[str, Any]]) -> list[Any]:
    """``here`` with what is new; changed in place, so that its comments stay."""
    known = {entry.get("topic"): entry for entry in here if isinstance(entry, dict)}
    for source in new:
        entry = known.get(source["topic"])
        if entry is None:
            here.append(dict(source))
            continue
        for key, value in source.items():
            if key == "rules" and isinstance(entry.get(key), dict):
                for field, rules in value.items():
                    entry[key].setdefault(field, rules)
            else:
                entry.setdefault(key, value)
    return here


def _read(path: Path) -> str:
    if not path.exists():
        return ""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}; give another --config") from error


def _check(path: Path, text: str) -> None:
    """Raises ConfigError when groundwatch would refuse the file."""
    try:
        trial = _beside(path, text)
    except OSError as error:
        raise ConfigError(f"cannot write beside {path}: {error.strerror}; give another --config") from error
    try:
        load_settings(trial)
    except ConfigError as error:
        raise ConfigError(str(error).replace(str(trial), f"{path}, as it would be")) from error
    finally:
        with suppress(OSError):
            trial.unlink()


def _beside(path: Path, text: str) -> Path:
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        file.write(text)
    return Path(file.name)
