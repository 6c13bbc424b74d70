"""What makes a series of verdicts its own."""

import pytest

from detectors.claims import SPLITTER_VERSION
from detectors.fingerprint import fingerprint, fingerprint_parts, screening_fingerprint
from detectors.structural import L0_VERSION
from schemas.labels import Layer
from schemas.policy import Thresholds

BASE = fingerprint("d-1", Thresholds(), (Layer.L0, Layer.L1), splitter_version="1", l0_version="1")


def test_equal_parts_give_equal_digits_in_every_process() -> None:
    """A pinned value: a change here is a change of every series in the store."""
    assert "6bdd327370f27140" == fingerprint(
        "d1",
        Thresholds(supported=0.5, unsupported=0.5, contradicted=0.8),
        (Layer.L0, Layer.L1),
        splitter_version="1",
        l0_version="1",
    )


@pytest.mark.parametrize(
    "other",
    [
        fingerprint("d-2", Thresholds(), (Layer.L0, Layer.L1), splitter_version="1", l0_version="1"),
        fingerprint("d-1", Thresholds(contradicted=0.9), (Layer.L0, Layer.L1), splitter_version="1", l0_version="1"),
        fingerprint("d-1", Thresholds(), (Layer.L0,), splitter_version="1", l0_version="1"),
        fingerprint("d-1", Thresholds(), (Layer.L0, Layer.L1), splitter_version="2", l0_version="1"),
        fingerprint("d-1", Thresholds(), (Layer.L0, Layer.L1), splitter_version="1", l0_version="2"),
    ],
)
def test_every_part_counts(other: str) -> None:
    """Detector, thresholds, layers, splitter and L0."""
    assert BASE != other


def test_the_order_of_layers_does_not_count() -> None:
    """Layers are a set."""
    assert BASE == fingerprint("d-1", Thresholds(), (Layer.L1, Layer.L0), splitter_version="1", l0_version="1")


def test_the_parts_are_named() -> None:
    """People can see what changed; the versions of this package are the default."""
    parts = fingerprint_parts("d-1", Thresholds(contradicted=0.8), (Layer.L0,))

    assert ("d-1", "L0", SPLITTER_VERSION, L0_VERSION, "0.8") == (
        parts["detector"],
        parts["layers"],
        parts["splitter"],
        parts["l0"],
        parts["threshold_contradicted"],
    )


def test_the_screening_names_detector_splitter_and_l0() -> None:
    """Thresholds have no part in judgements."""
    assert f"d-1/{SPLITTER_VERSION}/{L0_VERSION}" == screening_fingerprint("d-1")


def test_a_detector_may_name_itself_in_any_script() -> None:
    """Lone surrogates and NUL included."""
    assert 16 == len(fingerprint("dé\ud83d\x00", Thresholds(), ()))
