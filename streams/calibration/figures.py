"""Figures of the report in words, alike on the page and in a terminal."""

from schemas.alert import RateEstimate

DASH = "–"


def share(found: RateEstimate) -> str:
    """``0.81 [0.74, 0.87]``."""
    return DASH if found.rate is None else f"{found.rate:.2f} [{found.low:.2f}, {found.high:.2f}]"


def number(value: float | None) -> str:
    """``0.81``."""
    return DASH if value is None else f"{value:.2f}"
