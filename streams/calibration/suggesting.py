"""What the figures would change in the policy: as a few lines to read, and as a whole file for ``policy diff``."""

import io
from collections.abc import Sequence
from typing import Any

from ruamel.yaml import YAML

from schemas.labels import RiskTier
from streams.calibration.report import OperatingPoint, Suggestion, ThresholdFigure
from streams.calibration.shares import missing
from streams.calibration.wanted import Wanted


def suggestion(tiers: Sequence[ThresholdFigure], whole: OperatingPoint, wanted: Wanted) -> Suggestion:
    """Bars of the tiers whose target is reached, and the operating point as the threshold of labels.

    Nothing on a hold-out, and nothing from too few labels. A band between ``unsupported`` and ``supported`` stays where
    it lies above the operating point.
    """
    if wanted.is_holdout:
        return Suggestion()
    bars = {
        figure.tier: figure.used
        for figure in tiers
        if figure.tier is not None and figure.used is not None and not missing(whole.labels)
    }
    # Without a single bet that grows there, no threshold makes the alert work, and moving it helps nobody.
    is_found = whole.best is not None and whole.best.answers is not None and not whole.missing
    alert = whole.best.threshold if whole.best is not None and is_found else None
    if not bars and alert is None:
        return Suggestion()
    changes = _changes(bars, alert, wanted)
    return Suggestion(
        bars=bars, alert_threshold=alert, snippet=_yaml(changes), policy=_merged(wanted.policy_text, changes)
    )


def _changes(bars: dict[RiskTier, float], alert: float | None, wanted: Wanted) -> dict[str, dict[str, float]]:
    changes: dict[str, dict[str, float]] = {}
    if alert is not None:
        now = wanted.policy.thresholds
        has_band = now.supported > now.unsupported
        supported = max(now.supported, alert) if has_band else alert
        changes["thresholds"] = {"supported": supported, "unsupported": alert}
    if bars:
        changes["bars"] = {tier.value: bar for tier, bar in bars.items()}
    return changes


def _merged(text: str, changes: dict[str, dict[str, float]]) -> str:
    """The policy file with the changes in it; its comments and everything else stay."""
    yaml = _writer()
    document: Any = yaml.load(text)
    for section, values in changes.items():
        if not document.get(section):
            document[section] = {}
        document[section].update(values)
    return _dumped(yaml, document)


def _yaml(value: Any) -> str:
    return _dumped(_writer(), value)


def _writer() -> YAML:
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = 4096
    yaml.preserve_quotes = True
    return yaml


def _dumped(yaml: YAML, value: Any) -> str:
    out = io.StringIO()
    yaml.dump(value, out)
    return out.getvalue()
