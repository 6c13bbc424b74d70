"""What is left of each budget this hour: a line of the overview, where something is paid at all."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from sampling.budget_demand import cuts_of
from sampling.budget_report import PotReport, report_pots
from sampling.policy_log import PolicyLog
from schemas.errors import ConfigError, PolicyIncomplete
from schemas.policy import PolicyDocument, PolicyRecord
from schemas.spend import SpendSum


def budgets_view(records: Sequence[PolicyRecord], rows: Sequence[SpendSum], now: datetime) -> tuple[PotReport, ...]:
    """Pots with a limit, with something spent, or with a lowered π; ``rows`` are the sums of this hour."""
    document = _in_force(records, now)
    if document is None:
        return ()
    pots = report_pots(document, rows, cuts_of(records), now)
    return tuple(pot for pot in pots if pot.used is not None or pot.tokens or pot.usd or pot.share < 1)


def _in_force(records: Sequence[PolicyRecord], now: datetime) -> PolicyDocument | None:
    log = PolicyLog()
    for record in records:
        if record.document is not None:
            with suppress(ConfigError):  # what the processes refuse decides nothing here either
                log = log.add(record)
    try:
        return log.so_far(now).document
    except PolicyIncomplete:
        return None
