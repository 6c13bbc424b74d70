"""Cases to splits, by groups: the seed and the ids decide the order, the shares decide where each group goes.

Each group goes where most is missing, among cases of its kind (intent, tier, answerable, label) and among all; so that
a hold-out of forty cases has its share of the rare ones, which chance alone would often leave out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from detectors.golden.groups import groups_of
from detectors.golden.near import SIMILARITY
from detectors.golden.sets import GoldenSet
from schemas.errors import ConfigError
from schemas.golden import GoldenCase, Split

SHARES = {Split.TRAIN: 0.0, Split.DEV: 0.7, Split.HOLDOUT: 0.3}
"""Nothing is trained by default: thresholds are tuned on ``dev``."""


def split_cases(
    golden: GoldenSet,
    *,
    seed: str,
    shares: Mapping[Split, float] = SHARES,
    locked: frozenset[str] = frozenset(),
    similarity: float = SIMILARITY,
) -> GoldenSet:
    """The same cases with new splits; the same seed and ids give the same ones.

    ``locked`` ids and whatever is in their group stay in the hold-out, and nothing else goes there: the shares of the
    other splits count among themselves. Raises ConfigError for shares that are negative or do not add up to 1.
    """
    wanted = _checked(shares)
    if locked:
        wanted = {split: share for split, share in wanted.items() if split is not Split.HOLDOUT} or {Split.DEV: 1.0}
    cases = golden.cases
    order = sorted(groups_of(cases, similarity), key=lambda group: _rank(seed, [cases[place] for place in group]))
    bound = [group for group in order if any(cases[place].case_id in locked for place in group)]
    chosen: dict[int, Split] = {place: Split.HOLDOUT for group in bound for place in group}
    taken: Counter[tuple[object, Split]] = Counter()
    totals: Counter[object] = Counter(
        kind for place, case in enumerate(cases) if place not in chosen for kind in (_kind(case), None)
    )
    for group in order:
        if group[0] in chosen:
            continue
        kind = _kind(cases[group[0]])
        missing = {to: _missing(to, kind, wanted, taken, totals) for to in wanted}
        split = max(missing, key=lambda to: missing[to])
        for place in group:
            chosen[place] = split
            _count(taken, cases[place], split)
    moved = tuple(case.model_copy(update={"split": chosen[place]}) for place, case in enumerate(cases))
    return GoldenSet(moved, golden.lines)


def _missing(
    split: Split,
    kind: object,
    shares: Mapping[Split, float],
    taken: Mapping[tuple[object, Split], int],
    totals: Mapping[object, int],
) -> float:
    """How many cases a split still wants, of this kind and of all; the sum keeps small kinds from deciding."""
    return sum(shares[split] * totals[of] - taken.get((of, split), 0) for of in (kind, None))


def _kind(case: GoldenCase) -> tuple[object, ...]:
    return case.intent, case.tier, case.is_answerable, case.answer_label


def _count(taken: Counter[tuple[object, Split]], case: GoldenCase, split: Split) -> None:
    taken[_kind(case), split] += 1
    taken[None, split] += 1


def _rank(seed: str, cases: Sequence[GoldenCase]) -> bytes:
    """A random order that the seed fixes; the smallest id stands for the group, so the order of the file does not."""
    smallest = min(case.case_id for case in cases)
    return blake2b(f"{seed}\n{smallest}".encode("utf-8", "replace"), digest_size=8).digest()


def _checked(shares: Mapping[Split, float]) -> dict[Split, float]:
    given = {split: shares.get(split, 0.0) for split in Split}
    if min(given.values()) < 0 or abs(sum(given.values()) - 1) > 1e-6:  # noqa: PLR2004 — rounding of written shares
        told = ", ".join(f"{split.value}={share:g}" for split, share in given.items())
        raise ConfigError(f"--shares {told}: give shares from 0 to 1 that add up to 1, as in dev=0.7,holdout=0.3")
    return {split: share for split, share in given.items() if share}
