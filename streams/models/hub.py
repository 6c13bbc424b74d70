"""A hub of models, asked through ``huggingface_hub``: what a repository holds at a commit, and its files."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import httpx

from schemas.errors import ConfigError, HubUnavailable, NotReached
from streams.models.files import chosen
from streams.models.orders import Source

FETCHED_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Listing:
    """What a repository holds at a commit: files that we take with their SHA-256 (empty where the hub has none)."""

    taken: Mapping[str, str]
    left: Sequence[str]


class Hub:
    """One hub. Every call raises HubUnavailable when it does not answer, and NotReached for what it does not have."""

    def __init__(self, address: str = "") -> None:
        """Nothing is asked yet. Raises ConfigError when ``huggingface_hub`` is not installed."""
        try:
            import huggingface_hub  # noqa: PLC0415  an optional extra
        except ImportError as error:
            raise ConfigError(
                "pulling from a hub needs the extra `models`: pip install 'groundwatch[models]'; or copy the folder of "
                "the model here and give it with --from"
            ) from error
        self._library: Any = huggingface_hub  # its submodules export less than they document
        self._api = huggingface_hub.HfApi(endpoint=address or None)
        self._address = str(self._api.endpoint)
        if not sys.stderr.isatty():
            self._library.utils.disable_progress_bars()

    def newest(self, hub_id: str) -> str:
        """The commit that the main branch stands at now."""
        return str(self._asked(Source(hub_id, "main")).sha)

    def listing(self, source: Source) -> Listing:
        """What a repository holds at the commit of ``source``."""
        info = self._asked(source)
        sums = {one.rfilename: (one.lfs.sha256 or "") if one.lfs else "" for one in info.siblings or ()}
        taken, left = chosen(sums)
        return Listing({name: sums[name] for name in taken}, left)

    def fetch(self, source: Source, names: Sequence[str], into: Path) -> None:
        """Put these files into a folder; what lies there already from a broken-off pull is not fetched again."""
        with self._told(source):
            self._library.snapshot_download(
                source.hub_id,
                revision=source.revision,
                local_dir=into,
                allow_patterns=list(names),
                endpoint=self._address,
                max_workers=FETCHED_AT_ONCE,
            )

    def _asked(self, source: Source) -> Any:
        with self._told(source):
            return self._api.model_info(source.hub_id, revision=source.revision, files_metadata=True)

    @contextmanager
    def _told(self, source: Source) -> Iterator[None]:
        """Errors of three libraries become two of ours."""
        known = self._library.errors
        what = f"{source.hub_id} at {source.revision}"
        try:
            yield
        except known.GatedRepoError as error:
            raise NotReached(
                f"{what}: its owner wants it asked for; do that on its page, then set HF_TOKEN to a token of yours"
            ) from error
        except known.RepositoryNotFoundError as error:
            raise NotReached(
                f"{what}: {self._address} has no such model, or not for you; check owner/name, and HF_TOKEN"
            ) from error
        except (known.RevisionNotFoundError, known.RemoteEntryNotFoundError) as error:
            raise NotReached(
                f"{what}: {self._address} has no such commit; its page shows those that exist under Files"
            ) from error
        except (httpx.HTTPError, OSError) as error:
            if _is_of_the_disk(error):
                raise ConfigError(f"models.dir: cannot write {error.filename}: {error.strerror}") from error
            raise HubUnavailable(
                f"{what}: {self._address} did not answer ({type(error).__name__}); try again, set models.hub to a "
                "mirror, or copy the folder of the model from a machine that has it: groundwatch models pull NAME "
                "--from FOLDER"
            ) from error


def _is_of_the_disk(error: Exception) -> TypeGuard[OSError]:
    """Errors of a connection have no file name."""
    return isinstance(error, OSError) and bool(error.filename and error.strerror)
