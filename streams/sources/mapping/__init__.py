"""The declarative mapping: YAML files of JMESPath expressions that turn any JSON into spans or traces.

One engine; a format is data. What a path cannot say is a named function that every mapping may call.
"""

from streams.sources.mapping.compiled import Mapped, Mapper
from streams.sources.mapping.file import PRESETS, load_mapping, parse_mapping, preset

__all__ = ["PRESETS", "Mapped", "Mapper", "load_mapping", "parse_mapping", "preset"]
