"""What is trained in which order: pairs of both stages, ready encoded, from the sources that are not held out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from detectors.evidence.examples import FOLDS, fold_of
from detectors.evidence.weights import load_weights
from detectors.models.own.batching import Input, as_input, plan
from detectors.models.own.encoding import Encoder
from detectors.models.own.human import Row, labelled
from detectors.models.own.synthetic import Labelled, Source, beside_labelled, groups, source, words_of_all

HELD_OUT = FOLDS - 1
"""The fold of sources that is never trained on, the same fold as one of L1's: all figures are of it."""
_BATCH = 24
_MOST_GOOD = 1.5
"""Of the two classes of a group the larger is kept up to this many times the smaller, drawn anew each pass."""
_WATCHED = 300
Encoded = Callable[[Labelled, Source], Input | None]


@dataclass(frozen=True, slots=True)
class Stage:
    """Batches in order, the highest learning rate and the share of dropout."""

    name: str
    batches: Sequence[Sequence[Input]]
    rate: float
    dropout: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of what is trained."""

    seed: int
    synthetic_pairs: int
    passes: int
    mixed_pairs: int = 400
    """Pairs of stage 1 beside people's, each pass."""
    corrupted_pairs: int = 2_000
    """People's good claims beside corruptions of them, each pass."""


def fold_of_record(record: Row) -> int:
    """As L1's folds: near-copies and shared pages stay together."""
    return fold_of(f"{record['dataset']}/{record['source_id']}")


def stages(records: Sequence[Row], encoder: Encoder, how: Plan) -> list[Stage]:
    """Both stages, ready encoded; the same for the same seed."""
    rng = Random(how.seed)  # noqa: S311 - reproducible, not secret
    terms = load_weights().terms
    sources = {texts: source(texts) for texts in sorted({_texts(record) for record in records})}
    encoded: Encoded = lambda one, where: as_input(one, where, encoder, terms)  # noqa: E731
    made = _synthetic(list(sources.values()), encoded, rng, how.synthetic_pairs + how.mixed_pairs * how.passes)
    first = _cut(made, how.synthetic_pairs)
    batches = plan(first, _BATCH, rng)
    people = [
        (one, sources[_texts(record)])
        for record, found in zip(records, labelled(records), strict=True)
        for one in found
    ]
    told = [item for one, where in people if (item := encoded(one, where)) is not None]
    corruptions = _corruptions(people, encoded, rng, how.corrupted_pairs * how.passes)
    spare = made[len(first) :]
    second: list[Sequence[Input]] = []
    for number in range(how.passes):
        mixed = [*_part(spare, number, how.passes), *_part(corruptions, number, how.passes)]
        second += plan([*([one] for one in _balanced(told, rng)), *mixed], _BATCH, rng)
    return [Stage("synthetic", batches, 1.2e-4, 0.0), Stage("people", second, 8e-5, 0.1)]


def _texts(record: Row) -> tuple[str, ...]:
    return tuple(passage["text"] for passage in record["passages"])


def _part(made: Sequence[list[Input]], number: int, of: int) -> Sequence[list[Input]]:
    return made[number * len(made) // of : (number + 1) * len(made) // of]


def _synthetic(sources: Sequence[Source], encoded: Encoded, rng: Random, wanted: int) -> list[list[Input]]:
    known = words_of_all(sources)
    each = 2 + wanted // (2 * len(sources))
    found = [(group, one) for one in sources for group in groups(one, known, rng, each * 3)]
    made = _all_encoded(found, encoded)
    rng.shuffle(made)
    return _cut(made, wanted)


def _corruptions(
    people: Sequence[tuple[Labelled, Source]], encoded: Encoded, rng: Random, wanted: int
) -> list[list[Input]]:
    known = words_of_all([where for _, where in people])
    good = [(one, where) for one, where in people if one.supported]
    rng.shuffle(good)
    found = [(group, where) for one, where in good[:wanted] if (group := beside_labelled(one, where, known, rng))]
    return _cut(_all_encoded(found[: wanted // 2 + 100], encoded), wanted)


def _all_encoded(found: Sequence[tuple[list[Labelled], Source]], encoded: Encoded) -> list[list[Input]]:
    made = [[item for one in group if (item := encoded(one, where)) is not None] for group, where in found]
    return [items for items, (group, _) in zip(made, found, strict=True) if len(items) == len(group)]


def _cut(made: Sequence[list[Input]], pairs: int) -> list[list[Input]]:
    total, kept = 0, []
    for group in made:
        if total >= pairs:
            break
        kept.append(group)
        total += len(group)
    return kept


def _balanced(people: Sequence[Input], rng: Random) -> list[Input]:
    kept: list[Input] = []
    for name in sorted({item.group for item in people}):
        good = [item for item in people if item.group == name and item.target > 0]
        bad = [item for item in people if item.group == name and item.target == 0]
        few, many = sorted((good, bad), key=len)
        most = int(_MOST_GOOD * len(few))
        kept += [*few, *rng.sample(many, min(most, len(many)))]
    return kept


def watched_claims(records: Sequence[Row], encoder: Encoder) -> list[Input]:
    """Some claims of unseen sources, for the progress lines alone; nothing is chosen by them."""
    terms = load_weights().terms
    rng = Random(0)  # noqa: S311 - reproducible, not secret
    found = list(zip(records, labelled(records), strict=True))
    items = []
    for record, claims in rng.sample(found, min(_WATCHED, len(found))):
        where = source([passage["text"] for passage in record["passages"]])
        for one in claims:
            item = as_input(one, where, encoder, terms)
            if item is not None and (item.target == 0 or rng.random() < 0.5):  # noqa: PLR2004 - the good are many
                items.append(item)
    return items
