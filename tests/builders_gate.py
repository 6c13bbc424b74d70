"""Makers of gate results and answered cases for tests; keyword arguments override any field."""

from typing import Any

from detectors.gate import Answered, CaseResult, Diagnosis, Fault, Reason, Rules, Stated, Status
from schemas.labels import Outcome, RiskTier
from tests.builders import trace, verdict

RULES = {tier: Rules() for tier in RiskTier}


def reason(fault: Fault = Fault.UNSUPPORTED_CLAIM, diagnosis: Diagnosis = Diagnosis.GENERATION) -> Reason:
    """Something that is wrong."""
    return Reason(fault=fault, diagnosis=diagnosis, detail="it is wrong")


def case_result(case_id: str = "c-1", status: Status = Status.PASSED, **fields: Any) -> CaseResult:
    """A case of ``refunds/medium``; its outcome and reason fit the status."""
    defaults: dict[str, Any] = {
        "intent": "refunds",
        "tier": RiskTier.MEDIUM,
        "question": "How long can I return my order?",
        "is_answerable": True,
        "owner": "support",
        "outcome": Outcome.GROUNDED,
        "answer": "30 days.",
    }
    if status is Status.FAILED:
        defaults |= {"outcome": Outcome.HALLUCINATED, "reasons": (reason(),), "diagnosis": Diagnosis.GENERATION}
    elif status is Status.ERROR:
        own = reason(Fault.ERROR, Diagnosis.ERROR)
        defaults |= {"outcome": Outcome.ERROR_TIMEOUT, "reasons": (own,), "diagnosis": Diagnosis.ERROR}
    elif status is Status.UNCLEAR:
        own = reason(Fault.UNCLEAR, Diagnosis.UNCLEAR)
        defaults |= {"outcome": Outcome.UNCLEAR, "reasons": (own,), "diagnosis": Diagnosis.UNCLEAR}
    unknown = fields.keys() - CaseResult.model_fields.keys()
    if unknown:
        message = f"CaseResult has no field {', '.join(sorted(unknown))}"
        raise TypeError(message)
    return CaseResult(**{**defaults, **fields, "case_id": case_id, "status": status})


def answered(outcome: Outcome = Outcome.GROUNDED, *, stated: Stated | None = None, **fields: Any) -> Answered:
    """The default trace under a verdict of this outcome; ``trace_`` fields go to the trace, others to the verdict."""
    of_trace = {name.removeprefix("trace_"): value for name, value in fields.items() if name.startswith("trace_")}
    of_verdict = {name: value for name, value in fields.items() if not name.startswith("trace_")}
    return Answered(trace(**of_trace), verdict(outcome=outcome, **of_verdict), stated or Stated(1))
