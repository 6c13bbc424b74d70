"""Getting a model: made aside from a hub or a folder, compared with what is known, then put in place as a whole."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from detectors.models.folder import read_folder
from schemas.errors import ConfigError, NotReached
from streams.models.files import WEIGHTS, chosen
from streams.models.folder import FOUNDATION, Found, State, look_at, look_into, place_of, tokenizer_of
from streams.models.hub import Hub
from streams.models.manifest import MANIFEST, FileSum, Manifest, sum_of, sums_of, write_manifest
from streams.models.orders import Order, Source

_ASIDE = ".pulling-"
"""How folders begin that a model is made in: names of models have no leading dot."""
_CACHE = ".cache"
"""Where the hub's library notes how far it came."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """A model that lies in its place now; ``left`` are files of its source that we do not take."""

    manifest: Manifest
    folder: Path
    is_new: bool
    left: tuple[str, ...] = ()


def pull_from_hub(order: Order, root: Path, hub: Hub, *, replaces: bool = False) -> Pulled:
    """Download a model; one that lies there whole, of the same commit, is left as it is. What breaks off goes on later.

    Raises ConfigError where another model has that name and ``replaces`` is not set, where files are not what the hub
    or the catalogue says, and where no layout is recognised; HubUnavailable and NotReached as ``Hub``.
    """
    main = order.sources[0]
    if not main.hub_id:
        raise NotReached(
            f"{order.name}: neither a name of `groundwatch models list` nor owner/name of a hub; for a copy give --from"
        )
    if not main.revision:
        raise ConfigError(
            f"{order.name}: say which commit, since branches move; main stands at --revision {hub.newest(main.hub_id)}"
        )
    there = look_at(root, order.name, with_sums=True)
    if there.state is State.PRESENT and there.manifest and _is_of(there.manifest, main):
        return Pulled(there.manifest, there.folder, is_new=False)
    if there.state is not State.ABSENT and not replaces:
        raise _taken(there.folder)
    aside = root / f"{_ASIDE}{order.name}-{main.revision[:12]}"
    with _gone_if_wrong(aside):
        left = [name for source in order.sources for name in _fetched(hub, source, aside / source.folder)]
        for source in order.sources:
            shutil.rmtree(aside / source.folder / _CACHE, ignore_errors=True)
        return _put(aside, there, _manifest(order, aside, None), tuple(left))


def pull_from_folder(order: Order, root: Path, folder: Path, *, replaces: bool = False) -> Pulled:
    """Copy a model, comparing it with the manifest that it may have; of a folder that lies in place, make one.

    Raises NotReached where there is no such folder, and ConfigError for links in it and as ``pull_from_hub``.
    """
    if not folder.is_dir():
        raise NotReached(f"--from {folder}: no such folder; give the one that holds config.json and *{WEIGHTS}")
    source = look_into(folder, order.name, with_sums=True)
    if source.state is State.DAMAGED:
        raise ConfigError(f"--from {folder}: {'; '.join(source.faults)}; copy it again")
    place = place_of(root, order.name)
    if place.exists() and place.samefile(folder):
        manifest = _manifest(order, folder, source.manifest)
        write_manifest(folder, manifest)
        return Pulled(manifest, folder, is_new=source.manifest != manifest)
    aside = root / f"{_ASIDE}{order.name}"
    shutil.rmtree(aside, ignore_errors=True)
    with _gone_if_wrong(aside):
        left = _copied(folder, aside)
        manifest = _manifest(order, aside, source.manifest)
        there = look_at(root, order.name, with_sums=True)
        if there.state is State.PRESENT and there.manifest == manifest:
            shutil.rmtree(aside)
            return Pulled(manifest, place, is_new=False, left=tuple(left))
        if there.state is not State.ABSENT and not replaces:
            raise _taken(place)
        return _put(aside, there, manifest, tuple(left))


def _fetched(hub: Hub, source: Source, into: Path) -> Iterable[str]:
    """Download the files of one repository; what it holds beside them."""
    listing = hub.listing(source)
    names = [name for name in listing.taken if source.is_whole or name in source.wanted]
    if source.is_whole and not any(name.endswith(WEIGHTS) for name in names):
        raise NotReached(
            f"{source.hub_id} at {source.revision} has no *{WEIGHTS}; pickled weights run as programs when they are "
            "read and are never taken: choose another commit, or convert them and give the folder with --from"
        )
    hub.fetch(source, names, into)
    told = {name: known for name in names if (known := listing.taken[name])}
    _compare({name: sum_of(into / name) for name in told}, told, f"{source.hub_id} at {source.revision}")
    return listing.left if source.is_whole else ()


def _copied(folder: Path, aside: Path) -> list[str]:
    """Copy the files that are a part of a model; paths of those that are not. Raises ConfigError for links."""
    left: list[str] = []
    for part in ("", FOUNDATION):
        here = folder / part
        if not here.is_dir():
            continue
        files = [path for path in here.iterdir() if path.is_symlink() or path.is_file()]
        taken, others = chosen(path.name for path in files if path.name != MANIFEST)
        left += [f"{part}/{name}" if part else name for name in others]
        linked = [name for name in (part, *taken) if name and (folder / part / name).is_symlink()]
        if here.is_symlink() or linked:
            raise ConfigError(
                f"--from {folder}: {', '.join(linked) or part} is a link, which could lead anywhere; copy the folder "
                "with its contents first: cp -rL"
            )
        (aside / part).mkdir(parents=True, exist_ok=True)
        for name in taken:
            shutil.copyfile(here / name, aside / part / name, follow_symlinks=False)
    return left


def _put(aside: Path, there: Found, manifest: Manifest, left: tuple[str, ...]) -> Pulled:
    """Move a complete model into its place; what lay there before goes."""
    write_manifest(aside, manifest)
    old = aside.with_name(f"{aside.name}-old")
    shutil.rmtree(old, ignore_errors=True)
    if there.state is not State.ABSENT:
        there.folder.rename(old)
    aside.rename(there.folder)
    shutil.rmtree(old, ignore_errors=True)
    return Pulled(manifest, there.folder, is_new=True, left=left)


@contextmanager
def _gone_if_wrong(aside: Path) -> Iterator[None]:
    """What is wrong must not be what the next pull goes on with; what broke off may be."""
    try:
        yield
    except ConfigError:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _manifest(order: Order, folder: Path, told: Manifest | None) -> Manifest:
    """The manifest of the files in a folder, once they are what they should be; ``told`` is one that came with them."""
    files = sums_of(folder)
    if missing := sorted(order.wanted.keys() - files.keys()):
        raise ConfigError(f"{order.name}: {', '.join(missing)} not among its files; a model of this name needs them")
    known = {path: digest for path, digest in order.wanted.items() if digest}
    _compare(files, known, f"the catalogue ({order.name})")
    main = order.sources[0]
    return Manifest(
        name=order.name,
        layout=read_folder(folder, tokenizer_of(folder)).layout.value,
        licence=order.licence or (told.licence if told else ""),
        hub_id=told.hub_id if told else main.hub_id,
        revision=told.revision if told else main.revision,
        files=files,
    )


def _compare(files: Mapping[str, FileSum], known: Mapping[str, str], whose: str) -> None:
    wrong = sorted(path for path, digest in known.items() if files[path].sha256 != digest)
    if wrong:
        raise ConfigError(f"{', '.join(wrong)}: other bytes than {whose} has; do not use them, get them again")


def _is_of(manifest: Manifest, source: Source) -> bool:
    return (manifest.hub_id, manifest.revision) == (source.hub_id, source.revision)


def _taken(place: Path) -> ConfigError:
    return ConfigError(
        f"{place} holds another model, or a damaged one; replace it with --replace, or name this one --as"
    )
