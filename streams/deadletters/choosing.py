"""Which letters are meant, and how many there are of each kind. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from schemas.base import Record, UtcDatetime
from schemas.errors import NotReached
from streams.deadletters.letters import POISON, Letter, Position


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters on letters; an empty one lets everything pass. ``has_replayed`` takes those in that were replayed."""

    reasons: frozenset[str] = frozenset()
    stages: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    since: datetime | None = None
    has_replayed: bool = False

    def fits(self, letter: Letter) -> bool:
        """Whether the letter is meant."""
        return (
            (not self.reasons or letter.reason in self.reasons)
            and (not self.stages or letter.stage in self.stages)
            and (not self.topics or letter.topic in self.topics)
            and (self.since is None or letter.at >= self.since)
            and (self.has_replayed or letter.replayed_at is None)
        )


class LetterGroup(Record):
    """Letters of one topic, stage and reason; ``open`` were not replayed."""

    topic: str
    stage: str
    reason: str
    letters: int
    open: int
    first_at: UtcDatetime
    last_at: UtcDatetime


def grouped(letters: Iterable[Letter]) -> list[LetterGroup]:
    """Counts by topic, stage and reason, the largest first."""
    groups: dict[tuple[str, str, str], list[Letter]] = defaultdict(list)
    for letter in letters:
        groups[letter.topic, letter.stage, letter.reason].append(letter)
    found = [
        LetterGroup(
            topic=topic,
            stage=stage,
            reason=reason,
            letters=len(some),
            open=sum(letter.replayed_at is None for letter in some),
            first_at=min(letter.at for letter in some),
            last_at=max(letter.at for letter in some),
        )
        for (topic, stage, reason), some in groups.items()
    ]
    return sorted(found, key=lambda group: (-group.letters, group.topic, group.stage, group.reason))


def named(letters: Sequence[Letter], positions: Sequence[Position]) -> list[Letter]:
    """The letters at these positions. Raises NotReached naming those that are not there."""
    by_position = {letter.letter: letter for letter in letters}
    absent = [str(position) for position in positions if str(position) not in by_position]
    if absent:
        raise NotReached(
            f"no letter {', '.join(absent[:5])}; `groundwatch deadletter list --all` shows those that are kept"
        )
    return [by_position[str(position)] for position in positions]


def replayable(letters: Iterable[Letter], wanted: Wanted) -> list[Letter]:
    """Those that fit, without messages on which the process died, unless that reason is asked for by name."""
    return [
        letter for letter in letters if wanted.fits(letter) and (letter.reason != POISON or POISON in wanted.reasons)
    ]
