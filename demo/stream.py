"""The demo traffic, drawn from the corpus by recipe and seed; labels travel beside the traces and never inside them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

from demo.corpus import AnswerKind, Corpus, DemoAnswer, load_corpus
from demo.recipe import CellRecipe, Recipe
from demo.trace import Arrival, TraceWriter
from schemas.slice import Slice

_QUIETEST = 0.25
"""Traffic in the small hours as a share of the busiest hour."""
_WEEKEND = 0.8
_BUSIEST_HOUR = 14.5
_WEEKDAYS = 5


@dataclass(frozen=True, slots=True)
class LabelledTrace:
    """A native JSON trace with what only the demo knows about it; for tests, never for the pipeline."""

    trace: dict[str, Any]
    record_id: str
    kind: AnswerKind
    is_hallucinated: bool


def demo_traces(now: datetime, seed: int, recipe: Recipe) -> Iterator[dict[str, Any]]:
    """Native JSON traces of the recipe's window up to ``now`` (aware), in the order of their event time.

    The same arguments give the same traces; another ``now`` or seed gives fresh trace ids.
    """
    return (labelled.trace for labelled in labelled_demo_traces(now, seed, recipe))


def labelled_demo_traces(now: datetime, seed: int, recipe: Recipe) -> Iterator[LabelledTrace]:
    """The traces of ``demo_traces`` with their labels beside them."""
    rng = Random(f"demo:{seed}")
    arrivals = sorted(_arrivals(now, recipe, rng), key=lambda pair: pair[0])
    return _label(arrivals, now, recipe, rng, ids=Random(f"demo:{seed}:{now.isoformat()}"))


def live_traces(now: datetime, seed: int, recipe: Recipe) -> Iterator[dict[str, Any]]:
    """Traces from ``now`` on without end, at the mix and rates after the deploy.

    Event times run ahead of ``now`` at ``recipe.live_traces_per_second`` on average; the caller waits for each.
    """
    return (labelled.trace for labelled in labelled_live_traces(now, seed, recipe))


def labelled_live_traces(now: datetime, seed: int, recipe: Recipe) -> Iterator[LabelledTrace]:
    """The traces of ``live_traces`` with their labels beside them."""
    rng = Random(f"live:{seed}")
    return _label(_live_arrivals(now, recipe, rng), now, recipe, rng, ids=Random(f"live:{seed}:{now.isoformat()}"))


def _arrivals(now: datetime, recipe: Recipe, rng: Random) -> Iterator[tuple[datetime, CellRecipe]]:
    deployed = now - recipe.deploy.before_now
    for cell in recipe.cells:
        is_deployed = _is_deployed_cell(cell, recipe)
        until = deployed if is_deployed else now
        for moment in _moments(now - recipe.window, until, cell.answers, rng):
            yield moment, cell
        if is_deployed:
            for moment in _moments(deployed, now, recipe.deploy.answers_after, rng):
                yield moment, cell


def _live_arrivals(now: datetime, recipe: Recipe, rng: Random) -> Iterator[tuple[datetime, CellRecipe]]:
    share = recipe.deploy.before_now / recipe.window
    weights = [
        recipe.deploy.answers_after if _is_deployed_cell(cell, recipe) else cell.answers * share
        for cell in recipe.cells
    ]
    moment = now
    while True:
        moment += timedelta(seconds=rng.expovariate(recipe.live_traces_per_second))
        yield moment, rng.choices(recipe.cells, weights)[0]


def _moments(since: datetime, until: datetime, count: int, rng: Random) -> list[datetime]:
    """``count`` moments in [since, until), thinned by the hour and the day of the week."""
    span = until - since
    moments: list[datetime] = []
    while len(moments) < count:
        moment = since + rng.random() * span
        if rng.random() < _intensity(moment):
            moments.append(moment)
    return moments


def _intensity(moment: datetime) -> float:
    """Traffic at this moment as a share of the busiest one: a wave over the day (UTC), calmer at weekends."""
    hour = moment.hour + moment.minute / 60
    wave = (1 + math.cos((hour - _BUSIEST_HOUR) / 24 * 2 * math.pi)) / 2
    return (_QUIETEST + (1 - _QUIETEST) * wave) * (1 if moment.weekday() < _WEEKDAYS else _WEEKEND)


def _label(
    arrivals: Sequence[tuple[datetime, CellRecipe]] | Iterator[tuple[datetime, CellRecipe]],
    now: datetime,
    recipe: Recipe,
    rng: Random,
    *,
    ids: Random,
) -> Iterator[LabelledTrace]:
    corpus = load_corpus()
    pools = _pools(corpus)
    writer = TraceWriter(corpus=corpus, recipe=recipe, now=now, rng=rng, ids=ids)
    for moment, cell in arrivals:
        record = _pick(pools[cell.slice], _rate(cell, moment, now, recipe), recipe, rng)
        yield LabelledTrace(writer.write(Arrival(moment, record)), record.id, record.kind, record.is_hallucinated)


def _rate(cell: CellRecipe, moment: datetime, now: datetime, recipe: Recipe) -> float:
    has_deployed = _is_deployed_cell(cell, recipe) and moment >= now - recipe.deploy.before_now
    return recipe.deploy.hallucinated_rate if has_deployed else cell.hallucinated_rate


def _is_deployed_cell(cell: CellRecipe, recipe: Recipe) -> bool:
    return (cell.intent, cell.tier) == (recipe.deploy.intent, recipe.deploy.tier)


Pool = Mapping[AnswerKind, Sequence[DemoAnswer]]


def _pools(corpus: Corpus) -> dict[Slice, dict[AnswerKind, list[DemoAnswer]]]:
    pools: dict[Slice, dict[AnswerKind, list[DemoAnswer]]] = {}
    for answer in corpus.answers:
        cell = pools.setdefault(Slice(intent=answer.intent, tier=answer.tier), {})
        cell.setdefault(answer.kind, []).append(answer)
    return pools


def _pick(pool: Pool, rate: float, recipe: Recipe, rng: Random) -> DemoAnswer:
    """A record of the cell: first whether it asserts facts, then whether it is wrong, then which one.

    A kind that the cell does not hold falls back to a good answer.
    """
    kind = _draw_kind(recipe.aside.items(), rng.random())
    if kind is None and rng.random() < rate:
        return rng.choice([answer for kind in pool if kind.is_hallucinated for answer in pool[kind]])
    if kind is None:
        kind = _draw_kind(
            (
                (AnswerKind.MISSING_CITATION, recipe.missing_citation_share),
                (AnswerKind.WRONG_CITATION, recipe.wrong_citation_share),
            ),
            rng.random(),
        )
    return rng.choice(pool.get(kind or AnswerKind.GOOD) or pool[AnswerKind.GOOD])


def _draw_kind(shares: Sequence[tuple[AnswerKind, float]], u: float) -> AnswerKind | None:
    """The kind into whose share ``u`` in [0, 1) falls, None beyond all of them."""
    bounds = [0.0]
    for _, share in shares:
        bounds.append(bounds[-1] + share)
    for (kind, _), (low, high) in zip(shares, pairwise(bounds), strict=True):
        if low <= u < high:
            return kind
    return None
