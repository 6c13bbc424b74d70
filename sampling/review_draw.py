"""Which judged answers people label: flagged and unflagged ones apart, by a random number that each answer keeps.

Sequential Poisson sampling with permanent random numbers (Ohlsson 1998): the answers with the smallest u / w are
taken, w = 1 / π of the draw that had them judged. So each label stands for about equally many answers of all traffic,
whatever the strata of that draw, and asking for more answers adds to those that were taken before. u is another hash
than that of the draw: what was drawn for verification says nothing of what is drawn for review.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from sampling.draw import unit_of
from schemas.errors import ConfigError
from schemas.review import ReviewStratum

FLAGGED_SHARE = 0.3
"""Labels among flagged answers; most go to the unflagged ones, since misses decide the error of a corrected rate."""
_PERSON = b"gw-review"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A judged answer; ``place`` is the caller's, ``probability`` π of the draw which had it judged."""

    place: int
    trace_id: str
    is_flagged: bool
    probability: float
    is_labelled: bool = False
    """It was drawn and labelled before, so it is in the sample and not asked for again."""


@dataclass(frozen=True, slots=True)
class ReviewDraw:
    """A chosen answer with its stratum and its inclusion probability among the judged answers of that stratum.

    ``limit`` is below which u / w of all taken ones lies; None where all were taken.
    """

    place: int
    stratum: ReviewStratum
    probability: float
    limit: float | None = None


def review_u(trace_id: str, salt: bytes) -> float:
    """The answer's number in [0, 1) for reviews: BLAKE2b-64, keyed by the salt and personalised, so unlike ``u_of``."""
    if not 1 <= len(salt) <= blake2b.MAX_KEY_SIZE:
        raise ConfigError(f"salt of the draw has {len(salt)} bytes; give 1 to {blake2b.MAX_KEY_SIZE}")
    name = trace_id.encode("utf-8", "surrogatepass")
    return unit_of(int.from_bytes(blake2b(name, digest_size=8, key=salt, person=_PERSON).digest(), "big"))


def draw_reviews(
    candidates: Iterable[Candidate], count: int, salt: bytes, flagged_share: float = FLAGGED_SHARE
) -> list[ReviewDraw]:
    """``count`` answers that nobody labelled yet, in the order of their random numbers, the strata mixed.

    Where one stratum has too few, the other gives more. Answers of the sample that are labelled already count towards
    its inclusion probabilities.
    """
    ordered: dict[ReviewStratum, list[tuple[float, Candidate]]] = {
        ReviewStratum.FLAGGED: [],
        ReviewStratum.UNFLAGGED: [],
    }
    numbers: dict[int, float] = {}
    for one in candidates:
        numbers[one.place] = review_u(one.trace_id, salt)
        stratum = ReviewStratum.FLAGGED if one.is_flagged else ReviewStratum.UNFLAGGED
        ordered[stratum].append((numbers[one.place] * one.probability, one))
    for rows in ordered.values():
        rows.sort(key=lambda row: (row[0], row[1].trace_id))
    chosen = [
        drawn
        for stratum, wanted in _shares(ordered, count, flagged_share).items()
        for drawn in _first(stratum, ordered[stratum], wanted)
    ]
    return sorted(chosen, key=lambda drawn: (numbers[drawn.place], drawn.place))


def _shares(
    ordered: Mapping[ReviewStratum, Sequence[tuple[float, Candidate]]], count: int, flagged_share: float
) -> dict[ReviewStratum, int]:
    there = {stratum: sum(not one.is_labelled for _, one in rows) for stratum, rows in ordered.items()}
    flagged = min(round(count * flagged_share), there[ReviewStratum.FLAGGED])
    unflagged = min(count - flagged, there[ReviewStratum.UNFLAGGED])
    flagged = min(count - unflagged, there[ReviewStratum.FLAGGED])
    return {ReviewStratum.FLAGGED: flagged, ReviewStratum.UNFLAGGED: unflagged}


def _first(stratum: ReviewStratum, rows: Sequence[tuple[float, Candidate]], wanted: int) -> Iterable[ReviewDraw]:
    """The first ``wanted`` unlabelled rows; the sample is all rows up to there, and π = min(1, w × the next ratio)."""
    open_places = [place for place, (_, one) in enumerate(rows) if not one.is_labelled]
    end = open_places[wanted] if wanted < len(open_places) else len(rows)
    limit = rows[end][0] if end < len(rows) else None
    for place in open_places[:wanted]:
        one = rows[place][1]
        yield ReviewDraw(one.place, stratum, probability_at(limit, one.probability), limit)


def probability_at(limit: float | None, probability: float) -> float:
    """The inclusion probability below a ``limit`` of u / w for an answer with π = ``probability``.

    >>> probability_at(0.05, 0.5), probability_at(0.05, 0.01), probability_at(None, 0.5)
    (0.1, 1.0, 1.0)
    """
    return 1.0 if limit is None else min(1.0, limit / probability)
