"""The gate of a release: a run's answers to the golden cases, what failed, why, and what changed between two runs."""

from detectors.gate.buckets import Bucket, buckets_of
from detectors.gate.evaluation import Answered, CitationRule, Rules, evaluate
from detectors.gate.expected import Stated, stated_claims
from detectors.gate.matching import Matched, RunAnswer, match_answers
from detectors.gate.pairing import CasePair, Change, changes_of, flips_of, pair_up
from detectors.gate.results import CaseResult, Diagnosis, Fault, Reason, Retrieval, Status
from detectors.gate.retrieval import DEPTHS, measure

__all__ = [
    "DEPTHS",
    "Answered",
    "Bucket",
    "CasePair",
    "CaseResult",
    "Change",
    "CitationRule",
    "Diagnosis",
    "Fault",
    "Matched",
    "Reason",
    "Retrieval",
    "Rules",
    "RunAnswer",
    "Stated",
    "Status",
    "buckets_of",
    "changes_of",
    "evaluate",
    "flips_of",
    "match_answers",
    "measure",
    "pair_up",
    "stated_claims",
]
