"""What an answer says has been done, and what a text tells the model to do, as data: one YAML file per language.

RE2 matches these patterns, since some run over whole passages: no text can make it slow. All languages are in force.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from detectors.lexicon.acts.phrases import Phrases

Section = list[str] | Mapping[str, list[str]]
_WORD = r"(?:[^\s.,;:!?，。！？]+ )"
_CLAUSE_START = r"(?:^|[,;:!.…)–—，。！、：；।؟،-] ?|\b(?:and|but|so|und|aber|y|et|e|ed) )"


@dataclass(frozen=True, slots=True)
class Deeds:
    """Patterns over lower-cased text of ``normal_form``.

    ``done`` and ``state`` say that something was done, ``lookups`` that it was looked up, each from a clause's start;
    ``hints`` matches whatever may hold one of them. ``actions`` tells kinds of deed apart, by their name.
    """

    hints: Phrases
    done: Phrases
    state: Phrases
    lookups: Phrases
    verbs: Phrases
    general: Phrases
    conditions: Phrases
    denials: Phrases
    actions: Mapping[str, Phrases]
    reading_tools: Phrases
    failures: Phrases
    no_failures: Phrases


@dataclass(frozen=True, slots=True)
class Instructions:
    """Patterns over text as it stands, whatever its case and white space.

    ``triggers`` makes a stretch of text an instruction to the model, what it asks for stands right behind ``demands``;
    in an answer, ``obeyed`` shows other instructions at work and ``reported`` that a document is only described.
    """

    triggers: Phrases
    demands: Phrases
    obeyed: Phrases
    reported: Phrases


@cache
def load_instructions() -> Instructions:
    """All languages as one, read once per process."""
    files = list(_language_files())

    def section(*names: str) -> Phrases:
        return Phrases((_any_blank(pattern) for name in names for pattern in _section(files, name)), "(?i)")

    return Instructions(
        triggers=section("overrides", "addressed"),
        demands=section("demands"),
        obeyed=section("obeyed"),
        reported=section("reported"),
    )


@cache
def load_deeds() -> Deeds:
    """All languages as one, read once per process."""
    files = list(_language_files())
    done = [found for entries in files for found in _framed(entries, "done_frames", "done_verbs")]
    state = [found for entries in files for found in _framed(entries, "state_frames", "state_verbs")]
    lookups = [pattern.replace("~", _WORD) for pattern in _section(files, "lookups")]
    return Deeds(
        hints=Phrases([*done, *state, *lookups]),
        done=Phrases(done, _CLAUSE_START),
        state=Phrases(state, _CLAUSE_START),
        lookups=Phrases(lookups, _CLAUSE_START),
        verbs=Phrases(verb.replace("~", _WORD) for verb in _section(files, "state_verbs")),
        general=Phrases(_section(files, "general"), r"^\W*"),
        conditions=Phrases(_section(files, "conditions"), "^"),
        denials=Phrases(_section(files, "denials")),
        actions={name: Phrases(stems) for name, stems in sorted(_actions(files).items())},
        reading_tools=Phrases(_section(files, "reading_tools")),
        failures=Phrases(_section(files, "tool_failures")),
        no_failures=Phrases(_section(files, "no_failures")),
    )


def _any_blank(pattern: str) -> str:
    return pattern.replace("~", _WORD).replace(" ?", r"\s*").replace(" ", r"\s+")


def _framed(entries: Mapping[str, Any], frames: str, verbs: str) -> Iterator[str]:
    any_verb = "(?:" + "|".join(entries.get(verbs, [])) + ")"
    for frame in entries.get(frames, []):
        yield frame.replace("@", any_verb).replace("~", _WORD)


def _actions(files: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    merged: dict[str, list[str]] = {}
    for entries in files:
        for name, stems in entries.get("actions", {}).items():
            merged.setdefault(name, []).extend(stems)
    return merged


def _section(files: Iterable[Mapping[str, Any]], name: str) -> list[str]:
    return [pattern for entries in files for pattern in entries.get(name, [])]


def _language_files() -> Iterator[Mapping[str, Any]]:
    folder = resources.files(__name__)
    for path in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if path.name.endswith(".yaml"):
            yield yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader builds text only
