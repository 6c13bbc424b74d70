"""Sources of a golden case that do not fit together."""

from collections.abc import Iterator

from detectors.golden.problem import Problem, doubt, fault
from schemas.golden import GoldenCase


def source_problems(case: GoldenCase, line: int) -> Iterator[Problem]:
    """Required sources without a passage, forbidden ones among the passages, evidence that nobody was given."""
    gold = {passage.doc_id for passage in case.passages}
    known = gold | {passage.doc_id for passage in case.given}
    if not case.is_answerable and case.required_sources:
        yield fault(
            case,
            line,
            "required_sources",
            f"names {case.required_sources[0]!r}, but the case is not answerable; leave it empty",
        )
    missing = [source for source in case.required_sources if source not in gold] if case.passages else []
    for source in missing:
        yield fault(
            case, line, "required_sources", f"{source!r} has no passage in `passages`; add one, or remove it here"
        )
    for source in sorted(gold & set(case.forbidden_sources)):
        yield fault(case, line, "passages", f"{source!r} is forbidden, and a good answer cannot rest on it; remove one")
    for index, claim in enumerate(case.claims):
        for source in claim.evidence:
            if source not in known:
                where = f"claims[{index}].evidence"
                yield fault(case, line, where, f"{source!r} is no document of `passages` or `given`; correct the id")
    if case.answer and case.claims and not case.seen:
        yield doubt(
            case, line, "given", "no passage has a text, so no detector can judge the answer; add what the model saw"
        )
    says = (case.required_sources, case.passages, case.reference_answer, case.answer)
    if case.is_answerable and not any(says):
        told = (
            "an answerable case without reference_answer, required_sources, passages and answer checks nothing; add one"
        )
        yield doubt(case, line, "reference_answer", told)
