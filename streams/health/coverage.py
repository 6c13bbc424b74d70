"""The coverage identity per source topic: what was produced against what became of it, from broker, store and ledger.

    produced = waiting + read
    read     = stored + spans + dead_letter + duplicate + expired + evaluator + ignored + skipped + no_message
               + unknown + missing
    stored   = drawn + not_drawn
    drawn    = judged + errors + unresolved + pending

The first two count messages, the others traces. Broken is what is missing beyond what is in flight. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from schemas.base import Record
from streams.store import FateCounts, SourceFate, TraceStates

PRODUCED, WAITING, READ = "produced", "waiting", "read"
NO_MESSAGE = "no_message"
"""Offsets without a message: markers of transactions, and what compaction removed."""
UNKNOWN = "unknown"
"""Offsets of which nothing is known, and the topic's retention has deleted what was there."""
MISSING = "missing"
"""Messages that are in the topic, that the group has committed, and of which nothing is known."""


@dataclass(frozen=True, slots=True)
class PartitionCounts:
    """One partition: offsets [first, committed) are read, [committed, end) wait.

    ``no_message``, ``unknown`` and ``missing`` share out the offsets of which the ledger knows nothing.
    """

    partition: int
    first: int
    committed: int
    end: int
    fates: Mapping[SourceFate, FateCounts] = field(default_factory=dict)
    no_message: int = 0
    unknown: int = 0
    missing: int = 0
    examples: tuple[str, ...] = ()
    """Places of missing messages."""


class TopicCoverage(Record):
    """One source topic; ``in_flight`` are messages of our own topics that are not handled yet, of all source topics.

    ``found`` are the whole traces in its messages by what became of them; ``traces`` all traces of the topic, also
    those made of spans. ``broken`` says what is missing, in words; empty when all is accounted for.
    """

    topic: str
    partitions: int
    messages: dict[str, int]
    found: dict[str, int]
    traces: dict[str, int]
    in_flight: dict[str, int] = Field(default_factory=dict)
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole:
    """What cannot be said of one topic alone: traces that the ledger says are stored, and draws that nobody judges.

    The first two are of topics whose messages are whole traces. ``stuck`` are draws without a verdict while nothing of
    ours is in flight.
    """

    stored_by_ledger: int
    stored_in_store: int
    stuck: int = 0

    @property
    def lost_rows(self) -> int:
        """Traces that were stored and are not there; a trace that came again under another topic moves there."""
        return max(0, self.stored_by_ledger - self.stored_in_store)


def topic_coverage(
    topic: str,
    parts: Sequence[PartitionCounts],
    states: TraceStates,
    in_flight: Mapping[str, int],
    whole: Whole,
) -> TopicCoverage:
    """The identity of one topic."""
    fates = {fate: sum_of([part.fates.get(fate, FateCounts()) for part in parts]) for fate in SourceFate}
    messages = {
        PRODUCED: sum(part.end - part.first for part in parts),
        WAITING: sum(part.end - part.committed for part in parts),
        READ: sum(part.committed - part.first for part in parts),
        **{fate.value: counts.messages for fate, counts in fates.items()},
        NO_MESSAGE: sum(part.no_message for part in parts),
        UNKNOWN: sum(part.unknown for part in parts),
        MISSING: sum(part.missing for part in parts),
    }
    total = sum_of(list(fates.values()))
    found = {
        "stored": total.stored,
        "duplicates": total.duplicates,
        "expired": total.expired,
        "refused": total.refused,
        "spans": total.spans,
    }
    traces = {
        "stored": states.stored,
        "drawn": states.drawn,
        "not_drawn": states.stored - states.drawn,
        "judged": states.judged,
        "errors": states.errors,
        "unresolved": states.unresolved,
        "pending": states.pending,
        "no_answer": states.no_answer,
        "dead_letter": states.dead_letter,
    }
    return TopicCoverage(
        topic=topic,
        partitions=len(parts),
        messages=messages,
        found=found,
        traces=traces,
        in_flight=dict(in_flight),
        broken=_broken(parts, messages, whole, is_judged_here=states.pending > 0),
    )


def sum_of(counts: Sequence[FateCounts]) -> FateCounts:
    """All together."""
    return FateCounts(**{name: sum(getattr(one, name) for one in counts) for name in FateCounts.model_fields})


def _broken(
    parts: Sequence[PartitionCounts], messages: Mapping[str, int], whole: Whole, *, is_judged_here: bool
) -> tuple[str, ...]:
    found = []
    if messages[MISSING]:
        places = ", ".join(example for part in parts for example in part.examples)
        found.append(
            f"{messages[MISSING]} messages were committed and nothing became of them ({places}); please report it, and "
            "send them again with `groundwatch replay` or reset the group"
        )
    if whole.lost_rows:
        found.append(
            f"{whole.lost_rows} traces were stored and are not in the store (all topics together); was it restored "
            "from a backup? Reset the group's offsets to read them again"
        )
    if whole.stuck and is_judged_here:
        found.append(
            f"{whole.stuck} drawn traces have no verdict and none is on its way (all topics together); look for the "
            "stages verify and sink in `groundwatch deadletter summary`, and run `groundwatch store verify`"
        )
    return tuple(found)
