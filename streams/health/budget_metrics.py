"""The metrics of money: calls that were not paid for, and what the alert leader knows of each budget."""

from collections.abc import Iterator, Mapping

from schemas.labels import Layer
from schemas.spend import Cost
from streams.agents.budgets import PotState
from streams.health import catalogue as names
from streams.health.catalogue import Metric

Values = Iterator[tuple[tuple[str, ...], float]]


def refused_calls(totals: Mapping[Layer, Cost]) -> Iterator[tuple[Metric, Values]]:
    """By layer, since the process began."""
    yield names.BUDGET_REFUSED, (((layer.value,), cost.refused) for layer, cost in totals.items())


def of_budgets(pots: Mapping[str, PotState]) -> Iterator[tuple[Metric, Values]]:
    """Each budget that is set, in tokens and in dollars, as of the leader's last look."""
    limited = [
        (pot, unit, state)
        for pot, state in pots.items()
        for unit in ("tokens", "usd")
        if getattr(state.limit, unit) < float("inf")
    ]
    yield names.BUDGET_LIMIT, (((pot, unit), getattr(state.limit, unit)) for pot, unit, state in limited)
    yield names.BUDGET_SPENT, (((pot, unit), getattr(state.spent, unit)) for pot, unit, state in limited)
    yield (
        names.BUDGET_EXPECTED,
        (((pot, unit), getattr(state.expected, unit)) for pot, unit, state in limited if state.expected is not None),
    )
    yield names.BUDGET_SHARE, (((pot,), state.share) for pot, state in pots.items())
