"""From the settings to the models that verify stacks on L1, warmed up; what is absent is said, not passed over."""

from dataclasses import replace
from pathlib import Path

import structlog

from detectors.detector import Detector
from detectors.layers import StackedDetector
from detectors.models import Device, ModelOptions, Precision, load_model
from detectors.models.alone import Alone
from detectors.models.stacking import load_stacked
from schemas.errors import ConfigError
from streams.models.folder import Found, State, look_at, look_into, tokenizer_of
from streams.settings.models import AUTO, NONE, OWN, Models

log = structlog.get_logger(__name__)


def load_models(settings: Models, data_dir: Path, below: Detector) -> tuple[StackedDetector | None, str]:
    """The models that answer in L1's place, warmed up, and why there are none; empty where none are wanted.

    ``below`` is L1. Takes seconds. Raises ConfigError where a model that the settings name cannot be loaded; the model
    of ours that nobody asked for by name may be absent.
    """
    if settings.use == NONE:
        return None, ""
    if settings.use not in {AUTO, OWN}:
        return load_folder(found_model(settings, data_dir), settings), ""
    try:
        return load_own(settings, below), ""
    except (ConfigError, ImportError) as error:
        if settings.use == OWN:
            raise ConfigError(f"models.use: own cannot be loaded: {error}") from error
        return None, f"{error}"


def load_own(settings: Models, below: Detector) -> StackedDetector:
    """The model that ships with us, stacked on L1. Raises ConfigError or ImportError where something is not there."""
    return load_stacked(below, options_of(settings))


def load_folder(found: Found, settings: Models) -> StackedDetector:
    """The model in a folder that was looked at. Raises ConfigError as ``detectors.models.load_model``."""
    options = replace(options_of(settings), tokenizer=tokenizer_of(found.folder))
    return Alone(load_model(found.folder, options))


def found_model(settings: Models, data_dir: Path) -> Found:
    """The model that the settings name, its files compared with its manifest, which takes a second a gigabyte.

    Raises ConfigError where it is absent, damaged or of another commit than ``models.revision``.
    """
    folder = Path(settings.use) if settings.is_path else None
    root = settings.folder(data_dir)
    found = look_into(folder, folder.name, with_sums=True) if folder else look_at(root, settings.use, with_sums=True)
    if found.state is State.ABSENT:
        fix = "correct the path" if folder else f"groundwatch models pull {settings.use}"
        raise ConfigError(f"models.use: {settings.use} is not there ({found.folder}); {fix}, or set models.use to auto")
    if found.state is State.DAMAGED:
        raise ConfigError(
            f"models.use: {settings.use} is damaged: {'; '.join(found.faults)}; groundwatch models pull --replace"
        )
    revision = found.manifest.revision if found.manifest else ""
    if settings.revision not in {"", revision}:
        raise ConfigError(
            f"models.revision: {settings.use} in {found.folder} is of {revision or 'an unknown commit'}, not of "
            f"{settings.revision}; pull that one with --replace, or correct the setting"
        )
    if found.state is State.UNCHECKED:
        log.warning("model_unchecked", folder=str(found.folder), fix="pull it --from there, which writes its checksums")
    return found


def runs_on(settings: Models) -> str:
    """Where models compute, and in which numbers, as in ``cpu fp32``. Raises ImportError without their libraries."""
    from detectors.models.runtime import runs_on as told  # noqa: PLC0415  it imports torch

    return told(options_of(settings))


def options_of(settings: Models) -> ModelOptions:
    """How models are loaded, as the settings say."""
    return ModelOptions(
        device=Device(settings.device),
        precision=Precision(settings.precision),
        threads=settings.threads,
        batch_tokens=settings.batch_tokens,
        queue_tokens=settings.queue_tokens,
        full_context=settings.full_context,
    )
