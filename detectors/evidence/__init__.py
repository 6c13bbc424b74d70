"""L1: how well the passages cover each claim, judged by counted words, figures and names, without a model runtime."""

from detectors.evidence.detector import EvidenceDetector, load_evidence_detector
from detectors.evidence.weights import Weights, load_weights

__all__ = ["EvidenceDetector", "Weights", "load_evidence_detector", "load_weights"]
