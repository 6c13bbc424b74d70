"""The page for operators and the rules for Prometheus say what the code does."""

import re
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from streams.cli.exits import ExitCode
from streams.health.catalogue import METRICS, Kind, Metric
from streams.health.watchdog import StallReason
from streams.settings.health import Health

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
RULES = yaml.safe_load((ROOT / "dashboards" / "prometheus" / "groundwatch-rules.yaml").read_text(encoding="utf-8"))
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]


def sample(metric: Metric) -> str:
    """The name that a query uses."""
    return metric.name + ("_total" if metric.kind is Kind.COUNTER else "")


def test_page_lists_every_metric_with_its_labels_and_meaning() -> None:
    """As the catalogue has them, in order."""
    rows = [
        f"| `{sample(metric)}` | {', '.join(metric.labels) or '-'} | {metric.text} |"
        for metric in sorted(METRICS, key=lambda one: one.name)
    ]
    table = PAGE.split("## Metrics", 1)[1].split("Beside these", 1)[0]
    assert rows == [line for line in table.splitlines() if line.startswith("| `")]


def test_page_says_what_to_do_for_every_reason_and_names_every_exit_code() -> None:
    """A reason that is added has its line, and its advice."""
    rows, advice = PAGE.split("## Coverage", 1)[0], PAGE.split("## At three in the morning", 1)[1]
    for reason in StallReason:
        assert f"| `{reason}` |" in rows
        assert f"`{reason}`" in advice
    for code in set(ExitCode) - {ExitCode.INTERRUPTED}:
        assert f"| {code.value} |" in PAGE


def test_page_names_settings_that_exist() -> None:
    """Each `health.…` is one."""
    for name in re.findall(r"`health\.([a-z_]+)", PAGE):
        assert name in Health.model_fields


def _selectors(node: Any) -> list[Any]:
    """Every vector that an expression reads."""
    if isinstance(node, promql_parser.VectorSelector):
        return [node]
    if isinstance(node, promql_parser.MatrixSelector):
        return [node.vector_selector]
    children = [getattr(node, name) for name in ("expr", "lhs", "rhs") if hasattr(node, name)]
    return [found for child in [*children, *getattr(node, "args", [])] for found in _selectors(child)]


@pytest.mark.parametrize("rule", ALERTS, ids=[rule["alert"] for rule in ALERTS])
def test_rule_is_right_promql_over_metrics_that_exist(rule: dict[str, Any]) -> None:
    """Its labels are those of the metrics, and its runbook is a heading of the page."""
    known = {sample(metric): set(metric.labels) for metric in METRICS} | {"process_start_time_seconds": set[str]()}
    selectors = _selectors(promql_parser.parse(rule["expr"]))
    assert selectors
    for selector in selectors:
        assert selector.name in known
        labels = {matcher.name for matcher in selector.matchers.matchers}
        assert labels <= known[selector.name] | {"job", "instance"}
    shown = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    assert shown <= set().union(*(known[selector.name] for selector in selectors)) | {"instance"}
    assert rule["labels"]["severity"] in {"page", "ticket"}
    heading = rule["annotations"]["runbook"].removeprefix("docs/operations.md#")
    assert heading in {re.sub(r"\s+", "-", line[4:].lower()) for line in PAGE.splitlines() if line.startswith("### ")}


def test_rules_have_names_of_their_own() -> None:
    """A second rule of a name would hide the first in Alertmanager."""
    names = [rule["alert"] for rule in ALERTS]
    assert len(names) == len(set(names)) >= 10
