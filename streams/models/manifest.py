"""The checksums of a model's files, written when it was pulled and compared when it is checked and loaded.

They find what broke: a torn copy, a bad disk, a file that was changed or put there. Whoever may write in the folder may
write the manifest as well; against that stand the SHA-256 of the catalogue and the rights of the folder.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from schemas.base import Record
from schemas.codec import invalid_message
from schemas.errors import ConfigError
from streams.models.files import WEIGHTS, is_taken
from streams.settings.models import NAME

MANIFEST = "groundwatch-manifest.json"
_MOST_BYTES = 1_000_000
_CHUNK = 1 << 20


class FileSum(Record):
    """One file: its size in bytes and its SHA-256."""

    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(Record):
    """Where a model came from and what its files are; ``files`` by path below the model's folder, with slashes.

    ``revision`` and ``hub_id`` are empty for a model that was copied and that no catalogue knows.
    """

    name: str
    layout: str
    licence: str = ""
    hub_id: str = ""
    revision: str = ""
    files: dict[str, FileSum] = Field(min_length=1)


def sums_of(folder: Path) -> dict[str, FileSum]:
    """Size and SHA-256 of every file of a model. Raises ConfigError for what does not belong into its folder."""
    strangers = list(_strangers(folder))
    if strangers:
        raise ConfigError(f"{folder}: {'; '.join(strangers)}")
    return {path: sum_of(folder / path) for path in _paths(folder)}


def sum_of(file: Path) -> FileSum:
    """Size and SHA-256 of one file, which may not be a link."""
    digest, size = hashlib.sha256(), 0
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as opened:
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return FileSum(bytes=size, sha256=digest.hexdigest())


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put it beside the files."""
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a model's folder, None where it has none. Raises ConfigError for one that cannot be read."""
    file = folder / MANIFEST
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}; pull the model again with --replace") from error
    with os.fdopen(descriptor, "rb") as opened:
        text = opened.read(_MOST_BYTES + 1)
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        detail = invalid_message(error).detail
        raise ConfigError(f"{file}: {detail}; pull the model again with --replace") from error


def faults_of(folder: Path, manifest: Manifest, *, with_sums: bool) -> list[str]:
    """What is wrong with the files, in words; empty where nothing is. Without sums: names, kinds and sizes alone."""
    there = set(_paths(folder))
    found = [*_strangers(folder)]
    found += [f"{path} is missing" for path in sorted(manifest.files.keys() - there)]
    found += [f"{path} is not in the manifest" for path in sorted(there - manifest.files.keys())]
    for path in sorted(there & manifest.files.keys()):
        told = manifest.files[path]
        size = (folder / path).stat().st_size
        if size != told.bytes:
            found.append(f"{path} has {size} bytes instead of {told.bytes}")
        elif with_sums and sum_of(folder / path).sha256 != told.sha256:
            found.append(f"{path} has another SHA-256 than when it was pulled")
    return found


def _paths(folder: Path) -> list[str]:
    """Regular files that belong to a model, at most one folder down, links left out."""
    return [path for path, kind in _entries(folder) if stat.S_ISREG(kind) and is_taken(path.rpartition("/")[2])]


def _strangers(folder: Path) -> Iterator[str]:
    """What must not lie in the folder of a model."""
    has_weights = False
    for path, kind in _entries(folder):
        if stat.S_ISLNK(kind):
            yield f"{path} is a link, which could lead anywhere; put the file itself there"
        elif not stat.S_ISREG(kind):
            yield f"{path} is no regular file"
        elif not is_taken(path.rpartition("/")[2]):
            yield f"{path} is no part of a model for us (safetensors, JSON and tokenizer vocabularies are)"
        has_weights = has_weights or (stat.S_ISREG(kind) and path.endswith(WEIGHTS))
    if not has_weights:
        yield "no *.safetensors in it; pickled weights are not read, since they run as programs"


def _entries(folder: Path) -> Iterator[tuple[str, int]]:
    """Paths and kinds of everything in the folder but the manifest; a subfolder gives its own entries, once deep."""
    for path in sorted(folder.iterdir()):
        kind = path.lstat().st_mode
        if path.name == MANIFEST and stat.S_ISREG(kind):
            continue
        if not (stat.S_ISDIR(kind) and NAME.fullmatch(path.name)):
            yield path.name, kind
            continue
        yield from ((f"{path.name}/{below.name}", below.lstat().st_mode) for below in sorted(path.iterdir()))
