"""The detectors of a command: those that a process with the same configuration would judge with."""

from detectors.detector import Detector
from detectors.evidence import load_evidence_detector
from detectors.layers import Layers
from streams.layers import load_layers
from streams.logging import configure_logging
from streams.settings import Settings


def detectors_of(settings: Settings) -> tuple[Detector, Layers]:
    """L1 and the layers above it, which takes seconds where the settings have models. Raises ConfigError."""
    configure_logging("warning", settings.log.format)  # standard output is for the result
    detector = load_evidence_detector()
    return detector, load_layers(settings, detector)
