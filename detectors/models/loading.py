"""From a folder to a detector: the layout is read from ``config.json``, and what fits none is refused by name."""

import json
from collections.abc import Callable
from dataclasses import asdict
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from detectors.evidence import load_weights
from detectors.models.batching import Encoded
from detectors.models.engine import Engine, Failed
from detectors.models.folder import Layout, ModelFolder, read_folder
from detectors.models.labels import hallucination_index, nli_indices
from detectors.models.options import ModelOptions
from detectors.models.pairs import HHEM_PROMPT, PairDetector, PairModel, prompt_form
from detectors.models.premises import Premises
from detectors.models.spans import SpanDetector, SpanModel
from detectors.models.tokens import TextEncoder
from schemas.errors import ConfigError

if TYPE_CHECKING:
    from detectors.models.runtime import Network

VERSION = 2
"""Raised when evidence is chosen, or an input written, in another way."""
_NEEDED = ("torch", "transformers", "tokenizers", "safetensors")
_CONSISTENT = 1
"""Output of a pair scorer that means consistent, as published; its folder names no labels."""
_PROCESSOR_BATCH = 512
"""Padded tokens of a batch above which a processor gets slower: the batch no longer fits its caches."""
_NOT_IN_SCORES = frozenset({"device", "precision", "threads", "batch_tokens", "queue_tokens", "tokenizer"})


def load_model(folder: Path, options: ModelOptions | None = None) -> PairDetector | SpanDetector:
    """The model in ``folder`` as a detector, warmed up and ready; a ``detectors.detector.Detector``.

    Nothing is downloaded, and no code of the folder is run. Raises ConfigError when the folder holds no model of a
    known layout, when its weights are not safetensors, or when something it needs is missing or not installed.
    """
    absent = [name for name in _NEEDED if find_spec(name) is None]
    if absent:
        raise ConfigError(f"models need {', '.join(absent)}: pip install 'groundwatch[models]'")
    chosen = options or ModelOptions()
    found = read_folder(folder, chosen.tokenizer)
    from detectors.models.runtime import Network  # noqa: PLC0415 - torch is imported where a model is loaded

    network = Network(found, chosen)
    encoder = TextEncoder(found.tokenizer, has_types=network.has_types)
    window = _window(chosen.window_tokens, network.longest, found)
    engine = _engine(network, chosen, window)
    premises = Premises(encoder, load_weights().terms, chosen)
    version = f"{found.layout.value}:{fingerprint(found, chosen, network.precision.value, window)}"
    if found.layout is Layout.SPAN_TAGGER:
        wrong = hallucination_index(found.config)
        tagger = SpanModel(found.layout.value, version, engine, encoder, window, wrong)
        _warm_up(engine, encoder.pair, found)
        return SpanDetector(tagger, premises, chosen)
    form, support, contradiction = _pairs(found, encoder)
    pairs = PairModel(found.layout.value, version, engine, encoder, form, window, support, contradiction)
    _warm_up(engine, form, found)
    return PairDetector(pairs, premises, chosen)


def fingerprint(folder: ModelFolder, options: ModelOptions, precision: str, window: int) -> str:
    """Sixteen hex digits over all that decides a score: what the folder holds, numbers, window, evidence, options.

    Device, threads and sizes of batches are no part of it; a processor and a GPU of the same precision share a series.
    """
    counted = {name: value for name, value in asdict(options).items() if name not in _NOT_IN_SCORES}
    body = {**counted, "window_tokens": window, "precision": precision, "version": VERSION}
    content = [folder.digest(), load_weights().fingerprint, json.dumps(body, sort_keys=True)]
    return blake2b("\n".join(content).encode(), digest_size=8).hexdigest()


def _pairs(folder: ModelFolder, encoder: TextEncoder) -> tuple[Callable[[str, str], Encoded], int, int | None]:
    if folder.layout is Layout.PAIR_SCORER:
        return prompt_form(encoder, str(folder.config.get("prompt", HHEM_PROMPT))), _CONSISTENT, None
    indices = nli_indices(folder.config)
    return encoder.pair, indices.entailment, indices.contradiction


def _window(wanted: int, longest: int, folder: ModelFolder) -> int:
    """Tokens of the longest input; T5, whose positions are relative, may be given longer ones than it was made with."""
    if wanted > longest and folder.layout is not Layout.PAIR_SCORER:
        raise ConfigError(f"window_tokens is {wanted}, and {folder.path} takes {longest} at most")
    return wanted or longest


def _engine(network: "Network", options: ModelOptions, window: int) -> Engine:
    is_gpu = network.has_fixed_rows
    batch = options.batch_tokens if is_gpu else min(options.batch_tokens, _PROCESSOR_BATCH)
    return Engine(network, batch, options.queue_tokens, window, fixed_rows=is_gpu)


def _warm_up(engine: Engine, form: Callable[[str, str], Encoded], folder: ModelFolder) -> None:
    """The first passes are slow, because buffers and kernels are made then. Raises ConfigError where one fails."""
    results = engine.run([form("Refunds take 14 days. " * times, "Refunds take 14 days.") for times in (1, 8)])
    failed = next((result.reason for result in results if isinstance(result, Failed)), "")
    if failed:
        raise ConfigError(f"{folder.path} was loaded, and fails on a first sentence: {failed}")
