"""Counts by upper bound as the cumulative buckets that Prometheus wants."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from prometheus_client.core import HistogramMetricFamily

from streams.health.catalogue import Metric

Row = tuple[Sequence[str], Sequence[float], Sequence[int], float]
"""Label values, upper bounds, counts (one more, for what is beyond), and the sum of all values."""


def histogram(metric: Metric, rows: Iterable[Row]) -> HistogramMetricFamily:
    """The family with a row for each set of labels."""
    family = HistogramMetricFamily(metric.name, metric.text, labels=metric.labels)
    for labels, bounds, counts, total in rows:
        buckets = zip((*map(str, bounds), "+Inf"), accumulate(counts), strict=True)
        family.add_metric(labels, list(buckets), sum_value=total)
    return family
