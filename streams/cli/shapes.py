"""What ``--json`` prints, command by command; scripts rely on it, so a field is added but never renamed or removed."""

from typing import Any

from detectors.golden.diffing import GoldenDiff
from detectors.golden.stats import GoldenStats
from detectors.judge.examples import Example
from schemas.agreement import Agreement
from schemas.alert import Alert
from schemas.base import Record
from schemas.labels import Containment, FailureLabel, Layer, Outcome, RiskTier, Severity
from schemas.layers import Consistency, LayerRun
from schemas.policy import PolicyRecord
from schemas.verdict import HopVerdict
from streams.attach.report import Attached
from streams.calibration.report import CalibrationReport
from streams.cli.config import ShownSetting
from streams.cli.deadletter_skip import Skipped
from streams.cli.deadletter_view import LetterShown
from streams.cli.deadletter_view import Replayed as LettersReplayed
from streams.cli.detach import Detached
from streams.cli.fingerprint_view import Shown
from streams.cli.golden_view import CheckedProblem, GoldenAdded, Relabelled, SplitResult
from streams.cli.migrate import Migrated
from streams.cli.models_view import CheckedModel, PulledModel, ShownModel
from streams.cli.policy_files import CheckedFile
from streams.cli.policy_log import InForce
from streams.cli.policy_view import NamedDiff
from streams.cli.store import Rebuilding
from streams.cli.trace_view import ShownTrace
from streams.deadletters.choosing import LetterGroup
from streams.deadletters.letters import Letter
from streams.gate.report import GateReport
from streams.health.coverage import TopicCoverage
from streams.reviews.importing import ReviewImport
from streams.reviews.rows import ReviewRow
from streams.reviews.summary import ReviewStats
from streams.spend.report import SpendReport
from streams.store import CheckResult, Deploy, IntentTraffic, StoreStats, TraceSummary, UnmappedShare


class Versions(Record):
    """What ``version`` prints."""

    groundwatch: str
    python: str


class Replayed(Record):
    """What ``replay`` prints at its end; ``refused`` were too large."""

    sent: int
    not_json: int
    refused: int
    seconds: float


class CheckedAnswer(Record):
    """A line of ``check``; of a line that could not be checked ``line`` and ``error`` alone are there."""

    line: int
    trace_id: str
    intent: str
    tier: RiskTier
    outcome: Outcome
    score: float | None
    faithfulness: float | None
    passed: bool
    containment: Containment
    delivered: str | None
    failures: tuple[FailureLabel, ...]
    severity: Severity | None
    severities: dict[FailureLabel, Severity]
    findings: tuple[dict[str, Any], ...]
    citation_precision: float | None
    citation_recall: float | None
    claims: tuple[dict[str, Any], ...]
    judged: dict[str, Any]
    hops: tuple[HopVerdict, ...]
    hops_left_out: int
    splitter: str
    layers: tuple[Layer, ...]
    routing: tuple[LayerRun, ...]
    consistency: Consistency | None
    cost_usd: float
    timings_ms: dict[str, float]
    took_ms: float
    fingerprint: str
    error: str = ""


SHAPES: dict[str, type[Record]] = {
    "alerts list": Alert,
    "alerts show": Alert,
    "attach": Attached,
    "calibrate": CalibrationReport,
    "check": CheckedAnswer,
    "config check": ShownSetting,
    "deadletter list": Letter,
    "deadletter replay": LettersReplayed,
    "deadletter show": LetterShown,
    "deadletter skip": Skipped,
    "deadletter summary": LetterGroup,
    "spend": SpendReport,
    "coverage": TopicCoverage,
    "deploy list": Deploy,
    "deploy mark": Deploy,
    "detach": Detached,
    "fingerprint": Shown,
    "gate": GateReport,
    "golden add": GoldenAdded,
    "golden check": CheckedProblem,
    "golden diff": GoldenDiff,
    "golden import": GoldenAdded,
    "golden lock": SplitResult,
    "golden relabel": Relabelled,
    "golden split": SplitResult,
    "golden stats": GoldenStats,
    "intents list": IntentTraffic,
    "intents unmapped": UnmappedShare,
    "judge agreement": Agreement,
    "judge examples": Example,
    "migrate": Migrated,
    "models check": CheckedModel,
    "models list": ShownModel,
    "models pull": PulledModel,
    "policy apply": PolicyRecord,
    "policy check": CheckedFile,
    "policy diff": NamedDiff,
    "policy log": PolicyRecord,
    "policy show": InForce,
    "replay": Replayed,
    "review export": ReviewRow,
    "review import": ReviewImport,
    "review stats": ReviewStats,
    "store rebuild": Rebuilding,
    "store stats": StoreStats,
    "store verify": CheckResult,
    "traces list": TraceSummary,
    "traces show": ShownTrace,
    "version": Versions,
}
"""One object a line."""
NO_JSON = {
    "run": "runs until it is stopped; its log is JSON where no terminal reads it",
    "demo": "shows a demo to a person",
    "llm serve": "serves a model until it is stopped",
    "config example": "prints a file",
    "policy example": "prints a file",
}
"""Commands that print no data, and why."""
