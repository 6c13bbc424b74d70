"""Checks of rows against rows: each is one statement over a stretch of time that counts and names what is wrong.

Every statement gives ``checked``, ``faults`` and ``examples``; the stretch is whole hours, so a 5-minute bucket is
never cut.
"""

from dataclasses import dataclass
from typing import Any

from schemas.claim import ClaimSource
from schemas.finding import StructuralRule
from schemas.labels import AlertState, ClaimLabel, Containment, FailureLabel, Layer, Outcome, RiskTier, Severity
from schemas.layers import LayerReason
from streams.store import queries
from streams.store.reports import CheckName

ALERT_STATES = "SELECT count() AS checked, countIf(state NOT IN {states:Array(String)}) AS faults FROM alerts FINAL"


@dataclass(frozen=True, slots=True)
class RowCheck:
    """One statement, in ``queries/check_<name>.sql``; ``fix`` says what to do about what it finds."""

    name: CheckName
    fix: str

    @property
    def sql(self) -> str:
        """The statement."""
        return queries.load(f"check_{self.name.value}")


ROW_CHECKS = (
    RowCheck(
        CheckName.LABELS,
        "these rows cannot be read: another version wrote them; run the newest version on every host, and have it "
        "judge them again",
    ),
    RowCheck(
        CheckName.TIMES,
        "set the clock of the producer or of the hosts that verify; such traces fall into buckets that close too late",
    ),
    RowCheck(
        CheckName.DRAWS_JUDGED,
        "is the role verify running, and does it keep up (lag of gw.drawn)? An embedded process sends them again when "
        "it starts: restart `groundwatch run`",
    ),
    RowCheck(
        CheckName.VERDICTS_TRACED,
        "they count in no rate; replay the source topic over that time, or let retention remove them",
    ),
    RowCheck(
        CheckName.VERDICTS_DRAWN,
        "they count in no rate; two deployments, or two salts, write into one store: see ingest.salt",
    ),
    RowCheck(
        CheckName.HEADS_TRACED,
        "the store refused the trace after it fixed its draw; look for the ids in gw.deadletter",
    ),
    RowCheck(
        CheckName.PASSAGES_STORED,
        "their evidence cannot be shown; replay the source topic over that time, which stores the texts again",
    ),
)
DUPLICATES = RowCheck(
    CheckName.DUPLICATES,
    "the same id is stored at several times and counts each time; the producer must send one `ts` per `trace_id`",
)


def words() -> dict[str, Any]:
    """Every vocabulary as a parameter of the statements."""
    vocabularies = {
        "tiers": RiskTier,
        "outcomes": Outcome,
        "failures": FailureLabel,
        "containments": Containment,
        "layers": Layer,
        "reasons": LayerReason,
        "labels": ClaimLabel,
        "sources": ClaimSource,
        "severities": Severity,
        "rules": StructuralRule,
        "states": AlertState,
    }
    return {name: [word.value for word in vocabulary] for name, vocabulary in vocabularies.items()}
