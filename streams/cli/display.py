"""What goes to a terminal; text of users and documents cannot style it, move its cursor or break its encoding."""

import json
import sys
import unicodedata
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schemas.alert import RateEstimate
from schemas.labels import AlertState, ClaimLabel, Containment, Outcome

WIDTH_OF_FILES = 200
_HARMLESS = "\n\t\u200c\u200d"
"""Line feed, tab, and the joiners that several scripts need to be read."""
_STYLES = {
    ClaimLabel.SUPPORTED: "green",
    ClaimLabel.CONTRADICTED: "bold red",
    ClaimLabel.UNSUPPORTED: "red",
    ClaimLabel.UNCLEAR: "yellow",
    ClaimLabel.NOT_FACTUAL: "dim",
    Outcome.GROUNDED: "green",
    Outcome.HALLUCINATED: "bold red",
    Containment.DELIVER: "green",
    Containment.DELIVER_TRIMMED: "yellow",
    Containment.HOLD_FOR_REVIEW: "yellow",
    Containment.ABSTAIN: "red",
    AlertState.FIRING: "bold red",
    AlertState.PENDING: "yellow",
    AlertState.RESOLVED: "green",
}


def stdout() -> Console:
    """A console that takes no markup from the text it prints; wide when nobody's screen bounds it."""
    width = None if sys.stdout.isatty() else WIDTH_OF_FILES
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=True, width=width)


def stderr() -> Console:
    """The same for messages that are not the result."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)


def plain(text: str) -> str:
    """``text`` without control and direction characters (line feeds and tabs stay) and without lone surrogates."""
    return "".join("\ufffd" if _is_unsafe(character) else character for character in text)


def styled(word: str) -> Text:
    """A label, outcome or state in its colour."""
    return Text(str(word), style=style_of(word))


def style_of(word: str) -> str:
    """The colour of a label, outcome or state."""
    return _STYLES.get(word, "yellow")  # type: ignore[call-overload,no-any-return]  # keys are str enums


def percent(estimate: RateEstimate) -> str:
    """``12.3 % (8.1 to 17.9, n = 180)``."""
    rate = "no data" if estimate.rate is None else f"{100 * estimate.rate:.1f} %"
    return f"{rate} ({100 * estimate.low:.1f} to {100 * estimate.high:.1f}, n = {estimate.n})"


def columns(*names: str, right: slice = slice(0)) -> Table:
    """A table without lines; the columns in ``right`` hold figures, and stand to the right."""
    table = Table(*names, box=None, pad_edge=False)
    for column in table.columns[right]:
        column.justify = "right"
    return table


def moment(when: datetime | None) -> str:
    """UTC to the minute; empty for none."""
    return f"{when:%Y-%m-%d %H:%M} UTC" if when else ""


def json_line(value: dict[str, Any]) -> None:
    """One JSON object on one line of standard output, ASCII, at once."""
    print(json.dumps(value, separators=(",", ":"), default=str), flush=True)  # noqa: T201  this is the command's result


def _is_unsafe(character: str) -> bool:
    return character not in _HARMLESS and unicodedata.category(character) in {"Cc", "Cs", "Cf"}
