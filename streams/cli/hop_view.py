"""The hops of an answer made in several as text, for the commands that show a verdict."""

from collections.abc import Iterator

from schemas.labels import ClaimLabel
from schemas.verdict import HopVerdict, Verdict


def hop_lines(verdict: Verdict) -> Iterator[str]:
    """A line for each hop, with one below it for the claim that fares worst, unless that is supported.

    Hops are counted from one, as in the words that say why.
    """
    for hop in verdict.hops:
        name = f" ({hop.name})" if hop.name else ""
        yield f"{hop.hop + 1}{name} {hop.outcome}: {', '.join(_counts(hop))}"
        if hop.worst_label not in {None, ClaimLabel.SUPPORTED}:
            why = f" ({hop.worst_why})" if hop.worst_why else ""
            yield f"  worst: {hop.worst_label} {hop.worst}{why}"
            if hop.evidence:
                yield f"  evidence: {hop.evidence_doc or '-'}: {hop.evidence}"
    if verdict.hops_left_out:
        yield f"and {verdict.hops_left_out} more that were not checked"


def _counts(hop: HopVerdict) -> Iterator[str]:
    yield f"{hop.claims} claim{'s' * (hop.claims != 1)}"
    named = ("supported", "unsupported", "contradicted", "unclear", "errors", "derived")
    yield from (f"{count} {name}" for name in named if (count := getattr(hop, name)))
    if hop.left_out:
        yield f"{hop.left_out} not judged"
