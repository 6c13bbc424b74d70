"""The one modelling base: frozen, unknown fields ignored, so a newer writer never crashes an older reader."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen value object; equality is by value."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True)


def _to_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:  # an offset that leads out of the calendar, as in 0001-01-01T00:00:00+14:00
        message = "the time lies outside the years 1 to 9999 in UTC"
        raise ValueError(message) from error


UtcDatetime = Annotated[AwareDatetime, AfterValidator(_to_utc)]
"""An aware datetime, always converted to UTC; a naive one is refused."""
