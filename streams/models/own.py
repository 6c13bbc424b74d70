"""The model that ships with us: whether it can be loaded here, told without loading it."""

from detectors.models.own.loading import check_own, missing_libraries
from schemas.errors import ConfigError
from streams.models.folder import State


def own_state() -> tuple[State, tuple[str, ...]]:
    """How it stands, and why it does not stand well."""
    if missing := missing_libraries():
        return State.ABSENT, (f"{', '.join(missing)} not installed: pip install 'groundwatch[models]'",)
    try:
        check_own()
    except ConfigError as error:
        return State.DAMAGED, (str(error),)
    return State.PRESENT, ()
