"""The command line: one file a command group, thin over the functions that do the work."""

from streams.cli.program import main

__all__ = ["main"]
