"""What the commands about models print."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from schemas.base import Record
from streams.cli.display import columns, plain

_STYLES = {"present": "green", "damaged": "bold red", "absent": "dim", "unchecked": "yellow"}


class ShownModel(Record):
    """A model: ``source`` is package (it ships with us), catalogue or folder; ``faults`` are empty unless damaged.

    ``revision`` is that of the files that lie there, or else the one that would be pulled.
    """

    name: str
    state: str
    is_used: bool
    source: str
    layout: str
    licence: str
    hub_id: str = ""
    revision: str = ""
    folder: str = ""
    about: str = ""
    faults: tuple[str, ...] = ()


class PulledModel(Record):
    """What was pulled: ``is_new`` is false where it lay there already; ``left`` are files of the source not taken."""

    name: str
    folder: str
    layout: str
    hub_id: str
    revision: str
    files: int
    bytes: int
    is_new: bool
    left: tuple[str, ...]


class CheckedModel(Record):
    """What a check found; ``faults`` empty where the model is whole and loads.

    Without the figures of a run where it was not loaded. ``claims_per_second`` is of a short run on this machine as it
    is loaded now: an order of magnitude.
    """

    name: str
    state: str
    layout: str = ""
    fingerprint: str = ""
    runs_on: str = ""
    load_seconds: float | None = None
    claims_per_second: float | None = None
    faults: tuple[str, ...] = ()


def models_table(shown: Sequence[ShownModel]) -> Table:
    """One line a model, the one that is used with a star."""
    table = columns("", "name", "state", "layout", "licence", "from", "revision")
    for model in shown:
        table.add_row(
            "*" if model.is_used else "",
            plain(model.name),
            Text(model.state, style=_STYLES.get(model.state, "")),
            model.layout,
            plain(model.licence),
            plain(model.hub_id or model.source),
            model.revision[:12],
        )
    return table


def pulled_text(pulled: PulledModel) -> str:
    """What lies there now, and what was left out."""
    size = f"{pulled.files} files, {pulled.bytes / 1e6:,.1f} MB"
    what = f"{pulled.name}: {size} in {pulled.folder}, layout {pulled.layout}"
    told = what if pulled.is_new else f"{what}; it was there already"
    return f"{told}\nnot taken: {', '.join(pulled.left)}" if pulled.left else told


def checked_text(checked: CheckedModel) -> Text:
    """A line on the model, and one a fault."""
    lines = [Text.assemble((plain(checked.name), "bold"), "  ", (checked.state, _STYLES.get(checked.state, "")))]
    if checked.claims_per_second is not None:
        lines.append(
            Text(
                plain(
                    f"  {checked.layout or 'layout not written down'}, {checked.runs_on}, loaded in "
                    f"{checked.load_seconds:.1f} s, about {checked.claims_per_second:.0f} claims a second, "
                    f"fingerprint {checked.fingerprint}"
                )
            )
        )
    lines += [Text(plain(f"  {fault}"), style="red") for fault in checked.faults]
    return Text("\n").join(lines)
