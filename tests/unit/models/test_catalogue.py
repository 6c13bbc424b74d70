"""The catalogue of models: what an entry must say, and that the shipped one says it."""

import pytest
from pydantic import ValidationError

from streams.models.catalogue import catalogue, parse_catalogue
from streams.models.files import WEIGHTS

ENTRY = """
- name: one
  about: A model.
  hub_id: owner/one
  revision: {revision}
  layout: nli
  licence: MIT
  files: {files}
"""


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_shipped_entries_can_be_pulled_and_loaded(name: str) -> None:
    """A full commit, weights in safetensors, a configuration, a licence, and a tokenizer of its own or another's."""
    entry = catalogue()[name]
    parts = [part for part in (entry, entry.foundation) if part is not None]
    assert [part.hub_id for part in parts if len(part.revision) != 40] == []
    assert any(file.endswith(WEIGHTS) for file in entry.files)
    assert "config.json" in entry.files
    assert any("tokenizer.json" in part.files for part in parts)
    assert all(part.licence for part in parts)


@pytest.mark.parametrize("revision", ["main", "v1.0", "8e4a2e6", "'8E4A2E6E96C708CC76C2344F7E4757DF2515292C'"])
def test_a_revision_that_can_move_is_refused(revision: str) -> None:
    """Branches and tags are moved by their owner."""
    with pytest.raises(ValidationError):
        parse_catalogue(ENTRY.format(revision=revision, files="{config.json: ''}"))


def test_no_revision_leaves_it_to_whoever_pulls() -> None:
    """Better than one that nobody looked at."""
    assert parse_catalogue(ENTRY.format(revision='""', files="{config.json: ''}"))["one"].revision == ""


@pytest.mark.parametrize(
    "file", ["model.bin", "modeling.py", "../x.json", "a/b.json", ".hidden.json", "pytorch_model.pt"]
)
def test_files_that_we_never_take_cannot_be_asked_for(file: str) -> None:
    """Programs, pickles, and paths that lead elsewhere."""
    with pytest.raises(ValidationError):
        parse_catalogue(ENTRY.format(revision='""', files=f"{{{file!r}: ''}}"))


@pytest.mark.parametrize("name", ["own", "auto"])
def test_words_of_the_settings_are_no_names(name: str) -> None:
    """`models.use` could not tell them apart."""
    text = ENTRY.format(revision='""', files="{config.json: ''}").replace("name: one", f"name: {name}")
    with pytest.raises(ValueError, match="taken"):
        parse_catalogue(text)


def test_a_name_stands_for_one_model() -> None:
    """The second would hide the first."""
    with pytest.raises(ValueError, match="taken"):
        parse_catalogue(ENTRY.format(revision='""', files="{config.json: ''}") * 2)
