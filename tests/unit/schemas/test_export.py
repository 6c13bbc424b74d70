"""The JSON Schemas in docs are those of the models."""

import json
from pathlib import Path

import pytest

from schemas.export import EXPORTED, export, schema_text

FOLDER = Path(__file__).parents[3] / "docs" / "schema"


@pytest.mark.parametrize("name", EXPORTED)
def test_exported_schema_is_in_step_with_its_model(name: str) -> None:
    """`make docs` rewrites the files."""
    assert schema_text(EXPORTED[name]) == (FOLDER / f"{name}.json").read_text(encoding="utf-8")


def test_no_schema_is_left_over() -> None:
    """A renamed model leaves no old file behind."""
    assert sorted(EXPORTED) == sorted(path.stem for path in FOLDER.glob("*.json"))


def test_export_writes_valid_json(tmp_path: Path) -> None:
    """One file a model."""
    assert len(EXPORTED) == len([json.loads(path.read_text(encoding="utf-8")) for path in export(tmp_path / "new")])


def test_trace_requires_id_and_time_alone() -> None:
    """As the page about the native format says."""
    assert ["trace_id", "ts"] == json.loads(schema_text(EXPORTED["trace"]))["required"]
