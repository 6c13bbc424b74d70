"""Waiting at start for what is not there yet."""

from collections.abc import Awaitable, Callable

import pytest

from schemas.errors import ConfigError, StoreUnavailable
from streams import starting
from streams.agents.batches import Lifeline
from streams.starting import Stopping, reached

PATIENCE = 60.0


def failing(times: int, error: Exception) -> Callable[[], Awaitable[str]]:
    """Something that is there at the next attempt after so many."""
    left = times

    async def attempt() -> str:
        nonlocal left
        left -= 1
        if left >= 0:
            raise error
        return "there"

    return attempt


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses take no time."""

    async def pause(_seconds: float, _lifeline: Lifeline) -> None:
        return

    monkeypatch.setattr(starting, "_pause", pause)


async def test_what_comes_up_meanwhile_is_found(no_pause: None) -> None:
    """A fleet may be started in any order."""
    assert "there" == await reached("store", failing(3, StoreUnavailable("away")), PATIENCE, Lifeline())


async def test_patience_ends_with_what_was_missing() -> None:
    """So that the last line of the log names it."""
    with pytest.raises(StoreUnavailable, match="away"):
        await reached("store", failing(9, StoreUnavailable("away")), 0.0, Lifeline())


async def test_what_waiting_cannot_mend_is_not_waited_for() -> None:
    """A wrong password is wrong at once."""
    with pytest.raises(ConfigError):
        await reached("store", failing(1, ConfigError("password")), PATIENCE, Lifeline())


async def test_a_stop_ends_the_waiting() -> None:
    """A supervisor that changes its mind need not kill."""
    lifeline = Lifeline()
    lifeline.stop("signal")
    with pytest.raises(Stopping):
        await reached("store", failing(9, StoreUnavailable("away")), PATIENCE, lifeline)
