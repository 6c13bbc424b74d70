"""Our cross-encoder from the files shipped with the package and the base model's package, both checked by content."""

import json
from hashlib import blake2b, sha256
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from detectors.evidence import load_weights
from detectors.models.calibration import Calibration
from detectors.models.options import ModelOptions
from detectors.models.own.base import HINT, MODULE, base_folder
from detectors.models.own.detector import VERSION, CrossEncoder, Model
from detectors.models.own.encoding import Encoder
from schemas.errors import ConfigError

WEIGHTS, RECORD = "model.safetensors", "record.json"
_NEEDED = ("torch", "transformers", "tokenizers", "safetensors", MODULE)
_WARM_UP = "Refunds take 14 days."


def load_own(options: ModelOptions | None = None) -> CrossEncoder:
    """The model that ships with us, warmed up; takes seconds and about 150 MB.

    Of ``options`` device, precision, threads and batch_tokens count. Raises ConfigError, naming what to install, where
    a library or the base model is absent or its files are other ones.
    """
    chosen = options or ModelOptions()
    if absent := missing_libraries():
        raise ConfigError(f"our model needs {', '.join(absent)}; {HINT}")
    base = base_folder()
    with as_file(files("detectors.models.own")) as folder:
        return load_from(folder, base, chosen)


def missing_libraries() -> list[str]:
    """Libraries that it needs and that are not installed, the package of its base model among them."""
    return [name for name in _NEEDED if find_spec(name) is None]


def check_own() -> None:
    """Compare its files with what they should be, which needs no library. Raises ConfigError as ``load_own``."""
    base_folder()
    with as_file(files("detectors.models.own")) as folder:
        _record_of(folder)


def load_from(folder: Path, base: Path, options: ModelOptions) -> CrossEncoder:
    """The model whose weights and record lie in ``folder``. Raises ConfigError where they do not belong together."""
    from detectors.models.own.scoring import TorchScorer, load_network  # noqa: PLC0415 - only where it is loaded

    record = _record_of(folder)
    encoder = Encoder(base)
    scorer = TorchScorer(load_network(folder / WEIGHTS, base), options)
    scorer.score([encoder.pair([_WARM_UP], _WARM_UP)])
    calibration = Calibration(**record["calibration"])
    parts = [record["weights_sha256"], VERSION, record["most_chunks"], calibration.numbers]
    digest = blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()
    fingerprint = f"crossencoder:{digest}:{scorer.precision.value}"
    return CrossEncoder(Model(scorer, encoder, load_weights().terms, fingerprint, calibration, record["most_chunks"]))


def _record_of(folder: Path) -> dict[str, Any]:
    """What was written down when the weights in ``folder`` were trained. Raises ConfigError where they are others."""
    if not all((folder / name).is_file() for name in (WEIGHTS, RECORD)):
        raise ConfigError(f"{folder} holds no weights: train them with `make train-l2`, or install the package again")
    record: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    if sha256((folder / WEIGHTS).read_bytes()).hexdigest() != record["weights_sha256"]:
        raise ConfigError(f"{folder / WEIGHTS} is not what {RECORD} describes; install the package again")
    return record
