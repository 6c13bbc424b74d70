"""Labelled answers with scores as drawn, for tests of reports: no detector runs."""

import numpy as np

from detectors.golden import GoldenSet
from sampling.policy_file import default_policy, default_policy_text
from schemas.golden import GoldenCase
from schemas.labels import Outcome, RiskTier
from schemas.verdict import Verdict
from streams.calibration.report import CalibrationReport
from streams.calibration.wanted import Wanted
from streams.calibration.work import Sources, calibrate
from tests.builders import verdict
from tests.builders_golden import golden_case, labelled_answer


def wanted(**fields: object) -> Wanted:
    """The default policy, a precision of 0.8, a base rate of 10 %."""
    defaults = {"policy": default_policy(), "policy_text": default_policy_text(), "base_rate": 0.1}
    return Wanted(**{**defaults, **fields})  # type: ignore[arg-type]  # any field


def scored(  # noqa: PLR0913  what a test may vary
    number: int,
    *,
    hallucinated: float = 0.3,
    apart: float = 3.0,
    tier: RiskTier = RiskTier.MEDIUM,
    intent: str = "fees",
    seed: int = 1,
) -> list[tuple[GoldenCase, Verdict]]:
    """Answers of sources of two; scores of both labels lie ``apart`` standard deviations from each other."""
    rng = np.random.default_rng(seed)
    rows = []
    for place in range(number):
        is_bad = rng.random() < hallucinated
        label = Outcome.HALLUCINATED if is_bad else Outcome.GROUNDED
        score = 1 / (1 + np.exp(-rng.normal(-apart / 2 if is_bad else apart / 2)))
        name = f"{intent}-{tier}-{place}"
        source = f"{intent}-{tier}-{place // 2}"
        own = {"answer_labels": (labelled_answer(label),), "claims": (), "source_id": source}
        case = golden_case(name, **own, intent=intent, tier=tier)
        rows.append((case, verdict(score=float(score), outcome=label)))
    return rows


def report_of(rows: list[tuple[GoldenCase, Verdict]], asked: Wanted | None = None) -> CalibrationReport:
    """The report on these answers."""
    golden = GoldenSet(tuple(case for case, _ in rows))
    verdicts = {case.case_id: found for case, found in rows}
    return calibrate(golden, verdicts, asked or wanted(), Sources(("made.jsonl",), (golden.version,)))
