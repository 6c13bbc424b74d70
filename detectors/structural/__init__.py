"""L0: what can be said about an answer from its structure alone, without a detector, in microseconds."""

from detectors.structural.context import context_passages
from detectors.structural.examine import L0_VERSION, StructuralFindings, examine
from detectors.structural.readable import MAX_ANSWER_BYTES, find_unreadable

__all__ = ["L0_VERSION", "MAX_ANSWER_BYTES", "StructuralFindings", "context_passages", "examine", "find_unreadable"]
