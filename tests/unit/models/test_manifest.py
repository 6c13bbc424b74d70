"""Checksums of a model's files: what is found, and what must not lie there at all."""

from pathlib import Path

import pytest

from schemas.errors import ConfigError
from streams.models.folder import State, look_at, look_into, models_in, place_of
from streams.models.manifest import MANIFEST, Manifest, faults_of, read_manifest, sums_of, write_manifest
from tests.builders_models import flip_a_byte, model_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model with its manifest."""
    found = model_folder(tmp_path / "m")
    (found / "foundation").mkdir()
    (found / "foundation" / "spiece.model").write_bytes(b"pieces")
    write_manifest(found, Manifest(name="m", layout="nli", files=sums_of(found)))
    return found


def test_a_whole_model_has_no_faults(folder: Path) -> None:
    """Files one folder down are among them."""
    found = look_into(folder, "m", with_sums=True)
    assert (State.PRESENT, ()) == (found.state, found.faults)
    assert found.manifest is not None
    assert "foundation/spiece.model" in found.manifest.files


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "foundation/spiece.model"])
def test_a_flipped_byte_is_found_by_its_sum(folder: Path, file: str) -> None:
    """The size is the same, so names and sizes alone do not tell."""
    flip_a_byte(folder / file)
    assert State.PRESENT is look_into(folder, "m").state
    found = look_into(folder, "m", with_sums=True)
    assert (State.DAMAGED, (f"{file} has another SHA-256 than when it was pulled",)) == (found.state, found.faults)


def test_a_torn_and_a_missing_file_are_found_without_sums(folder: Path) -> None:
    """A copy that broke off is told at once."""
    (folder / "model.safetensors").write_bytes(b"torn")
    (folder / "tokenizer.json").unlink()
    assert ("tokenizer.json is missing", "model.safetensors has 4 bytes instead of 16") == look_into(folder, "m").faults


@pytest.mark.parametrize("name", ["modeling_x.py", "pytorch_model.bin", "README.md", ".x.json", "x.pkl"])
def test_a_file_that_does_not_belong_there_is_a_fault(folder: Path, name: str) -> None:
    """Somebody put it there after the pull."""
    (folder / name).write_bytes(b"x")
    assert [name in fault for fault in look_into(folder, "m").faults] == [True]


def test_a_file_of_a_known_kind_that_was_added_is_a_fault(folder: Path) -> None:
    """A second shard of weights would be loaded."""
    (folder / "extra.safetensors").write_bytes(b"x")
    assert ("extra.safetensors is not in the manifest",) == look_into(folder, "m").faults


@pytest.mark.parametrize("name", ["linked.json", "foundation/linked.json", "weights.safetensors"])
def test_a_link_is_a_fault_wherever_it_leads(folder: Path, tmp_path: Path, name: str) -> None:
    """Also to a file that exists and is whole."""
    (folder / name).symlink_to(tmp_path / "m" / "config.json")
    assert ["is a link" in fault for fault in look_into(folder, "m").faults] == [True]


def test_a_manifest_that_is_a_link_is_not_read(folder: Path, tmp_path: Path) -> None:
    """It would be what another folder says."""
    (folder / MANIFEST).rename(tmp_path / "elsewhere.json")
    (folder / MANIFEST).symlink_to(tmp_path / "elsewhere.json")
    assert State.DAMAGED is look_into(folder, "m").state


def test_a_broken_manifest_is_damage_and_not_a_crash(folder: Path) -> None:
    """The message says what to do."""
    (folder / MANIFEST).write_text('{"name": "m"', encoding="utf-8")
    found = look_into(folder, "m")
    assert State.DAMAGED is found.state
    assert "--replace" in found.faults[0]


def test_a_folder_without_a_manifest_is_unchecked(tmp_path: Path) -> None:
    """Nobody can say whether it is whole."""
    folder = model_folder(tmp_path / "m")
    assert read_manifest(folder) is None
    assert State.UNCHECKED is look_into(folder, "m", with_sums=True).state


def test_pickled_weights_are_no_weights(tmp_path: Path) -> None:
    """A folder needs safetensors."""
    folder = model_folder(tmp_path / "m")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ConfigError, match="safetensors"):
        sums_of(folder)


@pytest.mark.parametrize("name", ["..", ".", "a/b", "/etc", "", "own", ".pulling-x", "a\\b", "x\n"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    """Nor to a word of the settings."""
    with pytest.raises(ConfigError, match="cannot be the name"):
        place_of(tmp_path, name)


def test_a_model_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """It could lead anywhere, and be led elsewhere later."""
    (tmp_path / "x").symlink_to(model_folder(tmp_path / "m"))
    with pytest.raises(ConfigError, match="is a link"):
        look_at(tmp_path, "x")


def test_what_lies_in_the_folder_is_named_without_what_is_being_made(tmp_path: Path) -> None:
    """Files, and folders of a pull that goes on, are no models."""
    model_folder(tmp_path / "b")
    model_folder(tmp_path / ".pulling-c")
    (tmp_path / "note.txt").touch()
    assert ["b"] == list(models_in(tmp_path))
    assert [] == list(models_in(tmp_path / "nowhere"))


def test_faults_name_every_file_once(folder: Path) -> None:
    """In an order that does not change."""
    manifest = read_manifest(folder)
    assert manifest is not None
    for path in manifest.files:
        (folder / path).unlink()
    assert sorted(f"{path} is missing" for path in manifest.files) == [
        fault for fault in faults_of(folder, manifest, with_sums=True) if fault.endswith("is missing")
    ]
