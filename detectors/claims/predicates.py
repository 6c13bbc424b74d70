"""The words by which an English sentence is taken apart: read once from the file beside this module."""

from functools import cache
from importlib import resources

import yaml


@cache
def joint_words(section: str) -> frozenset[str]:
    """The words of a section of ``joints.yaml``, in small letters. Raises KeyError for a section that is not there."""
    text = (resources.files(__package__) / "joints.yaml").read_text("utf-8")
    sections = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader builds text only: "no" is a word here
    return frozenset(sections[section].split())


def is_finite(word: str) -> bool:
    """Whether a word in small letters is surely a verb in a finite form."""
    return word in joint_words("finite")
