"""Claims: splitting an answer into checkable statements, and marking the critical ones."""

from detectors.claims.critical import check_rules, mark_critical
from detectors.claims.split import SPLITTER_VERSION, split_claims

__all__ = ["SPLITTER_VERSION", "check_rules", "mark_critical", "split_claims"]
