"""Claims: splitting an answer into checkable statements, and marking the critical ones."""

from detectors.claims.critical import mark_critical
from detectors.claims.split import SPLITTER_VERSION, split_claims, splitter_name

__all__ = ["SPLITTER_VERSION", "mark_critical", "split_claims", "splitter_name"]
