"""What the store and the topic hold after the policy changed under load, and what they must hold."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from schemas.codec import decode
from schemas.draw import DrawnTrace
from schemas.policy import PolicyRecord
from streams.store import Store
from tests.integration.policy_load import OTHERWISE, PROBABILITIES, SALT, Load
from tests.integration.running import read_all

RULES = {"default": "deadline", "raised": "period", "lowered": ""}
"""The critical rule of each policy that a claim with a number of days meets."""


@dataclass(frozen=True)
class Stored:
    """What the store holds after the run."""

    records: list[PolicyRecord]
    traces: list[dict[str, Any]]
    verdicts: list[dict[str, Any]]

    def name_at(self, ts: datetime) -> str:
        """The policy in force at an event time, by a plain search."""
        begun = [record for record in self.records if record.effective_from is None or record.effective_from <= ts]
        document = max(begun, key=lambda record: record.effective_from or datetime.min.replace(tzinfo=UTC)).document
        assert document is not None
        return document.name


def read_store(dsn: str) -> Stored:
    """Everything that the checks need, read once."""
    store = Store.open(dsn, read_only=True)
    try:
        query = store._connection.query
        return Stored(
            [record for record in store.policy_records() if record.document],
            [_with_time(row) for row in query("SELECT * FROM traces FINAL")],
            [_with_time(row) for row in query("SELECT * FROM verdicts FINAL")],
        )
    finally:
        store.close()


def _with_time(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its time as a time; the store reads microseconds."""
    return {**row, "ts": datetime.fromtimestamp(0, UTC) + timedelta(microseconds=row["ts"])}


def check_draws(stored: Stored, load: Load) -> None:
    """None lost, none double, and each drawn with the probability that its policy has for its stratum."""
    assert Counter(load.sent.keys()) == Counter(row["trace_id"] for row in stored.traces)
    ids = {record.document.name: record.policy_id for record in stored.records if record.document}
    names: Counter[str] = Counter()
    for row in stored.traces:
        name = stored.name_at(row["ts"])
        names[name] += 1
        trace_id = row["trace_id"]
        u = int.from_bytes(blake2b(trace_id.encode(), digest_size=8, key=SALT.encode()).digest(), "big") / 2**64
        table = PROBABILITIES[name]
        expected = table.get(row["stratum"], OTHERWISE[name])
        found = (row["policy_id"], row["inclusion_probability"], row["u"], bool(row["is_drawn"]))
        assert (ids[name], expected, u, u < expected) == found, trace_id
        assert row["min_probability"] == min(table.values())
        if name == "raised":
            assert row["stratum"] == ("rest" if "[returns]" in row["answer"] else "bare")
    assert names.keys() == PROBABILITIES.keys()
    assert min(names.values()) > 50, names


def check_verdicts(stored: Stored) -> None:
    """One verdict a drawn trace, by the rules in force at its event time; other thresholds are another series."""
    assert Counter(row["trace_id"] for row in stored.traces if row["is_drawn"]) == Counter(
        row["trace_id"] for row in stored.verdicts
    )
    fingerprints: dict[str, set[str]] = {name: set() for name in PROBABILITIES}
    for row in stored.verdicts:
        name = stored.name_at(row["ts"])
        fingerprints[name].add(row["fingerprint"])
        for text, rule in zip(row["claims.text"], row["claims.critical_rule"], strict=True):
            assert (RULES[name] if "days" in text else "") == rule, (name, text)
    assert fingerprints["default"] == fingerprints["raised"]
    assert [1, 1] == [len(fingerprints["raised"]), len(fingerprints["lowered"])]
    assert fingerprints["raised"] != fingerprints["lowered"]


def check_topic(stored: Stored, address: str) -> None:
    """What was forwarded for verification carries the stored draw, each time it was."""
    rows = {row["trace_id"]: row for row in stored.traces if row["is_drawn"]}
    messages = read_all(address, "gw.drawn", len(rows), 30)
    drawn = [decode(DrawnTrace, message.value) for message in messages]
    assert rows.keys() == {item.trace.trace_id for item in drawn}
    for item in drawn:
        row = rows[item.trace.trace_id]
        assert (row["policy_id"], row["inclusion_probability"], row["stratum"]) == (
            item.draw.policy_id,
            item.draw.inclusion_probability,
            item.draw.stratum,
        )
