"""Options that the commands of ``groundwatch golden`` share."""

from pathlib import Path
from typing import Annotated

import typer

SetFile = Annotated[Path, typer.Argument(help="Golden set: JSON Lines, one case a line.")]
Author = Annotated[str, typer.Option(help="Who does it, for the history; your login when left out.")]
Unlock = Annotated[
    str, typer.Option(metavar="REASON", help="Change locked hold-out cases, and keep this reason in the lock.")
]
Similarity = Annotated[
    float, typer.Option(min=0.1, max=1, help="From how similar (0 to 1, by letters) two questions are nearly the same.")
]
