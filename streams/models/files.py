"""Which files of a model are taken, and which are never: weights that are code when they are read, and programs."""

import re
from collections.abc import Iterable

TAKEN = re.compile(
    r"[A-Za-z0-9][\w.-]{0,150}\.(?:safetensors|json)|vocab\.txt|merges\.txt|spiece\.model|spm\.model"
    r"|sentencepiece\.bpe\.model|tokenizer\.model"
)
"""Safe tensors, JSON, and the vocabularies of tokenizers. Pickled weights (*.bin, *.pt) and *.py run as programs."""
WEIGHTS = ".safetensors"


def is_taken(name: str) -> bool:
    """Whether a file of this name, without a folder, is a part of a model for us."""
    return TAKEN.fullmatch(name) is not None


def check_file_name(name: str) -> str:
    """The name. Raises ValueError where we take no file of that name."""
    if not is_taken(name):
        message = f"{name!r} is no file that we take: safetensors, JSON and tokenizer vocabularies alone"
        raise ValueError(message)
    return name


def chosen(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Names that are taken and names that are left, each sorted; what lies in a subfolder is left."""
    kept = sorted(names)
    return [name for name in kept if is_taken(name)], [name for name in kept if not is_taken(name)]
