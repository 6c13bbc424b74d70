"""Decisive conflicts: the one thing in a claim that its evidence says otherwise, in the same place.

A figure of a kind that the evidence states differently, another unit or month under the same figure, an opposite, a
negation on one side, a name where the evidence has another one, or two names that have changed places; each as strong
as the rest of the claim, and where a sentence is wide that of the evidence, agrees. A figure, a name or an opposite
about something else is no conflict.
"""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from detectors.evidence.exchanges import Exchange, exchanged_dates, exchanged_units
from detectors.evidence.figures import missing
from detectors.evidence.kinds import Amount, by_kind, is_address, is_derived
from detectors.evidence.lexicon import CONTRASTS, DENIALS, EMPHASIS, SCOPE_ENDS
from detectors.evidence.matching import Match, PreparedClaim, once
from detectors.evidence.measures import DURATION
from detectors.evidence.polarity import opposing
from detectors.evidence.roles import clashing_roles
from detectors.evidence.words import Word, stem

CONFLICTS = (
    "conflict_figure",
    "conflict_exchange",
    "conflict_opposite",
    "conflict_negation",
    "conflict_name",
    "conflict_roles",
    "conflict_decisive",
)
_LEAST_AGREEMENT_FIGURE = 0.3
_LEAST_AGREEMENT = 0.6
_PLAIN_WORDS = 12
_SAME_STATEMENT = 0.8
_BEGINNING = 4
_SHORTEST_NAME = 3
_SCOPE_WORDS = 4
_SCOPE_ENDS, _CONTRASTS, _DENIALS, _EMPHASIS = (
    frozenset(map(stem, words)) for words in (SCOPE_ENDS, CONTRASTS, DENIALS, EMPHASIS)
)


def conflicts_of(claim: PreparedClaim, found: Match) -> tuple[float, ...]:
    """For each kind how far the rest agrees, 0 to 1 (0: no such conflict), and 1 where that decides the claim.

    A figure, its unit and a date decide almost anywhere; an opposite, a denial and names do only between two plain
    sentences, because a long one holds several statements.
    """
    figures = (
        _agreement(claim, found, {amount.key for amount, _ in clashing_amounts(claim, found)}),
        _agreement(claim, found, {key for exchange in exchanges(claim, found) for key in exchange.keys}),
    )
    others = (
        _agreement(claim, found, {key for key, _ in clashing_opposites(claim, found)}),
        _mutual(claim, found) if is_denied_on_one_side(claim, found) else 0.0,
        _agreement(claim, found, {key for key, _ in clashing_names(claim, found)}),
        _mutual(claim, found) if clashing_roles(claim, found) else 0.0,
    )
    decides = max(figures) >= _LEAST_AGREEMENT_FIGURE or (max(others) >= _LEAST_AGREEMENT and _are_plain(claim, found))
    return (*figures, *others, float(decides))


def denies(claim: PreparedClaim, found: Match) -> bool:
    """True when one side is a plain sentence that denies the other almost word for word."""
    return is_denied_on_one_side(claim, found) and _are_plain(claim, found) and _mutual(claim, found) >= _SAME_STATEMENT


def _are_plain(claim: PreparedClaim, found: Match) -> bool:
    """True when both sides are short and set nothing against something else."""
    return max(len(claim.keys), len(found.best.keys)) <= _PLAIN_WORDS and not any(
        word.key in _CONTRASTS for word in (*claim.words, *found.best.words)
    )


@once
def clashing_amounts(claim: PreparedClaim, found: Match) -> list[tuple[Amount, Amount]]:
    """Figures of the claim that no piece near it holds, each with one of like kind in the best piece.

    Where a plain sentence makes the very same statement, what other sentences say about something else is no excuse.
    """
    if not claim.figures:
        return []
    absent = {figure.key for figure in missing(claim.figures, found.best.figures)}
    if not absent:
        return []
    own, theirs = claim.amounts, found.best.amounts
    said = {amount.key for amount in own}
    others: dict[str, Amount] = {}
    for one in (*theirs, *_addresses_near(own, found)):
        if one.key not in said and one.kind:
            others.setdefault(one.kind, one)
    around = [amount for piece in found.chosen for amount in piece.amounts]
    elsewhere = {figure.key for figure in claim.figures} - {
        figure.key for figure in missing(claim.figures, found.window_figures)
    } | found.near_keys
    if _agreement(claim, found, said) >= _SAME_STATEMENT and _are_plain(claim, found):
        elsewhere = set()
        around = theirs
    strange, near = absent - elsewhere, by_kind(around)
    return [
        (amount, others[amount.kind])
        for amount in own
        if amount.key in strange and amount.kind in others and not is_derived(amount, near.get(amount.kind, ()))
    ]


@once
def exchanges(claim: PreparedClaim, found: Match) -> list[Exchange]:
    """Units under the same figure, and months and days of the week beside the same words, that differ."""
    if not claim.is_measured:
        return []

    def says_the_same(keys: frozenset[str]) -> bool:
        return _agreement(claim, found, keys) >= _SAME_STATEMENT and _are_plain(claim, found)

    return exchanged_units(claim, found, says_the_same) + exchanged_dates(claim, found, says_the_same)


def _addresses_near(own: Sequence[Amount], found: Match) -> list[Amount]:
    """Addresses in all pieces near a claim that tells one: only the right one is right, wherever it stands."""
    if not any(is_address(amount.kind) for amount in own):
        return []
    return [amount for piece in found.near for amount in piece.amounts if is_address(amount.kind)]


def clashing_opposites(claim: PreparedClaim, found: Match) -> list[tuple[str, str]]:
    """Words of the claim whose opposite stands beside the same words in the best piece, and no "not" turns it round."""
    if found.best.is_key_value:
        return []
    pairs = opposing(claim, found)
    if not pairs:
        return []
    periods = {word.key for word in claim.words if word.measure is not None and word.measure.dimension == DURATION}
    lasting = claim.weights.keys() - periods
    here, there = _beside(claim.words), _beside(found.best.words)
    mine, theirs = _denied_keys(claim.words), _denied_keys(found.best.words)
    return [
        (key, other)
        for key, other in pairs
        if key in lasting and not here[key].isdisjoint(there[other]) and (key in mine) == (other in theirs)
    ]


@once
def is_denied_on_one_side(claim: PreparedClaim, found: Match) -> bool:
    """True when one side denies a word that the other side says in the same place without any denial."""
    if claim.has_negation == found.best.has_negation or found.best.is_key_value or opposing(claim, found):
        return False
    mine, theirs = _denied_keys(claim.words), _denied_keys(found.best.words)
    if bool(mine) == bool(theirs):
        return False
    here, there = _beside(claim.words), _beside(found.best.words)
    shared = (mine | theirs) & claim.weights.keys() & found.best.keys
    return any(not here[key].isdisjoint(there[key]) for key in shared)


@once
def clashing_names(claim: PreparedClaim, found: Match) -> list[tuple[str, str]]:
    """Names of the claim that no piece near it holds, each with a name in its place that the claim lacks."""
    if found.best.is_key_value:
        return []
    strange = [key for key in names_in(claim.words) if key not in found.window_keys] if claim.names else []
    if not strange:
        return []
    near = found.near_keys
    strange = [key for key in strange if key not in near]
    beginnings = {key[:_BEGINNING] for key in near}
    others = [key for key in names_in(found.best.words) if key not in claim.weights]
    here, there = _beside(claim.words), _beside(found.best.words)
    clashes = []
    for key in sorted(strange) if others else ():
        other = next((one for one in others if not here[key].isdisjoint(there[one])), None)
        if other is not None and key[:_BEGINNING] not in beginnings:
            clashes.append((key, other))
    return clashes


def names_in(words: Sequence[Word]) -> list[str]:
    """Keys of capitalised words that can only be names: no short forms, dates, nor words that begin a sentence."""
    return [
        word.key
        for before, word, after in zip(("", *(w.text for w in words)), words, (*words[1:], Word("")), strict=False)
        if word.is_capital
        and len(word.key) >= _SHORTEST_NAME
        and not (word.is_stop or word.text.isupper() or _is_date(word) or word.value is not None)
        and (before.isalpha() or (not before and after.is_capital))
    ]


def _is_date(word: Word) -> bool:
    return word.measure is not None and not word.measure.is_unit


def _beside(words: Sequence[Word]) -> dict[str, set[str]]:
    """For each key the counting words directly before and after its first place; linear."""
    found: dict[str, set[str]] = {}
    waiting: list[str] = []
    last = ""
    for word in words:
        if not word.is_stop:
            for key in waiting:
                found[key].add(word.key)
            waiting = []
        if word.key not in found:
            found[word.key] = {last} if last else set()
            waiting.append(word.key)
        last = last if word.is_stop else word.key
    return found


def _denied_keys(words: Sequence[Word]) -> set[str]:
    """The first counting word after each plain denial, unless it stands there without one too.

    "Not only" and a denial before a conjunction deny nothing.
    """
    denied: set[str] = set()
    said: set[str] = set()
    left = 0
    for word, following in pairwise([*words, Word("")]):
        if word.key in _DENIALS or word.key.endswith("n't"):
            left = 0 if following.key in _EMPHASIS else _SCOPE_WORDS
            continue
        left = 0 if word.key in _SCOPE_ENDS else left
        if not word.is_stop:
            (denied if left else said).add(word.key)
            left = 0
        left = max(left - 1, 0)
    return denied - said


def _agreement(claim: PreparedClaim, found: Match, disputed: AbstractSet[str]) -> float:
    """Share of the weight of the claim without ``disputed`` that the best piece covers; 0 when nothing is disputed."""
    if not disputed:
        return 0.0
    return _share((key for key in claim.keys if key not in disputed), claim.weights.__getitem__, found.best.keys)


def _mutual(claim: PreparedClaim, found: Match) -> float:
    covered = _share(claim.keys, claim.weights.__getitem__, found.best.keys)
    return covered * len(found.best.keys & claim.weights.keys()) / max(len(found.best.keys), 1)


def _share(keys: Iterable[str], weight: Callable[[str], float], held: frozenset[str]) -> float:
    total = covered = 0.0
    for key in keys:
        total += weight(key)
        covered += weight(key) if key in held else 0.0
    return covered / total if total else 0.0
