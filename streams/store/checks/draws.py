"""Every stored draw against what decided it: the random number of its id, the policy log, and u < π."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sampling.draw import u_of
from sampling.policy_log import PolicyLog
from schemas.errors import ConfigError, PolicyIncomplete
from schemas.labels import RiskTier
from schemas.policy import PolicyRecord
from streams.store.values import from_micros

DRAWS = """
SELECT trace_id, ts, intent, tier, stratum, u, inclusion_probability, min_probability, policy_id, is_drawn, revision
FROM traces FINAL
WHERE ts >= toDateTime({first:UInt32}, 'UTC') AND ts < toDateTime({end:UInt32}, 'UTC')
ORDER BY ts, trace_id
"""
POLICY_IDS = """
SELECT policy_id, count() AS traces FROM traces FINAL
WHERE ts >= toDateTime({first:UInt32}, 'UTC') AND ts < toDateTime({end:UInt32}, 'UTC')
GROUP BY policy_id ORDER BY policy_id
"""


@dataclass(frozen=True, slots=True)
class StoredDraw:
    """A draw as it was stored, with what it was made from."""

    trace_id: str
    ts: datetime
    intent: str
    tier: str
    stratum: str
    u: float
    inclusion_probability: float
    min_probability: float
    policy_id: str
    is_drawn: bool
    revision: int


def stored_draw(row: Mapping[str, Any]) -> StoredDraw:
    """The draw of one row of ``DRAWS``."""
    return StoredDraw(**{**row, "ts": from_micros(row["ts"])})


def log_of(records: Iterable[PolicyRecord]) -> PolicyLog:
    """The log as far as its entries keep the rules; one that breaks them decides nothing."""
    log = PolicyLog()
    for record in records:
        try:
            log = log.add(record)
        except ConfigError:
            continue
    return log


def unknown_policies(ids: Mapping[str, int], log: PolicyLog) -> dict[str, int]:
    """Those policy ids, with their number of traces, of which a part is in no log."""
    return {name: count for name, count in ids.items() if not set(name.split("+")) <= log.records.keys()}


def wrong_draws(draws: Iterable[StoredDraw], log: PolicyLog, salt: bytes | None) -> Iterator[str]:
    """What is wrong, a text a draw. Without ``salt`` the random number is taken as stored.

    Where the log does not reach, a draw is compared with its own π alone; an intent that changed with a later revision
    keeps the π of its first.
    """
    for draw in draws:
        if fault := _fault(draw, log, salt):
            yield f"{draw.trace_id}: {fault}"


def _fault(draw: StoredDraw, log: PolicyLog, salt: bytes | None) -> str:
    if salt is not None and u_of(draw.trace_id, salt) != draw.u:
        return f"u is {draw.u:.6f}, and {u_of(draw.trace_id, salt):.6f} with this salt"
    if draw.is_drawn != (draw.u < draw.inclusion_probability):
        was = "was drawn" if draw.is_drawn else "was not drawn"
        return f"{was} with u {draw.u:.6f} and π {draw.inclusion_probability:g}"
    try:
        policy = log.at(draw.ts)
    except PolicyIncomplete:
        return ""
    if policy.policy_id != draw.policy_id:
        return f"drawn under {draw.policy_id}, the log says {policy.policy_id}"
    if draw.revision > 1:
        return ""
    return _probability_fault(draw, policy.probability, policy.min_probability)


def _probability_fault(draw: StoredDraw, probability: Any, min_probability: Any) -> str:
    tier = RiskTier(draw.tier)
    try:
        expected = probability(draw.intent, tier, draw.stratum)
    except KeyError:
        return f"stratum {draw.stratum} is none of {draw.policy_id}"
    if expected != draw.inclusion_probability:
        return f"π is {draw.inclusion_probability:g}, {draw.policy_id} says {expected:g}"
    smallest = min_probability(draw.intent, tier)
    if smallest != draw.min_probability:
        return f"smallest π of its cell is {draw.min_probability:g}, {draw.policy_id} says {smallest:g}"
    return ""
