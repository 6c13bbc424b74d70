"""The cross-encoder of our own: a small transformer that reads a claim beside its evidence, trained in this repository.

Importing this needs no model library; loading does.
"""

from detectors.models.own.detector import CrossEncoder, Reading
from detectors.models.own.loading import load_own

__all__ = ["CrossEncoder", "Reading", "load_own"]
