"""Every metric: name, kind, labels and what it says; the page docs/operations.md is held to this list by a test."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Prometheus's kinds."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One family; a counter's samples end in ``_total``.

    Label values come from closed sets, or are names of topics, groups, agents and receivers that the configuration
    bounds.
    """

    name: str
    kind: Kind
    text: str
    labels: tuple[str, ...] = ()


_C, _G = Kind.COUNTER, Kind.GAUGE
BUILD = Metric(
    "groundwatch_build",
    _G,
    "1; version, Python, and fingerprint of the detector, where the process has one",
    ("version", "python", "fingerprint"),
)
READY = Metric("groundwatch_ready", _G, "1 when /readyz says 200")
WAITING = Metric(
    "groundwatch_not_ready_seconds",
    _G,
    "For how long a part has kept the process from being ready",
    ("part", "waits_for"),
)
LOOK_AGE = Metric("groundwatch_loop_age_seconds", _G, "Since the event loop last answered; about 1 when all is well")
SUSPENSIONS = Metric("groundwatch_suspensions", _C, "Times that the process, or its machine, was stopped and went on")
EXITS = Metric(
    "groundwatch_watchdog_exits",
    _C,
    "Processes on this data folder that a watchdog ended; survives restarts",
    ("reason",),
)
CLOCK_STEP = Metric(
    "groundwatch_clock_step_seconds",
    _G,
    "By how much the wall clock differs from the one that event time is judged by; not 0 after it was set",
)
LAG = Metric(
    "groundwatch_lag_messages",
    _G,
    "Messages of the topic that the group has not committed, as the broker tells; every worker of the group shows the "
    "whole topic, so take max by (group, topic)",
    ("group", "topic"),
)
OLDEST = Metric(
    "groundwatch_oldest_unprocessed_seconds",
    _G,
    "Age, by record time, of the oldest message on this process's partitions that it has not handled; 0 for none",
    ("group", "topic"),
)
LAG_AGE = Metric("groundwatch_lag_age_seconds", _G, "Since the broker last told the lag of a group", ("group",))
OPEN_TRACES = Metric("groundwatch_open_traces", _G, "Traces made of spans that are not complete yet")
OLDEST_OPEN = Metric("groundwatch_oldest_open_trace_seconds", _G, "Age, by its first span, of the oldest open trace")
PARTITIONS = Metric("groundwatch_assigned_partitions", _G, "Partitions that this process reads", ("group",))
STANDBY = Metric("groundwatch_standby", _G, "1 for a member that has no partitions since others have all", ("group",))
REBALANCES = Metric("groundwatch_rebalances", _C, "Assignments of partitions since the start", ("group",))
MESSAGES = Metric("groundwatch_agent_messages", _C, "Messages handled", ("agent",))
BATCHES = Metric(
    "groundwatch_batch_seconds", Kind.HISTOGRAM, "Seconds from taking a batch until it was safe", ("agent",)
)
BUSY = Metric("groundwatch_batch_age_seconds", _G, "Age of the batch in hand, 0 for none", ("agent",))
IDLE = Metric("groundwatch_agent_idle_seconds", _G, "Since an agent or timer last finished something", ("agent",))
AGENT_WAITS = Metric(
    "groundwatch_agent_waiting",
    _G,
    "1 while the batch in hand waits for this; none of them while it makes progress",
    ("agent", "waits_for"),
)
WAITS = Metric(
    "groundwatch_agent_waits",
    _C,
    "Attempts that failed and were tried again; waits_for=store are store errors",
    ("agent", "waits_for"),
)
SERVICE_UP = Metric("groundwatch_service_up", _G, "1 when store or cluster answered last time", ("service",))
SERVICE_FAILURES = Metric(
    "groundwatch_service_failures", _C, "Questions to store or cluster without answer", ("service",)
)
SOURCE_MESSAGES = Metric(
    "groundwatch_source_messages",
    _C,
    "Source messages by what became of them, since the start; one that came again counts again (see coverage)",
    ("topic", "fate"),
)
SOURCE_TRACES = Metric(
    "groundwatch_source_traces",
    _C,
    "Whole traces in source messages by what became of them, since the start",
    ("topic", "fate"),
)
DEAD_SHARE = Metric(
    "groundwatch_dead_letter_ratio", _G, "Share of dead letters among the last 2,000 messages of the topic", ("topic",)
)
REFUSED_ROWS = Metric(
    "groundwatch_refused_rows",
    _C,
    "Rows beside the messages (watermarks, fates, expired traces) that the store refused for their content; always 0",
    ("table",),
)
LOST = Metric(
    "groundwatch_lost_messages",
    _C,
    "Messages that the topic's retention deleted before they were read; an upper bound",
    ("topic",),
)
MADE_ANEW = Metric(
    "groundwatch_topics_made_anew",
    _C,
    "Times that a topic was deleted and made again, and read from its beginning",
    ("topic",),
)
ASSEMBLED = Metric("groundwatch_assembled_traces", _C, "Traces made of spans, by why they were closed", ("reason",))
LAYER_ANSWERS = Metric(
    "groundwatch_layer_answers",
    _C,
    "Verified answers by what became of a layer: whether it ran, and why or why not",
    ("layer", "ran", "why"),
)
LAYER_CLAIMS = Metric("groundwatch_layer_claims", _C, "Claims that a layer judged or compared", ("layer",))
LAYER_CACHED = Metric(
    "groundwatch_layer_cached_claims", _C, "Claims that a layer answered from its cache, at no cost", ("layer",)
)
LAYER_CALLS = Metric("groundwatch_layer_calls", _C, "Calls of an endpoint by a layer", ("layer",))
LAYER_TOKENS = Metric(
    "groundwatch_layer_tokens", _C, "Tokens sent to (in) and received from (out) endpoints", ("layer", "direction")
)
LAYER_COST = Metric("groundwatch_layer_cost_dollars", _C, "What the calls of a layer cost, in US dollars", ("layer",))
LAYER_SECONDS = Metric(
    "groundwatch_layer_seconds",
    _C,
    "Time that answers spent in a layer; over answers with ran=true it is the mean of one",
    ("layer",),
)
JUDGE_EVENTS = Metric(
    "groundwatch_judge_events",
    _C,
    "What became of claims that a judge was asked about (judged, cached, error:…) and of its calls (retried: the reply "
    "could not be used; refused: nor could the next one; waited: as a busy endpoint asked; failed_…)",
    ("event",),
)
JUDGE_LABELS = Metric(
    "groundwatch_judge_labels",
    _C,
    "Claims that a judge decided, by what the thresholds would have made of the scores below, and by what it said",
    ("below", "judge"),
)
BUDGET_REFUSED = Metric(
    "groundwatch_budget_refused_calls", _C, "Calls that were not made since a budget was spent", ("layer",)
)
BUDGET_LIMIT = Metric(
    "groundwatch_budget_limit",
    _G,
    "Budget of an hour in tokens or US dollars: all, or a route's; from the alert leader",
    ("pot", "unit"),
)
BUDGET_SPENT = Metric(
    "groundwatch_budget_spent", _G, "Spent of it since the clock hour began; from the alert leader", ("pot", "unit")
)
BUDGET_EXPECTED = Metric(
    "groundwatch_budget_expected",
    _G,
    "What will be asked for by the end of the hour, at the present pace and π; from the alert leader",
    ("pot", "unit"),
)
BUDGET_SHARE = Metric(
    "groundwatch_budget_probability_share",
    _G,
    "The lowest share of the policy's π that budgets leave to answers that pay from it; from the alert leader",
    ("pot",),
)
COVERED_MESSAGES = Metric(
    "groundwatch_coverage_messages",
    _G,
    "Of the last 24 hours, exact over restarts: messages by what became of them, and missing; from the alert leader",
    ("topic", "fate"),
)
COVERED_TRACES = Metric(
    "groundwatch_coverage_traces",
    _G,
    "Of the last 24 hours: stored, drawn, not_drawn, judged, errors, unresolved, pending; from the alert leader",
    ("topic", "state"),
)
COVERAGE_AGE = Metric("groundwatch_coverage_age_seconds", _G, "Since coverage was last counted; from the alert leader")
JUDGING_SILENT = Metric(
    "groundwatch_judging_silent_seconds",
    _G,
    "For how long traces were drawn and none was judged; 0 while verdicts come; from the alert leader",
)
LEADER = Metric("groundwatch_alert_leader", _G, "1 on the process whose alert tick counts")
TICK_AGE = Metric("groundwatch_alert_tick_age_seconds", _G, "Since the leader's last whole tick; from the leader")
TICKS = Metric("groundwatch_alert_ticks", _C, "Whole ticks of the alert step")
NOTIFY_FAILURES = Metric(
    "groundwatch_notify_failures",
    _C,
    "Notifications that a receiver did not take (unavailable: tried again)",
    ("receiver", "kind"),
)
NOTIFY_WAITING = Metric("groundwatch_notify_waiting", _G, "Notifications that wait for their receiver", ("receiver",))
NOTIFY_LAST_FAILURE = Metric(
    "groundwatch_notify_last_failure_timestamp_seconds", _G, "When a receiver last did not take one", ("receiver",)
)
ALERTS = Metric("groundwatch_alerts", _G, "Alerts by state, as of the leader's last tick", ("state",))
ALERT_EVIDENCE = Metric(
    "groundwatch_alert_evidence",
    _G,
    "The statistic M of an open alert when it last changed (fires at 1); `groundwatch alerts show ID` names its slice",
    ("alert_id", "rule", "tier"),
)
ALERT_RATIO = Metric(
    "groundwatch_alert_ratio",
    _G,
    "Rate over reference of an open alert when it last changed",
    ("alert_id", "rule", "tier"),
)
CHECKS = Metric(
    "groundwatch_checks",
    _C,
    "Answers checked before they are sent, by decision, and by why one was not judged (judged where it was)",
    ("decision", "reason"),
)
CHECK_SECONDS = Metric("groundwatch_check_seconds", Kind.HISTOGRAM, "Seconds from reading a check until its reply")
CHECKS_IN_FLIGHT = Metric("groundwatch_checks_in_flight", _G, "Checks at work")
CHECK_LAYERS_DROPPED = Metric(
    "groundwatch_check_layers_dropped", _C, "Layers left out of a check, or cut short, for lack of time", ("layer",)
)
CHECK_THREADS_LATE = Metric(
    "groundwatch_check_threads_late",
    _G,
    "Threads at work that no check waits for any more; when it is all of inline.model_threads, L2 runs no more",
    ("threads",),
)

METRICS = tuple(value for value in globals().copy().values() if isinstance(value, Metric))
