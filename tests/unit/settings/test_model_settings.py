"""Settings of models: which one, from where, and combinations that cannot work."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from streams.settings.models import Models


@pytest.mark.parametrize("use", ["auto", "none", "own", "hhem-2.1-open", "my_model.v2", "/srv/models/x", "./x"])
def test_a_word_a_name_or_a_path_is_taken(use: str) -> None:
    """What `groundwatch models list` shows, and folders of one's own."""
    assert use == Models(use=use).use


@pytest.mark.parametrize("use", ["", "..", ".hidden", "a b", "a\nb", "-x", "ü"])
def test_what_is_neither_word_nor_name_nor_path_is_refused(use: str) -> None:
    """A name becomes a folder's: it must not lead anywhere else."""
    with pytest.raises(ValidationError):
        Models(use=use)


@pytest.mark.parametrize("revision", ["main", "8e4a2e6", "8E4A2E6E96C708CC76C2344F7E4757DF2515292C"])
def test_a_revision_is_a_full_commit(revision: str) -> None:
    """Branches move, and short forms may come to mean another."""
    with pytest.raises(ValidationError):
        Models(use="hhem-2.1-open", revision=revision)


@pytest.mark.parametrize("use", ["auto", "own", "/srv/x"])
def test_a_revision_needs_a_model_of_a_hub(use: str) -> None:
    """It would hold nothing."""
    with pytest.raises(ValidationError, match="has none"):
        Models(use=use, revision="a" * 40)


def test_int8_and_a_gpu_exclude_each_other() -> None:
    """Found at start, and not with the first batch."""
    with pytest.raises(ValidationError, match="int8 is for a CPU"):
        Models(precision="int8", device="cuda")


@pytest.mark.parametrize("hub", ["ftp://x", "hub.example", "https://user:secret@hub.example"])
def test_the_address_of_a_hub_holds_no_password(hub: str) -> None:
    """It is shown in messages; a token goes to HF_TOKEN."""
    with pytest.raises(ValidationError):
        Models(hub=hub)


def test_models_lie_under_the_data_folder_unless_told_otherwise() -> None:
    """An empty variable means not told."""
    assert Path("data/models") == Models(dir="").folder(Path("data"))
    assert Path("/srv/m") == Models(dir=Path("/srv/m")).folder(Path("data"))
