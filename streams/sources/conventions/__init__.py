"""Conventions: what the keys of a raw span mean, one module a convention; after it nothing of a stranger's is left."""

from streams.sources.conventions.flat import flat_values
from streams.sources.conventions.span import to_span

__all__ = ["flat_values", "to_span"]
