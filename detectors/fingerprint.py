"""The fingerprint of a verdict: everything that could make the same answer come out differently.

Verdicts of different fingerprints are different series, so nothing that only changes wording or speed belongs in it.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b

from detectors.claims import SPLITTER_VERSION
from detectors.structural import L0_VERSION
from schemas.labels import Layer
from schemas.policy import Thresholds


def fingerprint(
    detector_fingerprint: str,
    thresholds: Thresholds,
    layers: Sequence[Layer],
    *,
    splitter_version: str = SPLITTER_VERSION,
    l0_version: str = L0_VERSION,
) -> str:
    """Sixteen hex digits over ``fingerprint_parts``; equal parts give equal digits in every process."""
    parts = fingerprint_parts(
        detector_fingerprint, thresholds, layers, splitter_version=splitter_version, l0_version=l0_version
    )
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode("ascii"), digest_size=8).hexdigest()


def fingerprint_parts(
    detector_fingerprint: str,
    thresholds: Thresholds,
    layers: Sequence[Layer],
    *,
    splitter_version: str = SPLITTER_VERSION,
    l0_version: str = L0_VERSION,
) -> Mapping[str, str]:
    """The parts by name, for people who want to know what changed; layers count as a set."""
    return {
        "detector": detector_fingerprint,
        "layers": ",".join(sorted({layer.value for layer in layers})),
        "splitter": splitter_version,
        "l0": l0_version,
        **{f"threshold_{name}": repr(value) for name, value in sorted(thresholds.model_dump().items())},
    }


def screening_fingerprint(detector_fingerprint: str) -> str:
    """What ingest writes beside its judgements: verify reuses them only where detector, splitter and L0 are its own."""
    return f"{detector_fingerprint}/{SPLITTER_VERSION}/{L0_VERSION}"
