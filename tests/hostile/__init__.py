"""A corpus of what strangers send: named kinds, damaged ones, and good traces between them, each with its fate.

The same seed gives the same corpus; the seeds in use are ``SEEDS``.
"""

from collections.abc import Iterator
from datetime import datetime
from random import Random

from tests.hostile.accepted import ACCEPTED, GOOD, INTENTS, ODD
from tests.hostile.fuzz import fuzzed
from tests.hostile.heavy import COSTLY, HEAVY
from tests.hostile.message import Fate, Hostile, Kind, Maker
from tests.hostile.refused import REFUSED

__all__ = ["ODD", "SEEDS", "Fate", "Hostile", "hostile_messages"]

SEEDS = (20_260_310, 4, 31_337)
"""Kept, so that a run can be repeated; the first one is that of the tests."""
_SHARES = {
    "good": 0.42,
    "intent": 0.1,
    "accepted": 0.18,
    "refused": 0.2,
    "fuzz": 0.06,
    "repeated": 0.02,
    "taken": 0.02,
}
"""Good and accepted ones are the greater part: below a half ingest stops, which is a test of its own."""
_ALL_HEAVY = {**HEAVY, **COSTLY}
_HEAVY_EVERY = 10_000
_COSTLY_EVERY = 2_000


def hostile_messages(seed: int, count: int, now: datetime, *, with_heavy: bool = True) -> Iterator[Hostile]:
    """``count`` messages in the order in which they are to be sent; those of one key keep it on any topic."""
    rng = Random(seed)
    shares = rng.choices(list(_SHARES), list(_SHARES.values()), k=count)
    random_values = iter(fuzzed(seed, shares.count("fuzz")))
    tables = {"good": GOOD, "intent": INTENTS, "accepted": ACCEPTED, "refused": REFUSED}
    named = {share: _cycle(kinds, rng) for share, kinds in tables.items()}
    heavy = _heavy_places(count, rng) if with_heavy else {}
    earlier: list[Hostile] = []
    for number, share in enumerate(shares):
        if number in heavy:
            yield _made(heavy[number], _ALL_HEAVY[heavy[number]], number, now, rng)
        elif share == "fuzz":
            yield Hostile("fuzz", next(random_values, b""), Fate.EITHER)
        elif share in named or not earlier:
            message = _made(*next(named.get(share, named["good"])), number, now, rng)
            earlier += [message] if message.kind == "good" else []
            yield message
        else:
            yield _again(share, rng.choice(earlier), number, now, rng)


def _again(share: str, first: Hostile, number: int, now: datetime, rng: Random) -> Hostile:
    if share == "repeated":
        return Hostile("repeated", first.value, Fate.REPEATED, key=first.key, trace_id=first.trace_id)
    maker = Maker("taken", number, now, rng)
    value = maker.encoded(trace_id=first.trace_id, answer=f"Another answer, number {number}.")
    return maker.letter(value, "duplicate_id", key=first.key)


def _made(name: str, kind: Kind, number: int, now: datetime, rng: Random) -> Hostile:
    return kind(Maker(name, number, now, rng))


def _cycle(kinds: dict[str, Kind], rng: Random) -> Iterator[tuple[str, Kind]]:
    """Every kind once, in an order of chance, then again."""
    while True:
        yield from rng.sample(list(kinds.items()), len(kinds))


def _heavy_places(count: int, rng: Random) -> dict[int, str]:
    """Spread evenly; each at least once in a corpus."""
    names = list(HEAVY) * max(1, count // _HEAVY_EVERY) + list(COSTLY) * max(1, count // _COSTLY_EVERY)
    rng.shuffle(names)
    return {(place + 1) * count // (len(names) + 1): name for place, name in enumerate(names)}
