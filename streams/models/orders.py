"""What ``groundwatch models pull`` is asked for: a model of the catalogue, or any repository at a full commit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from schemas.errors import ConfigError
from streams.models.catalogue import HUB_ID, REVISION, CatalogueModel
from streams.models.files import WEIGHTS
from streams.models.folder import FOUNDATION


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one repository, for ``folder`` below the model's own (empty: the model's own).

    ``wanted`` are the files that must be there, with the SHA-256 of those whose it is known; ``is_whole`` takes all
    other files of the repository that are parts of a model as well.
    """

    hub_id: str
    revision: str
    wanted: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    is_whole: bool = True

    def path(self, name: str) -> str:
        """A file's path below the model's folder."""
        return f"{self.folder}/{name}" if self.folder else name


@dataclass(frozen=True, slots=True)
class Order:
    """A model to be had; the licence is empty for one that no catalogue knows."""

    name: str
    sources: tuple[Source, ...]
    licence: str = ""

    @property
    def wanted(self) -> dict[str, str]:
        """Paths that must be there, with the SHA-256 of those whose it is known."""
        return {source.path(name): known for source in self.sources for name, known in source.wanted.items()}


def order_of(
    known: Mapping[str, CatalogueModel], what: str, name: str = "", revision: str = "", *, is_copy: bool = False
) -> Order:
    """The order for a name of the catalogue or for ``owner/name`` of a hub; ``name`` is what it is called here.

    An empty revision of the order means that one must be given before a hub is asked. A copy is of the catalogue's
    commit only where the catalogue knows its weights. Raises ConfigError for a revision that is no full commit and for
    a repository that is none.
    """
    if revision and not REVISION.fullmatch(revision):
        raise ConfigError(
            f"--revision {revision!r}: give the full commit, 40 hex digits; branches, tags and short forms can move"
        )
    if entry := known.get(what):
        return _of_entry(entry, name or entry.name, revision, is_copy=is_copy)
    if HUB_ID.fullmatch(what):
        entry = next((one for one in known.values() if one.hub_id == what), None)
        if entry is None:
            return Order(name or what.partition("/")[2], (Source(what, revision),))
        return _of_entry(entry, name or entry.name, revision, is_copy=is_copy)
    if "/" in what:
        raise ConfigError(f"{what!r} is no repository of a hub, which has an owner and a name: owner/name")
    return Order(name or what, (Source("", revision),))


def _of_entry(entry: CatalogueModel, name: str, revision: str, *, is_copy: bool) -> Order:
    return Order(name, tuple(_sources(entry, revision, is_copy=is_copy)), entry.licence)


def _sources(entry: CatalogueModel, revision: str, *, is_copy: bool) -> Iterator[Source]:
    """At another revision than the catalogue's the same files are needed, but their sums are not known."""
    is_ours = revision in {"", entry.revision}
    has_sums = any(known for name, known in entry.files.items() if name.endswith(WEIGHTS))
    ours = entry.revision if has_sums or not is_copy else ""
    yield Source(entry.hub_id, revision or ours, entry.files if is_ours else dict.fromkeys(entry.files, ""))
    if part := entry.foundation:
        yield Source(part.hub_id, part.revision, part.files, FOUNDATION, is_whole=False)
