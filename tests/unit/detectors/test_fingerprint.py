"""What makes a series of verdicts its own."""

import pytest

from detectors.claims import SPLITTER_VERSION, splitter_name
from detectors.fingerprint import (
    changed_parts,
    digest,
    fingerprint,
    fingerprint_parts,
    route_parts,
    screening_fingerprint,
)
from detectors.layers import Layers
from detectors.routing import plan_of
from detectors.structural import L0_VERSION
from schemas.labels import Layer
from schemas.policy import ClaimSplitting, Thresholds
from schemas.routes import Budget, ConsistencyRule, InlineRule, JudgeRule, Route
from tests.builders import policy
from tests.fakes_layers import FakeConsistency, FakeJudge, FakeStacked

OWN = {"splitter": "1", "l0_version": "1", "phrases": "p"}
BASE = fingerprint("d-1", Thresholds(), (Layer.L0, Layer.L1), **OWN)


def test_equal_parts_give_equal_digits_in_every_process() -> None:
    """A pinned value: a change here is a change of every series in the store."""
    assert "929aa7dd3fa2fe81" == fingerprint(
        "d1",
        Thresholds(supported=0.5, unsupported=0.5, contradicted=0.8),
        (Layer.L0, Layer.L1),
        **OWN,
    )


@pytest.mark.parametrize(
    "other",
    [
        fingerprint("d-2", Thresholds(), (Layer.L0, Layer.L1), **OWN),
        fingerprint("d-1", Thresholds(contradicted=0.9), (Layer.L0, Layer.L1), **OWN),
        fingerprint("d-1", Thresholds(), (Layer.L0,), **OWN),
        fingerprint("d-1", Thresholds(), (Layer.L0, Layer.L1), **{**OWN, "splitter": "2"}),
        fingerprint("d-1", Thresholds(), (Layer.L0, Layer.L1), **{**OWN, "l0_version": "2"}),
        fingerprint("d-1", Thresholds(), (Layer.L0, Layer.L1), **{**OWN, "phrases": "q"}),
    ],
)
def test_every_part_counts(other: str) -> None:
    """Detector, thresholds, layers, splitter, L0 and the phrase lists."""
    assert BASE != other


def test_the_order_of_layers_does_not_count() -> None:
    """Layers are a set."""
    assert BASE == fingerprint("d-1", Thresholds(), (Layer.L1, Layer.L0), **OWN)


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


def test_what_differs_between_two_is_named() -> None:
    """A part that one side lacks is empty there, as when a version began to count another part."""
    before = {"detector": "d-1", "l0": "2", "gone": "x"}
    after = {"detector": "d-2", "l0": "2", "phrases": "ab"}

    assert [("detector", "d-1", "d-2"), ("gone", "x", ""), ("phrases", "", "ab")] == changed_parts(before, after)


def test_the_digits_follow_from_the_parts() -> None:
    """What a verdict carries as its parts gives its fingerprint again."""
    parts = fingerprint_parts("d-1", Thresholds(), (Layer.L0, Layer.L1), **OWN)

    assert BASE == digest(dict(reversed(parts.items())))


def test_atomic_splitting_is_a_splitter_of_its_own() -> None:
    """Its judgements are never taken for those of whole sentences."""
    assert SPLITTER_VERSION == splitter_name()
    assert f"{SPLITTER_VERSION}-atomic" == splitter_name(ClaimSplitting.ATOMIC)
    assert screening_fingerprint("d-1") != screening_fingerprint("d-1", splitter_name(ClaimSplitting.ATOMIC))


def test_the_screening_names_detector_splitter_and_l0() -> None:
    """Thresholds have no part in judgements."""
    assert f"d-1/{SPLITTER_VERSION}/{L0_VERSION}" == screening_fingerprint("d-1")


def test_a_detector_may_name_itself_in_any_script() -> None:
    """Lone surrogates and NUL included."""
    assert 16 == len(fingerprint("dé\ud83d\x00", Thresholds(), ()))


POLICY = policy(thresholds=Thresholds(supported=0.5, unsupported=0.5, contradicted=0.8))
FULL = Route(judge=JudgeRule(), consistency=ConsistencyRule())


def parts_of(route: Route, above: Layers) -> dict[str, str]:
    """Those of verdicts on answers that take this route."""
    return route_parts("d1", POLICY, plan_of(route, above), above)


@pytest.mark.parametrize("route", [Route(), Route(models=False), FULL])
def test_a_process_without_layers_above_l1_goes_on_with_its_series(route: Route) -> None:
    """Whatever the routes: the parts are those that there always were, so the pinned digits hold."""
    assert fingerprint_parts("d1", POLICY.thresholds, (Layer.L0, Layer.L1)) == parts_of(route, Layers())
    assert "929aa7dd3fa2fe81" == digest({**parts_of(route, Layers()), "splitter": "1", "l0": "1", "phrases": "p"})


def test_a_layer_in_use_adds_its_own_parts() -> None:
    """What it is, and which claims it is asked about; models are the detector."""
    above = Layers(FakeStacked(), FakeJudge(), FakeConsistency())

    found = parts_of(FULL, above)

    assert ("fake-stacked-1", "L0,L1,L2,L3,L4") == (found["detector"], found["layers"])
    assert ("fake-judge-1", "band 0.35 to 0.65, repeats 1, max_claims 20") == (found["judge"], found["judge_rule"])
    assert "fake-consistency-1" == found["consistency"]
    assert "weak_evidence, score_below 0.5, logprob_below -1.0, 4 of 5, temperature 0.7" == found["consistency_rule"]


ALL = Layers(FakeStacked(), FakeJudge(), FakeConsistency())


@pytest.mark.parametrize(
    ("route", "above"),
    [
        (FULL.model_copy(update={"models": False}), ALL),
        (FULL.model_copy(update={"judge": None}), ALL),
        (FULL.model_copy(update={"consistency": None}), ALL),
        (FULL.model_copy(update={"judge": JudgeRule(band_high=0.7)}), ALL),
        (FULL.model_copy(update={"judge": JudgeRule(repeats=3)}), ALL),
        (FULL.model_copy(update={"judge": JudgeRule(max_claims=5)}), ALL),
        (FULL.model_copy(update={"consistency": ConsistencyRule(may_resample=False)}), ALL),
        (FULL.model_copy(update={"consistency": ConsistencyRule(least=3)}), ALL),
        (FULL, Layers(FakeStacked(fingerprint="2"), ALL.judge, ALL.consistency)),
        (FULL, Layers(ALL.models, FakeJudge(fingerprint="2"), ALL.consistency)),
        (FULL, Layers(ALL.models, ALL.judge, FakeConsistency(fingerprint="2"))),
        (FULL, Layers(ALL.models, None, ALL.consistency)),
    ],
    ids=range(12),
)
def test_every_part_of_a_route_counts(route: Route, above: Layers) -> None:
    """Another layer, another rule, another version of a layer."""
    assert parts_of(FULL, ALL) != parts_of(route, above)


def test_money_and_time_are_no_parts() -> None:
    """They change what is an error, or is left out where somebody waits, and never a label."""
    cheap = FULL.model_copy(update={"budget": Budget(usd_per_hour=1.0), "inline": InlineRule(within_ms=50)})

    assert parts_of(FULL, ALL) == parts_of(cheap, ALL)
