"""The metrics of the role check."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.core import Metric as Family

from streams.health import catalogue as names
from streams.health.histogram import histogram
from streams.inline.checker import Checker
from streams.inline.counts import SECONDS


def check_families(checker: Checker) -> Iterator[Family]:
    """All families of the check."""
    counts = checker.counts
    ended = CounterMetricFamily(names.CHECKS.name, names.CHECKS.text, labels=names.CHECKS.labels)
    for (decision, reason), count in counts.ended.items():
        ended.add_metric([decision.value, reason], count)
    yield ended
    metric = names.CHECK_LAYERS_DROPPED
    dropped = CounterMetricFamily(metric.name, metric.text, labels=metric.labels)
    for layer, count in counts.dropped.items():
        dropped.add_metric([layer.value], count)
    yield dropped
    yield GaugeMetricFamily(names.CHECKS_IN_FLIGHT.name, names.CHECKS_IN_FLIGHT.text, value=counts.in_flight)
    metric = names.CHECK_THREADS_LATE
    late = GaugeMetricFamily(metric.name, metric.text, labels=metric.labels)
    for threads, workers in (
        ("below", checker.below),
        ("models", checker.upper.models),
        ("endpoints", checker.upper.endpoints),
    ):
        late.add_metric([threads], workers.late)
    yield late
    yield histogram(names.CHECK_SECONDS, [((), SECONDS, counts.histogram, counts.seconds)])
