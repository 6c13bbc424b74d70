"""Models from a hub: only safe files, at a full commit, compared with what the hub says; and what goes wrong."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.errors import ConfigError, HubUnavailable, NotReached
from streams.models.catalogue import CatalogueModel
from streams.models.folder import State, look_at
from streams.models.hub import Hub
from streams.models.orders import order_of
from streams.models.pull import Pulled, pull_from_hub
from tests.builders_models import flip_a_byte, model_folder
from tests.hub_double import HubDouble, serve_hub

COMMIT, OTHER = "a" * 40, "b" * 40


@pytest.fixture(autouse=True)
def _no_token_and_no_offline_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this machine is logged in to is nobody's business here."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubDouble]:
    """A hub with one model, in which lies more than we take."""
    files = {path.name: path.read_bytes() for path in model_folder(tmp_path / "made").iterdir()}
    others = {"modeling.py": b"import os", "pytorch_model.bin": b"pickle", "onnx/model.onnx": b"x", "README.md": b"#"}
    with serve_hub(HubDouble({"o/nli": {COMMIT: {**files, **others}}})) as served:
        yield served


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of models."""
    return tmp_path / "models"


def pull(hub: HubDouble, root: Path, *, revision: str = COMMIT, replaces: bool = False) -> Pulled:
    """Pull the one model."""
    return pull_from_hub(order_of({}, "o/nli", revision=revision), root, Hub(hub.address), replaces=replaces)


def test_safe_files_come_and_nothing_else_is_asked_for(hub: HubDouble, root: Path) -> None:
    """Programs and pickles are not even downloaded."""
    done = pull(hub, root)
    assert ("o/nli", COMMIT, "nli") == (done.manifest.hub_id, done.manifest.revision, done.manifest.layout)
    assert ("README.md", "modeling.py", "onnx/model.onnx", "pytorch_model.bin") == done.left
    assert State.PRESENT is look_at(root, "nli", with_sums=True).state
    assert [] == [path for path in hub.asked if path.endswith((".py", ".bin", ".onnx"))]
    assert ["nli"] == [path.name for path in root.iterdir()]


def test_what_is_there_is_not_asked_for_again(hub: HubDouble, root: Path) -> None:
    """So that pulling can stand in a start script, also while the hub is away."""
    pull(hub, root)
    hub.asked.clear()
    assert not pull(hub, root).is_new
    assert [] == hub.asked


def test_without_a_commit_the_newest_is_named_and_not_taken(hub: HubDouble, root: Path) -> None:
    """A branch moves; somebody has to look at what it points to."""
    with pytest.raises(ConfigError, match=f"--revision {COMMIT}"):
        pull(hub, root, revision="")
    assert not (root / "nli").exists()


def test_another_commit_needs_to_be_told_to_replace(hub: HubDouble, root: Path) -> None:
    """Another model is another series of verdicts."""
    pull(hub, root)
    hub.repositories["o/nli"][OTHER] = {**hub.repositories["o/nli"][COMMIT], "tokenizer.json": b'{"b": 1}'}
    with pytest.raises(ConfigError, match="--replace"):
        pull(hub, root, revision=OTHER)
    assert OTHER == pull(hub, root, revision=OTHER, replaces=True).manifest.revision
    assert b'{"b": 1}' == (root / "nli" / "tokenizer.json").read_bytes()


def test_a_download_that_breaks_off_goes_on_where_it_was(hub: HubDouble, root: Path) -> None:
    """Nothing is in place until all of it is there."""
    hub.broken = {"model.safetensors"}
    with pytest.raises(HubUnavailable, match="did not answer"):
        pull(hub, root)
    assert State.ABSENT is look_at(root, "nli").state
    hub.asked.clear()
    assert pull(hub, root).is_new
    assert [f"GET /o/nli/resolve/{COMMIT}/model.safetensors"] == [path for path in hub.asked if "GET /o/" in path]


def test_bytes_that_are_not_those_the_hub_lists_are_thrown_away(hub: HubDouble, root: Path) -> None:
    """A mirror or a proxy changed them; the next pull begins anew."""
    hub.lies = {"model.safetensors": "0" * 64}
    with pytest.raises(ConfigError, match=r"model\.safetensors: other bytes than o/nli"):
        pull(hub, root)
    assert [] == list(root.iterdir())


def test_a_mirror_cannot_change_weights_that_the_catalogue_knows(hub: HubDouble, root: Path) -> None:
    """Its own list would agree with them."""
    entry = CatalogueModel.model_validate(
        {"name": "n", "about": "x", "hub_id": "o/nli", "revision": COMMIT, "layout": "nli", "licence": "MIT",
         "files": {"model.safetensors": "1" * 64}}
    )  # fmt: skip
    with pytest.raises(ConfigError, match="the catalogue"):
        pull_from_hub(order_of({"n": entry}, "n"), root, Hub(hub.address))
    assert [] == list(root.iterdir())


def test_files_of_another_repository_come_into_their_folder(hub: HubDouble, root: Path) -> None:
    """Only those that are needed: not the weights of the model that it was made from."""
    hub.repositories["o/base"] = {
        OTHER: {"spiece.model": b"pieces", "tokenizer.json": b"{}", "model.safetensors": b"x"}
    }
    foundation = {
        "hub_id": "o/base",
        "revision": OTHER,
        "licence": "MIT",
        "files": {"spiece.model": "", "tokenizer.json": ""},
    }
    entry = CatalogueModel.model_validate(
        {"name": "n", "about": "x", "hub_id": "o/nli", "revision": COMMIT, "layout": "nli", "licence": "MIT",
         "files": {"config.json": ""}, "foundation": foundation}
    )  # fmt: skip
    pull_from_hub(order_of({"n": entry}, "o/nli"), root, Hub(hub.address))
    assert ["spiece.model", "tokenizer.json"] == sorted(path.name for path in (root / "n" / "foundation").iterdir())


def test_a_repository_without_safetensors_is_refused(hub: HubDouble, root: Path) -> None:
    """Pickled weights run as programs."""
    del hub.repositories["o/nli"][COMMIT]["model.safetensors"]
    with pytest.raises(NotReached, match="pickled weights"):
        pull(hub, root)


@pytest.mark.parametrize(
    ("repository", "revision", "told"),
    [("o/none", COMMIT, "no such model"), ("o/nli", OTHER, "no such commit"), ("o/gated", COMMIT, "HF_TOKEN")],
)
def test_what_the_hub_does_not_have_is_said(
    hub: HubDouble, root: Path, repository: str, revision: str, told: str
) -> None:
    """With what to do, and no traceback."""
    hub.repositories["o/gated"], hub.gated = {COMMIT: {}}, {"o/gated"}
    with pytest.raises(NotReached, match=told):
        pull_from_hub(order_of({}, repository, "x", revision), root, Hub(hub.address))


def test_a_hub_that_is_away_names_the_way_without_one(root: Path) -> None:
    """Copy the folder."""
    with pytest.raises(HubUnavailable, match="--from FOLDER"):
        pull_from_hub(order_of({}, "o/nli", revision=COMMIT), root, Hub("http://127.0.0.1:9"))


def test_a_name_that_nobody_knows_is_not_asked_for(root: Path) -> None:
    """It would be another repository than was meant."""
    with pytest.raises(NotReached, match="owner/name"):
        pull_from_hub(order_of({}, "hhem"), root, Hub("http://127.0.0.1:9"))


def test_a_damaged_model_is_pulled_again_when_told(hub: HubDouble, root: Path) -> None:
    """The same commit."""
    pull(hub, root)
    flip_a_byte(root / "nli" / "config.json")
    with pytest.raises(ConfigError, match="--replace"):
        pull(hub, root)
    assert pull(hub, root, replaces=True).is_new
    assert State.PRESENT is look_at(root, "nli", with_sums=True).state
