"""The metrics of the judge: what became of claims and replies, and whether it says what the layer below would have."""

from collections.abc import Iterator, Mapping

from streams.agents.layer_counts import LayerCounts
from streams.health import catalogue as names
from streams.health.catalogue import Metric

Values = Iterator[tuple[tuple[str, ...], float]]


def of_judge(counts: LayerCounts, events: Mapping[str, int]) -> Iterator[tuple[Metric, Values]]:
    """Since the process began; ``events`` are those that the judge counts itself, by name."""
    yield names.JUDGE_EVENTS, (((name,), count) for name, count in events.items() if count)
    yield (
        names.JUDGE_LABELS,
        (((below.value, judge.value), count) for (below, judge), count in counts.labels.items()),
    )
