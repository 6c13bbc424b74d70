"""Result tables, as Markdown, so that what the terminal shows can go into a document as it is."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; floats with the digits that their size deserves, None as a dash."""
    cells = [list(head), ["---"] * len(head), *([_text(value) for value in row] for row in rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
