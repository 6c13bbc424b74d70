"""Words and phrases by language, kept as data: one YAML file per language, so that adding a language needs no code.

All languages are in force at once, because the language of an answer is not known for certain.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml

from detectors.lexicon.acts.phrases import Phrases

Entries = Mapping[str, list[str]]
_NEVER = "(?!)"


@dataclass(frozen=True, slots=True)
class Refusals:
    """How one language says that the answer is not known.

    ``cues`` are a cheap test: what the pattern matches, between two blanks, holds one of them. Contrasts and additions
    belong to the language, because "so" joins clauses in English and means "I know" in Italian.
    """

    cues: tuple[str, ...]
    pattern: re.Pattern[str]
    contrasts: re.Pattern[str]
    additions: re.Pattern[str]

    def found_in(self, form: str) -> bool:
        """Whether a text in normal form holds a refusal at any place."""
        padded = f" {form} "
        return any(map(padded.__contains__, self.cues)) and self.pattern.search(form) is not None


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The union over all languages; words are lower-cased, patterns are compiled for lower-cased text.

    ``courtesy_openers`` matches what opens with a greeting, thanks, offer or meta sentence, ``refusal_hint`` any cue:
    one cheap look instead of many.
    """

    abbreviations: frozenset[str]
    abbreviations_before_number: frozenset[str]
    abbreviations_before_starter: frozenset[str]
    starters: frozenset[str]
    months: frozenset[str]
    before_ordinal: frozenset[str]
    verbs: frozenset[str]
    unspaced_verbs: tuple[str, ...]
    question_words: frozenset[str]
    question_endings: tuple[str, ...]
    continuers: tuple[str, ...]
    final_particles: tuple[str, ...]
    stopwords: frozenset[str]
    referring: re.Pattern[str]
    limiting: re.Pattern[str]
    lead_ins: re.Pattern[str]
    greetings: re.Pattern[str]
    thanks: re.Pattern[str]
    offers: re.Pattern[str]
    meta: re.Pattern[str]
    courtesy_openers: re.Pattern[str]
    refusal_hint: Phrases
    refusal_cues: tuple[tuple[str, Refusals], ...]
    ascii_refusal_cues: tuple[tuple[str, Refusals], ...]
    referrals: re.Pattern[str]
    fillers: re.Pattern[str]
    clarifications: re.Pattern[str]
    source_headings: frozenset[str]
    citation_cues: frozenset[str]

    def languages_of_refusals(self, form: str) -> list[Refusals]:
        """Languages of which a cue stands in a text in normal form."""
        padded = f" {form} "
        if self.refusal_hint.search(padded) is None:
            return []
        pairs = self.ascii_refusal_cues if form.isascii() else self.refusal_cues
        return list(dict.fromkeys([language for cue, language in pairs if cue in padded]))


@cache
def load_lexicon() -> Lexicon:
    """All language files of the package as one lexicon, read once per process."""
    files = list(_language_files())

    def words(section: str) -> frozenset[str]:
        return frozenset(word.lower() for entries in files for word in entries.get(section, []))

    def all_of(*sections: str) -> list[str]:
        return [text for section in sections for entries in files for text in entries.get(section, [])]

    def patterns(section: str) -> re.Pattern[str]:
        return _any_of(all_of(section))

    def openers(section: str) -> re.Pattern[str]:
        return _opening(words(section))

    refusals = [_refusals(entries) for entries in files if "refusals" in entries]
    cues = tuple((cue, language) for language in refusals for cue in language.cues)
    return Lexicon(
        abbreviations=words("abbreviations"),
        abbreviations_before_number=words("abbreviations_before_number"),
        abbreviations_before_starter=words("abbreviations_before_starter"),
        starters=words("starters"),
        months=words("months"),
        before_ordinal=words("before_ordinal"),
        verbs=words("verbs"),
        unspaced_verbs=tuple(sorted(filter(_is_unspaced, words("verbs")))),
        question_words=words("question_words"),
        question_endings=tuple(sorted(words("question_endings"))),
        continuers=tuple(sorted(words("continuers"))),
        final_particles=tuple(sorted(words("final_particles"))),
        stopwords=words("stopwords"),
        referring=openers("referring"),
        limiting=openers("limiting"),
        lead_ins=patterns("lead_ins"),
        greetings=patterns("greetings"),
        thanks=patterns("thanks"),
        offers=patterns("offers"),
        meta=patterns("meta"),
        courtesy_openers=_any_of(map(_open_ended, all_of("greetings", "thanks", "offers", "meta"))),
        refusal_hint=Phrases(re.escape(cue) for cue, _ in cues),
        refusal_cues=cues,
        ascii_refusal_cues=tuple(pair for pair in cues if pair[0].isascii()),
        referrals=patterns("referrals"),
        fillers=patterns("fillers"),
        clarifications=patterns("clarifications"),
        source_headings=words("source_headings"),
        citation_cues=words("citation_cues"),
    )


def normal_form(text: str, limit: int = 400) -> str:
    """Lower-cased text with straight apostrophes, single spaces and without markup at its ends; at most ``limit``."""
    straight = text[:limit].replace("’", "'").replace("ʼ", "'").lower()
    return " ".join(straight.split()).strip("*_#>`~\"“”„«»'¿¡ ")


def _language_files() -> Iterator[Entries]:
    folder = resources.files(__name__)
    for path in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if path.name.endswith(".yaml"):
            # Every scalar must stay text: "no", "on" and "yes" are words here.
            yield yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader builds text only


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def _open_ended(pattern: str) -> str:
    """A pattern that also matches where more text follows."""
    return pattern.replace("$", "").replace(r"\b", "")


def _alternatives(words: Iterable[str]) -> str:
    found = sorted(set(words), key=lambda word: (-len(word), word))
    return "(?:" + "|".join(map(re.escape, found)) + ")" if found else _NEVER


def _refusals(entries: Entries) -> Refusals:
    return Refusals(
        cues=tuple(entries["refusal_cues"]),
        pattern=_any_of(entries["refusals"]),
        contrasts=_joining(entries.get("contrasts", [])),
        additions=re.compile(rf",\s{{1,3}}{_alternatives(entries.get('additions', []))}(?!\w)"),
    )


def _joining(words: Iterable[str]) -> re.Pattern[str]:
    """Matches what joins two clauses: a spaced word, or one of a script without spaces behind a comma or blank."""
    spaced = _alternatives(word for word in words if not _is_unspaced(word))
    unspaced = _alternatives(word for word in words if _is_unspaced(word))
    return re.compile(rf"[,;:—–،-]?\s{spaced}(?!\w)|(?:[，、；,]\s?|\s){unspaced}")


def _opening(words: frozenset[str]) -> re.Pattern[str]:
    """Matches text that opens with one of the words; scripts without spaces are matched as prefixes."""
    spaced = [word for word in words if not _is_unspaced(word)]
    unspaced = [word for word in words if _is_unspaced(word)]
    return re.compile(rf"(?:{_alternatives(spaced)}(?!\w)|{_alternatives(unspaced)})")


def _is_unspaced(word: str) -> bool:
    return any("぀" <= char <= "鿿" or "\u0e00" <= char <= "\u0eff" for char in word)
