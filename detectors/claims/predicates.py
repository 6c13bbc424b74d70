"""The words by which an English sentence is taken apart: read once from the file beside this module."""

from collections.abc import Sequence
from functools import cache
from importlib import resources

import yaml

_SHORTEST_PAST = 4


@cache
def joint_words(section: str) -> frozenset[str]:
    """The words of a section of ``joints.yaml``, in small letters. Raises KeyError for a section that is not there."""
    text = (resources.files(__package__) / "joints.yaml").read_text("utf-8")
    sections = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader builds text only: "no" is a word here
    return frozenset(sections[section].split())


def finite_places(words: Sequence[str]) -> list[int]:
    """Places of the verbs that are surely finite: unmistakable forms, and plural ones behind a plural subject."""
    low = [word.lower() for word in words]
    found = (at for at, word in enumerate(low) if is_finite(word) or _is_plural(low, at))
    return [at for at in found if at == 0 or low[at - 1] != "to"]


def is_finite(word: str) -> bool:
    """Whether a word in small letters is surely a verb in a finite form."""
    return word in joint_words("finite")


def is_past(word: str) -> bool:
    """Whether a verb in small letters may be past tense."""
    return word in joint_words("past") or (word.endswith("ed") and len(word) > _SHORTEST_PAST)


def _is_plural(words: Sequence[str], at: int) -> bool:
    """``they offer``, ``they also offer``."""
    if words[at] not in joint_words("plural"):
        return False
    before = [word for word in words[max(0, at - 2) : at] if word not in joint_words("adverbs")]
    return bool(before) and before[-1] in joint_words("plurals")
