"""Makers of golden cases and review labels for tests; keyword arguments override any field."""

from datetime import timedelta
from typing import Any

from schemas.golden import GoldenCase, GoldenClaim, GoldenPassage, Labelled
from schemas.labels import ClaimLabel, Outcome, RiskTier
from schemas.review import ReviewLabel, ReviewStratum
from tests.builders import ANSWER, FINGERPRINT, NOW, PASSAGE_TEXT


def labelled_claim(label: ClaimLabel = ClaimLabel.SUPPORTED, **fields: Any) -> Labelled[ClaimLabel]:
    """A label that Ana gave."""
    return Labelled[ClaimLabel](**{"author": "ana", "at": NOW, **fields, "label": label})


def labelled_answer(label: Outcome = Outcome.GROUNDED, **fields: Any) -> Labelled[Outcome]:
    """A label that Ana gave."""
    return Labelled[Outcome](**{"author": "ana", "at": NOW, **fields, "label": label})


def golden_claim(label: ClaimLabel | None = ClaimLabel.SUPPORTED, **fields: Any) -> GoldenClaim:
    """The whole default answer as one claim, labelled by Ana."""
    labels = () if label is None else (labelled_claim(label),)
    return GoldenClaim(**{"text": ANSWER, "labels": labels, "evidence": ("refunds",), **fields})


def golden_case(case_id: str = "c-1", **fields: Any) -> GoldenCase:
    """A case of intent ``refunds`` whose recorded answer Ana found grounded."""
    defaults: dict[str, Any] = {
        "question": "How long can I return my order?",
        "reference_answer": "Within 30 days of delivery.",
        "required_sources": ("refunds",),
        "passages": (GoldenPassage(doc_id="refunds", chunk_id="refunds#1", text=PASSAGE_TEXT),),
        "answer": ANSWER,
        "answer_labels": (labelled_answer(),),
        "claims": (golden_claim(),),
        "intent": "refunds",
        "owner": "support",
    }
    unknown = fields.keys() - GoldenCase.model_fields.keys()
    if unknown:
        message = f"GoldenCase has no field {', '.join(sorted(unknown))}"
        raise TypeError(message)
    return GoldenCase(**{**defaults, **fields, "case_id": case_id})


def review_label(label: Outcome | ClaimLabel = Outcome.GROUNDED, trace_id: str = "t-1", **fields: Any) -> ReviewLabel:
    """Ana's label of the whole answer of ``t-1``, or with a label of claims of its first claim."""
    defaults: dict[str, Any] = {
        "ts": NOW,
        "fingerprint": FINGERPRINT,
        "reviewer": "ana",
        "stratum": ReviewStratum.UNFLAGGED,
        "probability": 0.1,
        "draw_probability": 0.2,
        "intent": "refunds",
        "tier": RiskTier.MEDIUM,
        "tenant": "acme",
        "at": NOW + timedelta(hours=1),
    }
    if isinstance(label, ClaimLabel):
        defaults |= {"claim_index": 0, "claim_label": label}
    else:
        defaults |= {"answer_label": label}
    return ReviewLabel(**{**defaults, **fields, "trace_id": trace_id})
