"""What judges would cost under a policy, as far as a process or a store can be asked."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from detectors.routing import route_of
from sampling.spend_forecast import Basis, Forecast, forecast, is_paid, price_of
from schemas.errors import GroundwatchError
from schemas.policy import PolicyDocument
from streams.settings import Settings


def forecasts(settings: Settings, documents: Sequence[PolicyDocument], now: datetime) -> tuple[list[Forecast], str]:
    """One a document, or none and why: none of them asks a judge (empty), or nothing can be asked about the past."""
    if not any(map(is_paid, documents)):
        return [], ""
    try:
        basis = _basis(settings, now)
    except GroundwatchError as error:
        return [], str(error)
    price = price_of(settings.judge.usd_per_million_in, settings.judge.usd_per_million_out)
    return [forecast(one, partial(route_of, one), basis, price) for one in documents], ""


def _basis(settings: Settings, now: datetime) -> Basis:
    from streams.cli.opened import opened_store, running_process  # noqa: PLC0415  the store's client is slow to import
    from streams.spend.forecast import read_basis  # noqa: PLC0415  as above

    if process := running_process(settings):
        return Basis.model_validate(process.get("/api/v1/spend/basis", is_long=True))
    with opened_store(settings, read_only=True) as store:
        return read_basis(store, now)
