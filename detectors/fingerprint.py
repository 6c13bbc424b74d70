"""The fingerprint of a verdict: everything that could make the same answer come out differently.

Verdicts of different fingerprints are different series, so nothing that only changes wording, delivery or speed belongs
in it. Verdicts carry the parts themselves, so that two series can be told apart years later.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from importlib import resources
from importlib.resources.abc import Traversable

from detectors.claims import splitter_name
from detectors.layers import Layers
from detectors.routing import Plan
from detectors.structural import L0_VERSION
from schemas.labels import Layer
from schemas.policy import PolicyDocument, Thresholds
from schemas.routes import ConsistencyRule, JudgeRule

THRESHOLD = "threshold_"
"""Begins the name of a part that is a threshold; its value is the number as Python writes it."""


def fingerprint(  # noqa: PLR0913 - the parts, of which the last three have defaults
    detector_fingerprint: str,
    thresholds: Thresholds,
    layers: Sequence[Layer],
    *,
    splitter: str = "",
    l0_version: str = L0_VERSION,
    phrases: str = "",
) -> str:
    """Sixteen hex digits over ``fingerprint_parts``; equal parts give equal digits in every process."""
    parts = fingerprint_parts(
        detector_fingerprint, thresholds, layers, splitter=splitter, l0_version=l0_version, phrases=phrases
    )
    return digest(parts)


def digest(parts: Mapping[str, str]) -> str:
    """The fingerprint of these parts."""
    text = json.dumps(dict(parts), sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode("ascii"), digest_size=8).hexdigest()


def fingerprint_parts(  # noqa: PLR0913 - as above
    detector_fingerprint: str,
    thresholds: Thresholds,
    layers: Sequence[Layer],
    *,
    splitter: str = "",
    l0_version: str = L0_VERSION,
    phrases: str = "",
) -> dict[str, str]:
    """The parts by name, for people who want to know what changed; layers count as a set.

    ``splitter`` is the name of the way answers are split, ``phrases`` the hash of the language files; the shipped ones
    where they are left out.
    """
    return {
        "detector": detector_fingerprint,
        "layers": ",".join(sorted({layer.value for layer in layers})),
        "splitter": splitter or splitter_name(),
        "l0": l0_version,
        "phrases": phrases or phrases_hash(),
        **{f"{THRESHOLD}{name}": repr(value) for name, value in sorted(thresholds.model_dump().items())},
    }


def route_parts(
    detector_fingerprint: str, policy: PolicyDocument, plan: Plan, above: Layers, splitter: str = ""
) -> dict[str, str]:
    """The parts of verdicts on answers that take this route: those of every verdict, and those of layers above L1.

    A layer that is not in use adds no part, so a series goes on when a version learns of another layer. Amounts of
    money, time limits and what only an inline check leaves out are no parts.
    """
    models = above.models if plan.uses_models else None
    parts = fingerprint_parts(
        models.fingerprint if models else detector_fingerprint,
        policy.thresholds,
        plan.layers,
        splitter=splitter or splitter_name(policy.claims.split),
    )
    if above.judge is not None and plan.judge is not None:
        parts |= {"judge": above.judge.fingerprint, "judge_rule": _judge_rule(plan.judge)}
    if above.consistency is not None and plan.consistency is not None:
        parts |= {
            "consistency": above.consistency.fingerprint,
            "consistency_rule": _consistency_rule(plan.consistency),
        }
    return parts


def _judge_rule(rule: JudgeRule) -> str:
    return f"band {rule.band_low!r} to {rule.band_high!r}, repeats {rule.repeats}, max_claims {rule.max_claims}"


def _consistency_rule(rule: ConsistencyRule) -> str:
    causes = "+".join(sorted({cause.value for cause in rule.causes}))
    resampled = f"temperature {rule.temperature!r}" if rule.may_resample else "trace only"
    return (
        f"{causes}, score_below {rule.score_below!r}, logprob_below {rule.logprob_below!r}, "
        f"{rule.least} of {rule.samples}, {resampled}"
    )


def screening_fingerprint(detector_fingerprint: str, splitter: str = "") -> str:
    """What ingest writes beside its judgements: verify reuses them only where detector, splitter and L0 are its own."""
    return f"{detector_fingerprint}/{splitter or splitter_name()}/{L0_VERSION}"


def changed_parts(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """What differs between two fingerprints: (name, before, after), empty where a side has no such part."""
    names = [*before, *(name for name in after if name not in before)]
    pairs = ((name, before.get(name, ""), after.get(name, "")) for name in names)
    return [(name, old, new) for name, old, new in pairs if old != new]


@cache
def phrases_hash() -> str:
    """Eight hex digits over the phrase lists of all languages, which decide what a claim, a refusal and a deed is."""
    content = blake2b(digest_size=4)
    for path in _language_files(resources.files("detectors.lexicon")):
        content.update(path.name.encode() + b"\n" + path.read_bytes())
    return content.hexdigest()


def _language_files(folder: Traversable) -> Iterator[Traversable]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _language_files(entry)
        elif entry.name.endswith(".yaml"):
            yield entry
