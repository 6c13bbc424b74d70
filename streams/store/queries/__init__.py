"""SQL texts too long to sit between Python lines; constants, never put together from values."""

from functools import cache
from importlib import resources


@cache
def load(name: str) -> str:
    """The statement in ``<name>.sql`` of this folder."""
    return (resources.files(__package__ or __name__) / f"{name}.sql").read_text("utf-8")
