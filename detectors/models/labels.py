"""What the outputs of a model mean, read from its configuration: the order differs from model to model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schemas.errors import ConfigError

_ENTAILMENT = frozenset({"entailment", "entail", "entailed", "entails"})
_CONTRADICTION = frozenset({"contradiction", "contradict", "contradicted", "contradicts", "contradictory"})
_HALLUCINATED = frozenset({"hallucinated", "hallucination", "unsupported", "1", "label_1"})
_BINARY = 2


@dataclass(frozen=True, slots=True)
class NliIndices:
    """Where entailment and contradiction stand among the outputs."""

    entailment: int
    contradiction: int


def shown_labels(config: Mapping[str, Any]) -> dict[int, str]:
    """Label by index, from ``id2label``, else ``label2id``; empty where the configuration names none."""
    by_index = config.get("id2label")
    if isinstance(by_index, dict) and by_index:
        return {int(index): str(name) for index, name in by_index.items()}
    by_name = config.get("label2id")
    if isinstance(by_name, dict):
        return {int(index): str(name) for name, index in by_name.items()}
    return {}


def has_entailment(config: Mapping[str, Any]) -> bool:
    """True where a label speaks of entailment, or where nothing but generic names hides what they mean."""
    return any("entail" in name.lower() or name.upper().startswith("LABEL_") for name in shown_labels(config).values())


def nli_indices(config: Mapping[str, Any]) -> NliIndices:
    """Where entailment and contradiction stand. Raises ConfigError where the configuration does not say."""
    labels = shown_labels(config)
    return NliIndices(_named(labels, _ENTAILMENT, "entailment"), _named(labels, _CONTRADICTION, "contradiction"))


def hallucination_index(config: Mapping[str, Any]) -> int:
    """Which of two token labels means that a token is not supported; 1 where they have no names, as published.

    Raises ConfigError for any other number of labels, and for two of other meaning.
    """
    labels = shown_labels(config)
    if labels and len(labels) != _BINARY:
        raise ConfigError(f"a span tagger has two labels, supported and hallucinated; this one has {labels}")
    return _named(labels, _HALLUCINATED, "hallucinated") if labels else 1


def _named(labels: Mapping[int, str], names: frozenset[str], meaning: str) -> int:
    found = [index for index, name in labels.items() if name.strip().lower() in names]
    if len(found) != 1:
        raise ConfigError(
            f"the model's labels are {dict(labels) or 'not named'}, and none or several of them mean {meaning}: put "
            "the right names into id2label of its config.json (their order is never guessed)"
        )
    return found[0]
