"""What the shell completes beyond fixed words: only from a running process, at once, and nothing when that fails."""

from collections.abc import Iterable
from typing import Any

from schemas.errors import GroundwatchError
from streams.settings import load_settings

PATIENCE_SECONDS = 1.0
MOST = 200


def alert_ids(incomplete: str) -> list[tuple[str, str]]:
    """Ids of alerts with their slice and state."""
    rows = _asked("/api/v1/alerts")
    return _fitting(
        incomplete,
        ((row["alert_id"], f"{row['slice']['intent']}/{row['slice']['tier']} {row['state']}") for row in rows),
    )


def policy_ids(incomplete: str) -> list[tuple[str, str]]:
    """Ids of published policies and overlays."""
    rows = _asked("/api/v1/policy")
    return _fitting(incomplete, ((row["policy_id"], row["effective_from"] or "from the beginning") for row in rows))


def intents(incomplete: str) -> list[tuple[str, str]]:
    """Intents of last week's traffic."""
    names = sorted({row["intent"] for row in _asked("/api/v1/traffic")})
    return _fitting(incomplete, ((name, "") for name in names))


def _asked(path: str) -> list[dict[str, Any]]:
    from streams.cli.opened import running_process  # noqa: PLC0415  the store's client is slow to import

    try:
        process = running_process(load_settings(), PATIENCE_SECONDS)
        rows: list[dict[str, Any]] = process.get(path, limit=MOST) if process else []
    except GroundwatchError:
        return []
    return rows


def _fitting(incomplete: str, found: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those that begin so and can stand on a command line."""
    return [(name, text) for name, text in found if name.startswith(incomplete) and name.isprintable()]
