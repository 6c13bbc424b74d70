"""From a folder to a detector: the layout is read from ``config.json``, and what fits none is refused by name."""

from pathlib import Path

from detectors.detector import Detector
from detectors.models.options import ModelOptions


def load_model(folder: Path, options: ModelOptions | None = None) -> Detector:
    """The model in ``folder`` as a detector, warmed up and ready.

    Nothing is downloaded, and no code of the folder is run. Raises ConfigError when the folder holds no model of a
    known layout, when its weights are not safetensors, or when something it needs is missing or not installed.
    """
    raise NotImplementedError
