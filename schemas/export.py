"""JSON Schemas of messages and files, written from the models: ``python -m schemas.export docs/schema``."""

import json
import sys
from pathlib import Path

from schemas.alert import Alert
from schemas.base import Record
from schemas.claim import Claim
from schemas.document import DocumentVersion
from schemas.draw import Draw, DrawnTrace, Screening
from schemas.golden import GoldenCase
from schemas.policy import PolicyDocument, PolicyRecord
from schemas.review import ReviewLabel
from schemas.slice import Slice
from schemas.tally import Tally
from schemas.trace import Passage, Trace
from schemas.verdict import Verdict

EXPORTED: dict[str, type[Record]] = {
    "trace": Trace,
    "passage": Passage,
    "claim": Claim,
    "draw": Draw,
    "screening": Screening,
    "drawn-trace": DrawnTrace,
    "verdict": Verdict,
    "slice": Slice,
    "tally": Tally,
    "alert": Alert,
    "policy": PolicyDocument,
    "policy-record": PolicyRecord,
    "document-version": DocumentVersion,
    "golden-case": GoldenCase,
    "review-label": ReviewLabel,
}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_text(model: type[Record]) -> str:
    """The JSON Schema of a model, stable from run to run."""
    schema = {"$schema": DIALECT, **model.model_json_schema()}
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def export(folder: Path) -> list[Path]:
    """Write one file a model and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.json" for name in EXPORTED]
    for path, model in zip(paths, EXPORTED.values(), strict=True):
        path.write_text(schema_text(model), encoding="utf-8")
    return paths


if __name__ == "__main__":
    export(Path(sys.argv[1]))
