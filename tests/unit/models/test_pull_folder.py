"""Models from folders: what is copied, what is compared, and what is refused."""

import hashlib
from pathlib import Path

import pytest

from schemas.errors import ConfigError, NotReached
from streams.models.catalogue import CatalogueModel
from streams.models.folder import State, look_at
from streams.models.manifest import MANIFEST, read_manifest
from streams.models.orders import Order, order_of
from streams.models.pull import Pulled, pull_from_folder
from tests.builders_models import flip_a_byte, model_folder

COMMIT, OTHER = "a" * 40, "b" * 40


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of models."""
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder that somebody brought on a stick."""
    return model_folder(tmp_path / "stick")


def entry(source: Path, **fields: object) -> CatalogueModel:
    """An entry of a catalogue for the model in ``source``."""
    weights = hashlib.sha256((source / "model.safetensors").read_bytes()).hexdigest()
    known = {"name": "known", "about": "x", "hub_id": "o/known", "revision": COMMIT, "layout": "nli", "licence": "MIT"}
    return CatalogueModel.model_validate({**known, "files": {"model.safetensors": weights}, **fields})


def pull(root: Path, source: Path, *, order: Order | None = None, replaces: bool = False) -> Pulled:
    """Copy it as a model named m."""
    return pull_from_folder(order or order_of({}, "m"), root, source, replaces=replaces)


def test_a_copy_has_a_manifest_and_is_whole(root: Path, source: Path) -> None:
    """And says which layout it has."""
    done = pull(root, source)
    found = look_at(root, "m", with_sums=True)
    assert (True, State.PRESENT, done.manifest) == (done.is_new, found.state, found.manifest)
    assert ("nli", "", "") == (done.manifest.layout, done.manifest.hub_id, done.manifest.revision)
    assert [] == [path.name for path in root.iterdir() if path.name != "m"]


def test_programs_and_pickles_stay_where_they_are(root: Path, tmp_path: Path) -> None:
    """They are named, since somebody may have counted on them."""
    source = model_folder(tmp_path / "s", modeling__py=b"import os", pytorch_model__bin=b"pickle", README__md=b"words")
    done = pull(root, source)
    assert ("README.md", "modeling.py", "pytorch_model.bin") == done.left
    assert not list((root / "m").glob("*.py"))


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_links_are_refused_and_leave_nothing_behind(root: Path, source: Path, tmp_path: Path, name: str) -> None:
    """A cache of the hub is made of links: the message says how to copy it."""
    (source / name).rename(tmp_path / "blob")
    (source / name).symlink_to(tmp_path / "blob")
    with pytest.raises(ConfigError, match="cp -rL"):
        pull(root, source)
    assert [] == list(root.iterdir())


def test_a_second_copy_of_the_same_changes_nothing(root: Path, source: Path) -> None:
    """Safe to repeat."""
    pull(root, source)
    assert not pull(root, source).is_new


def test_another_model_of_that_name_is_not_overwritten_unless_told(root: Path, source: Path, tmp_path: Path) -> None:
    """A typing error must not change what verify uses."""
    pull(root, source)
    other = model_folder(tmp_path / "other", tokenizer__json=b'{"a": 1}')
    with pytest.raises(ConfigError, match="--replace"):
        pull(root, other)
    assert pull(root, other, replaces=True).is_new
    assert b'{"a": 1}' == (root / "m" / "tokenizer.json").read_bytes()
    assert ["m"] == [path.name for path in root.iterdir()]


def test_a_damaged_model_is_mended_by_replacing_it(root: Path, source: Path) -> None:
    """The same files again, whole."""
    pull(root, source)
    flip_a_byte(root / "m" / "model.safetensors")
    assert pull(root, source, replaces=True).is_new
    assert State.PRESENT is look_at(root, "m", with_sums=True).state


def test_a_copy_of_a_pulled_model_keeps_what_its_manifest_says(root: Path, source: Path, tmp_path: Path) -> None:
    """Where it came from, on the machine without a network as well."""
    catalogue = {"known": entry(source)}
    first = pull_from_folder(order_of(catalogue, "known", is_copy=True), tmp_path / "first", source)
    again = pull_from_folder(order_of({}, "n"), root, first.folder)
    assert (COMMIT, "o/known", "MIT") == (again.manifest.revision, again.manifest.hub_id, again.manifest.licence)


def test_a_source_that_is_not_what_its_manifest_says_is_refused(root: Path, source: Path, tmp_path: Path) -> None:
    """The stick was bad."""
    first = pull(tmp_path / "first", source)
    flip_a_byte(first.folder / "tokenizer.json")
    with pytest.raises(ConfigError, match=r"tokenizer\.json has another SHA-256"):
        pull(root, first.folder)


def test_weights_that_the_catalogue_does_not_know_are_refused(root: Path, source: Path) -> None:
    """Whoever made the copy may have changed them."""
    catalogue = {"known": entry(source)}
    flip_a_byte(source / "model.safetensors")
    with pytest.raises(ConfigError, match=r"model\.safetensors: other bytes than the catalogue \(known\)"):
        pull_from_folder(order_of(catalogue, "known", is_copy=True), root, source)


def test_files_that_a_known_model_needs_must_be_there(root: Path, source: Path) -> None:
    """Found before a process starts with it."""
    foundation = {"hub_id": "o/base", "revision": OTHER, "licence": "MIT", "files": {"spiece.model": ""}}
    catalogue = {"known": entry(source, foundation=foundation)}
    with pytest.raises(ConfigError, match=r"foundation/spiece\.model not among its files"):
        pull_from_folder(order_of(catalogue, "known", is_copy=True), root, source)
    (source / "foundation").mkdir()
    (source / "foundation" / "spiece.model").write_bytes(b"x")
    (source / "foundation" / "tokenizer.json").write_bytes(b"{}")
    done = pull_from_folder(order_of(catalogue, "known", is_copy=True), root, source)
    assert "foundation/spiece.model" in done.manifest.files


def test_a_copy_is_of_the_catalogues_commit_only_where_its_weights_are_known(root: Path, source: Path) -> None:
    """Else nobody knows which commit it is."""
    known, unknown = entry(source), entry(source, name="u", files={"model.safetensors": ""})
    catalogue = {"known": known, "u": unknown}
    commits = [
        pull_from_folder(order_of(catalogue, name, revision=given, is_copy=True), root, source, replaces=True)
        for name, given in (("known", ""), ("u", ""), ("u", OTHER))
    ]
    assert [COMMIT, "", OTHER] == [done.manifest.revision for done in commits]


def test_a_folder_that_lies_in_place_gets_a_manifest(root: Path) -> None:
    """Copied there by hand."""
    folder = model_folder(root / "m")
    assert State.UNCHECKED is look_at(root, "m").state
    pull(root, folder)
    assert State.PRESENT is look_at(root, "m", with_sums=True).state
    assert read_manifest(folder) is not None


def test_a_folder_that_is_no_model_is_refused_and_not_kept(root: Path, tmp_path: Path) -> None:
    """Another kind of model, no weights, or nothing at all."""
    with pytest.raises(NotReached, match="no such folder"):
        pull(root, tmp_path / "nowhere")
    writer = model_folder(tmp_path / "g", config__json=b'{"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2"}')
    with pytest.raises(ConfigError, match="no model that we can ask"):
        pull(root, writer)
    pickled = model_folder(tmp_path / "p", pytorch_model__bin=b"x")
    (pickled / "model.safetensors").unlink()
    with pytest.raises(ConfigError, match="safetensors"):
        pull(root, pickled)
    assert [] == list(root.iterdir())


def test_a_manifest_of_the_source_is_not_taken_for_a_file_of_the_model(root: Path, source: Path) -> None:
    """It is read, and a new one written."""
    first = pull(root, source)
    assert MANIFEST not in first.manifest.files
    assert (root / "m" / MANIFEST).is_file()


@pytest.mark.parametrize("what", ["a/b/c", "/etc/passwd", "../x/y"])
def test_what_is_no_repository_is_refused(what: str) -> None:
    """A name is one word, a repository two."""
    with pytest.raises(ConfigError, match="owner/name"):
        order_of({}, what)
