"""Ids in the store against ids produced: what was lost, what counts twice, in rows, verdicts and tallies."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from streams.store import Store
from tests.chaos.load import SPANS

FAR = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class Account:
    """What became of everything that was produced."""

    produced: int
    lost: tuple[str, ...]
    """Ids that were produced and are not in the store."""
    strange: tuple[str, ...]
    """Ids in the store that nobody produced."""
    torn: tuple[str, ...]
    """Traces of spans that do not hold all of their spans, or came to be two."""
    twice: tuple[str, ...]
    """Ids with more than one row or more than one verdict of a detector, as readers see them."""
    unjudged: tuple[str, ...]
    """Drawn traces without a verdict."""
    drawn: int
    traffic: int
    """Traces by the tallies."""
    drawn_in_tallies: int
    judged_in_tallies: int

    @property
    def faults(self) -> dict[str, object]:
        """What is wrong, with a few ids; empty when all is accounted for once."""
        lists = {name: getattr(self, name) for name in ("lost", "strange", "torn", "twice", "unjudged")}
        found: dict[str, object] = {name: (len(ids), ids[:3]) for name, ids in lists.items() if ids}
        tallies = (self.traffic, self.drawn_in_tallies, self.judged_in_tallies)
        if tallies != (self.produced, self.drawn, self.drawn):
            found["tallies"] = f"traffic, drawn, judged {tallies}, not {(self.produced, self.drawn, self.drawn)}"
        return found


def is_settled(store: Store, produced: int) -> bool:
    """True when as many traces are stored as were produced and each drawn one has its verdict."""
    counts = store.counts()
    return counts.traces >= produced and counts.verdicts >= counts.drawn


def account(store: Store, produced: Collection[str]) -> Account:
    """Compare; the tallies are those that the last alert tick made."""
    now = datetime.now(UTC)
    rows = store._connection.query("SELECT trace_id, is_drawn AS drawn, revision FROM traces FINAL")
    verdicts = store._connection.query("SELECT trace_id, fingerprint, count() AS n FROM verdicts FINAL GROUP BY 1, 2")
    tallies = store.tallies(now - FAR, now + FAR)
    times = Counter(row["trace_id"] for row in rows)
    judged = Counter(row["trace_id"] for row in verdicts for _ in range(row["n"]))
    drawn = {row["trace_id"] for row in rows if row["drawn"]}
    wanted = set(produced)
    traffic = [row for row in tallies if not row.fingerprint]
    return Account(
        produced=len(wanted),
        lost=tuple(sorted(wanted - times.keys())),
        strange=tuple(sorted(times.keys() - wanted)),
        torn=tuple(sorted(row["trace_id"] for row in rows if _is_spans(row["trace_id"]) and row["revision"] != SPANS)),
        twice=tuple(sorted(name for name in times if times[name] > 1 or judged[name] > 1)),
        unjudged=tuple(sorted(drawn - judged.keys())),
        drawn=len(drawn),
        traffic=sum(row.traffic for row in traffic),
        drawn_in_tallies=sum(row.drawn for row in traffic),
        judged_in_tallies=sum(sum(row.outcomes) for row in tallies if row.fingerprint),
    )


def _is_spans(trace_id: str) -> bool:
    return trace_id.startswith("00")
