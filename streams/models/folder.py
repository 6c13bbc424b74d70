"""The folder of models: where each lies, in what state, and why its name can never lead out of the folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from schemas.errors import ConfigError
from streams.models.manifest import Manifest, faults_of, read_manifest
from streams.settings.models import NAME, WORDS

FOUNDATION = "foundation"
"""Subfolder with the tokenizer of the model that a model was made from."""


class State(StrEnum):
    """How a model stands."""

    PRESENT = "present"
    """Its files are those of its manifest."""
    UNCHECKED = "unchecked"
    """It lies there without a manifest, so nobody can say whether it is whole."""
    DAMAGED = "damaged"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Found:
    """A model's folder as it was found; ``faults`` in words, empty unless damaged."""

    name: str
    folder: Path
    state: State
    faults: tuple[str, ...] = ()
    manifest: Manifest | None = None


def place_of(root: Path, name: str) -> Path:
    """The folder of a model below ``root``. Raises ConfigError for a name that is none, and for a link."""
    if not NAME.fullmatch(name) or name in WORDS:
        raise ConfigError(
            f"{name!r} cannot be the name of a model: letters, digits, . _ - and none of {', '.join(WORDS)}"
        )
    place = root / name
    if place.is_symlink():
        raise ConfigError(f"{place} is a link, which could lead anywhere; put the folder itself there")
    return place


def look_at(root: Path, name: str, *, with_sums: bool = False) -> Found:
    """How the model of this name stands. Raises ConfigError as ``place_of``."""
    return look_into(place_of(root, name), name, with_sums=with_sums)


def look_into(folder: Path, name: str, *, with_sums: bool = False) -> Found:
    """How the model in a folder stands; without sums by names and sizes, which takes no time."""
    if not folder.is_dir():
        return Found(name, folder, State.ABSENT)
    try:
        manifest = read_manifest(folder)
        faults = faults_of(folder, manifest, with_sums=with_sums) if manifest else []
    except (ConfigError, OSError) as error:
        return Found(name, folder, State.DAMAGED, (str(error),))
    if manifest is None:
        return Found(name, folder, State.UNCHECKED)
    return Found(name, folder, State.DAMAGED if faults else State.PRESENT, tuple(faults), manifest)


def tokenizer_of(folder: Path) -> Path | None:
    """Where the tokenizer of a model lies that has none of its own; None for one that has."""
    foundation = folder / FOUNDATION
    return foundation if foundation.is_dir() else None


def models_in(root: Path) -> Iterator[str]:
    """Names of the folders that models may lie in; an absent ``root`` has none."""
    if root.is_dir():
        yield from (path.name for path in sorted(root.iterdir()) if NAME.fullmatch(path.name) and path.is_dir())
