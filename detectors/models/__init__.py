"""L2: entailment models and span taggers in the layouts of published ones, loaded from a local folder."""

from detectors.models.calibration import Calibration
from detectors.models.loading import load_model
from detectors.models.options import Device, ModelOptions, Precision

__all__ = ["Calibration", "Device", "ModelOptions", "Precision", "load_model"]
