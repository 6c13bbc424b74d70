"""Folders that look like models: small files with names and configuration of real ones, without sense in them."""

import json
from pathlib import Path

NLI_CONFIG = {
    "architectures": ["DebertaV2ForSequenceClassification"],
    "model_type": "deberta-v2",
    "id2label": {"0": "entailment", "1": "neutral", "2": "contradiction"},
    "label2id": {"entailment": 0, "neutral": 1, "contradiction": 2},
    "max_position_embeddings": 512,
}


def model_folder(folder: Path, **files: bytes) -> Path:
    """A folder with configuration, tokenizer and weights of an NLI model, and ``files`` (__ stands for a dot)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(NLI_CONFIG), encoding="utf-8")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}      ")
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_bytes(content)
    return folder


def flip_a_byte(file: Path, at: int = -1) -> None:
    """Change one byte and leave the size as it is."""
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)
