"""The layers above L1 that a process has: loaded once, before it counts as ready, and said at start."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

import structlog

from detectors.consistency import SelfConsistency
from detectors.detector import Detector
from detectors.judge import LlmJudge
from detectors.layers import Layers
from schemas.labels import Layer
from streams.consistency import consistency_of
from streams.judging import judge_of
from streams.models.loading import load_models
from streams.settings import Settings
from streams.settings.judge import Judge
from streams.settings.models import AUTO, NONE
from streams.spend import Spending, cache_of, purse_of
from streams.store import Store

log = structlog.get_logger(__name__)


def load_layers(
    settings: Settings, detector: Detector, spending: Spending | None = None, store: Store | None = None
) -> Layers:
    """Everything above ``detector`` (L1) that the settings ask for, warmed up; one line in the log says what that is.

    ``spending`` are the books of the process; None pays for everything, as commands beside the flow do. ``store``, a
    client of its own, keeps what judges say; None: they are remembered by this process alone.

    Takes seconds where models are loaded. ``notes`` of the result says why a layer is not there. Raises ConfigError for
    one that was asked for by name and cannot be had.
    """
    models, why_none = load_models(settings.models, settings.data_dir, detector)
    asked_again = settings.consistency
    purse = purse_of(spending, Layer.L4, usd_per_million=asked_again.dearest_usd_per_million)
    layers = Layers(
        models=models,
        judge=paid_judge(settings.judge, spending, store),
        consistency=consistency_of(asked_again, purse, detector),
        notes={Layer.L2.value: why_none} if why_none else {},
    )
    log.info(
        "layers_loaded", layers=present(layers), models=models.name if models else None, without=dict(layers.notes)
    )
    return layers


def asked_for(settings: Settings) -> Iterator[str]:
    """The layers above L1 that the settings name, in words, without loading one; that one can be had is not said."""
    if settings.models.use != NONE and (settings.models.use != AUTO or find_spec("torch")):
        yield f"L2 (models.use: {settings.models.use})"
    if settings.judge.url:
        yield f"L3 (judge {settings.judge.model}) where a route names it"
    if settings.consistency.url:
        yield f"L4 (samples of {settings.consistency.model}) where a route names it"


def costs_money(settings: Settings) -> bool:
    """Whether a layer calls an endpoint, so that the process must keep books."""
    return bool(settings.consistency.url or settings.judge.url)


def paid_judge(settings: Judge, spending: Spending | None, store: Store | None) -> LlmJudge | None:
    """The judge with its books, and ``store`` for what it says; None where none is configured. Raises ConfigError."""
    purse = purse_of(spending, Layer.L3, usd_per_million=settings.dearest_usd_per_million)
    return judge_of(settings, purse, cache_of(store))


def close_layers(layers: Layers) -> None:
    """Close connections to endpoints; nothing is to be judged any more."""
    if isinstance(layers.judge, LlmJudge):
        layers.judge.close()
    if isinstance(layers.consistency, SelfConsistency):
        layers.consistency.close()


def events_of(layers: Layers) -> Mapping[str, int]:
    """What became of the claims that the judge was asked about, by name; nothing without one."""
    return layers.judge.counts if isinstance(layers.judge, LlmJudge) else {}


def present(layers: Layers) -> list[str]:
    """The layers that answers can be judged by, L0 and L1 included."""
    upper = ((Layer.L2, layers.models), (Layer.L3, layers.judge), (Layer.L4, layers.consistency))
    return [Layer.L0.value, Layer.L1.value, *(layer.value for layer, part in upper if part is not None)]
