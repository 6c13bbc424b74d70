"""The one modelling base: frozen, unknown fields ignored, so a newer writer never crashes an older reader."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen value object; equality is by value."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True)


def _to_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


UtcDatetime = Annotated[AwareDatetime, AfterValidator(_to_utc)]
"""An aware datetime, always converted to UTC; a naive one is refused."""
