"""Makers of records for tests: each gives a plain, valid record, and keyword arguments override any field of it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from schemas.alert import Alert, RateEstimate
from schemas.base import Record
from schemas.claim import CheckItem, Claim
from schemas.draw import Draw, DrawnTrace, Screening
from schemas.labels import AlertState, ClaimLabel, Containment, Layer, Outcome, RiskTier
from schemas.policy import PolicyDocument, PolicyRecord
from schemas.slice import Slice
from schemas.tally import Tally
from schemas.trace import Passage, Trace, Versions, passage_hash
from schemas.verdict import ClaimJudgement, ClaimVerdict, Evidence, Verdict

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
"""The moment at which tests take place: a Tuesday noon, on a bucket boundary, away from daylight saving changes."""
PASSAGE_TEXT = "A refund is possible within 30 days of delivery. Opened software is excluded."
ANSWER = "You can return it within 30 days of delivery [1]."
FINGERPRINT = "evidence-test"


R = TypeVar("R", bound=Record)


def _build(model: type[R], fields: dict[str, Any]) -> R:
    """The record; a misspelt keyword is an error, although the model itself ignores unknown fields."""
    unknown = fields.keys() - model.model_fields.keys()
    if unknown:
        message = f"{model.__name__} has no field {', '.join(sorted(unknown))}"
        raise TypeError(message)
    return model(**fields)


def passage(text: str = PASSAGE_TEXT, **fields: Any) -> Passage:
    """A passage of the refund policy."""
    return Passage(
        **{"doc_id": "refunds", "chunk_id": "refunds#1", "version": "3", "score": 0.8, **fields, "text": text}
    )


def versions(**fields: Any) -> Versions:
    """What was running."""
    return _build(
        Versions, {"model": "m-1", "prompt": "p-1", "corpus": "c-1", "retriever": "r-1", "app": "a-1", **fields}
    )


def trace(trace_id: str = "t-1", **fields: Any) -> Trace:
    """A trace of intent ``refunds`` with one passage and a grounded answer that cites it."""
    defaults: dict[str, Any] = {
        "ts": NOW,
        "question": "How long can I return my order?",
        "answer": ANSWER,
        "passages": (passage(),),
        "intent": "refunds",
        "tier": RiskTier.MEDIUM,
        "tenant": "acme",
        "versions": versions(),
    }
    return _build(Trace, {**defaults, **fields, "trace_id": trace_id})


def claim(text: str = ANSWER, start: int = 0, **fields: Any) -> Claim:
    """A factual claim that begins at ``start`` of its answer and ends with its text."""
    return _build(Claim, {"index": 0, "end": start + len(text), **fields, "start": start, "text": text})


def evidence(text: str = "A refund is possible within 30 days of delivery.", **fields: Any) -> Evidence:
    """The start of the default passage as the deciding span."""
    defaults = {"passage": 0, "doc_id": "refunds", "passage_hash": passage_hash(PASSAGE_TEXT), "start": 0}
    return _build(Evidence, {**defaults, "end": len(text), **fields, "text": text})


def judgement(support: float | None = 0.9, **fields: Any) -> ClaimJudgement:
    """A claim that its passage supports."""
    return _build(ClaimJudgement, {"contradiction": 0.05, "evidence": evidence(), **fields, "support": support})


def check_item(answer: str = ANSWER, **fields: Any) -> CheckItem:
    """An item for a detector whose whole answer is one claim."""
    defaults: dict[str, Any] = {
        "question": "How long can I return my order?",
        "passages": (passage(),),
        "claims": (claim(answer),),
    }
    return CheckItem(**{**defaults, **fields, "answer": answer})


def claim_verdict(label: ClaimLabel = ClaimLabel.SUPPORTED, **fields: Any) -> ClaimVerdict:
    """A claim labelled ``label`` by L1, with scores that fit the label."""
    support, contradiction = {
        ClaimLabel.SUPPORTED: (0.9, 0.05),
        ClaimLabel.CONTRADICTED: (0.1, 0.95),
        ClaimLabel.UNSUPPORTED: (0.1, 0.1),
        ClaimLabel.UNCLEAR: (0.5, 0.3),
        ClaimLabel.NOT_FACTUAL: (None, None),
    }[label]
    defaults: dict[str, Any] = {
        "claim": claim(is_factual=label is not ClaimLabel.NOT_FACTUAL),
        "support": support,
        "contradiction": contradiction,
        "evidence": None if support is None else evidence(),
        "layers": (Layer.L1,),
    }
    return _build(ClaimVerdict, {**defaults, **fields, "label": label})


def verdict(trace_id: str = "t-1", outcome: Outcome = Outcome.GROUNDED, **fields: Any) -> Verdict:
    """A verdict with one claim whose label, score and containment fit ``outcome``."""
    is_good = outcome is Outcome.GROUNDED
    claims: tuple[ClaimVerdict, ...] = ()
    if outcome.is_judged:
        claims = (claim_verdict(ClaimLabel.SUPPORTED if is_good else ClaimLabel.UNSUPPORTED),)
    defaults: dict[str, Any] = {
        "ts": NOW,
        "intent": "refunds",
        "tier": RiskTier.MEDIUM,
        "versions": versions(),
        "fingerprint": FINGERPRINT,
        "score": claims[0].support if claims else None,
        "passed": is_good,
        "containment": Containment.DELIVER if is_good else Containment.DELIVER_TRIMMED,
        "claims": claims,
        "layers": (Layer.L0, Layer.L1),
        "verified_at": NOW + timedelta(seconds=2),
    }
    return _build(Verdict, {**defaults, **fields, "trace_id": trace_id, "outcome": outcome})


def draw(**fields: Any) -> Draw:
    """A drawn trace of stratum ``rest`` at π = 0.2, inside the nested subsample."""
    defaults = {
        "stratum": "rest",
        "u": 0.1,
        "inclusion_probability": 0.2,
        "min_probability": 0.2,
        "policy_id": "p-test",
        "drawn": True,
    }
    return _build(Draw, {**defaults, **fields})


def screening(**fields: Any) -> Screening:
    """L1 found the one claim supported."""
    defaults: dict[str, Any] = {
        "claims": (claim(),),
        "judgements": (judgement(),),
        "score": 0.9,
        "fingerprint": FINGERPRINT,
    }
    return _build(Screening, {**defaults, **fields})


def drawn_trace(trace_id: str = "t-1", *, ts: datetime = NOW, **fields: Any) -> DrawnTrace:
    """A trace with its draw and screening; ``trace``, ``draw`` and ``screening`` override the parts."""
    return _build(DrawnTrace, {"trace": trace(trace_id, ts=ts), "draw": draw(), "screening": screening(), **fields})


def tally(judged: int = 100, hallucinated: float = 5.0, **fields: Any) -> Tally:
    """One bucket of one stratum at π = 0.2 with no failures; weights follow from ``judged`` and ``hallucinated``."""
    weight = 5.0
    defaults: dict[str, Any] = {
        "bucket": NOW,
        "intent": "refunds",
        "tier": RiskTier.MEDIUM,
        "versions": versions(),
        "policy_id": "p-test",
        "fingerprint": FINGERPRINT,
        "drawn": judged,
        "sum_w": weight * judged,
        "sum_wk": weight * hallucinated,
        "sum_w2": weight * weight * judged,
        "nested_judged": judged,
        "nested_hallucinated": hallucinated,
    }
    return _build(Tally, {**defaults, **fields, "judged": judged, "hallucinated": hallucinated})


def traffic_tally(traffic: int = 500, **fields: Any) -> Tally:
    """The row that carries all traffic of a bucket: no fingerprint, nothing judged."""
    return tally(0, 0.0, **{"traffic": traffic, "drawn": traffic // 5, "fingerprint": "", **fields})


def rate(value: float = 0.05, low: float = 0.03, high: float = 0.08, n: int = 400) -> RateEstimate:
    """A rate with a plausible interval."""
    return RateEstimate(rate=value, low=low, high=high, n=n)


def alert(alert_id: str = "jump-refunds-medium-1", **fields: Any) -> Alert:
    """A firing jump of ``refunds/medium`` from 5 % to 20 %."""
    defaults: dict[str, Any] = {
        "rule": "jump",
        "slice": Slice(intent="refunds", tier=RiskTier.MEDIUM),
        "state": AlertState.FIRING,
        "since": NOW - timedelta(hours=2),
        "pending_at": NOW - timedelta(minutes=10),
        "fired_at": NOW,
        "updated_at": NOW,
        "rate": rate(0.2, 0.15, 0.26, 180),
        "reference": rate(),
        "ratio": 4.0,
        "evidence": 1.2,
        "samples": 180,
        "fingerprint": FINGERPRINT,
    }
    return _build(Alert, {**defaults, **fields, "alert_id": alert_id})


def policy(name: str = "test", **fields: Any) -> PolicyDocument:
    """A policy with the defaults of the schema."""
    return _build(PolicyDocument, {**fields, "name": name})


def policy_record(policy_id: str = "p-test", **fields: Any) -> PolicyRecord:
    """The first policy of a log: it holds from −∞. Give ``overlay`` or ``complete_until`` for the other kinds."""
    defaults: dict[str, Any] = {"published_at": NOW - timedelta(days=30)}
    if "overlay" not in fields and "complete_until" not in fields:
        defaults["document"] = policy()
    return _build(PolicyRecord, {**defaults, **fields, "policy_id": policy_id})


def traces(count: int, **fields: Any) -> Sequence[Trace]:
    """``count`` traces with ids ``t-0`` …, a second apart."""
    return [trace(f"t-{number}", ts=NOW + timedelta(seconds=number), **fields) for number in range(count)]
