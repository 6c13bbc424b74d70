"""Parts of a verdict as text, for the commands that show one."""

from collections import Counter
from collections.abc import Iterator

from schemas.claim import ClaimSource
from schemas.layers import Consistency, LayerRun
from schemas.verdict import Verdict


def failures_line(verdict: Verdict) -> str:
    """``contradicted_claim (high), citation_missing (low)``; without severities in verdicts of older versions."""
    severities = verdict.severities or ("",) * len(verdict.failures)
    pairs = zip(verdict.failures, severities, strict=False)
    return ", ".join(f"{failure} ({severity})" if severity else failure for failure, severity in pairs)


def judged_line(verdict: Verdict) -> str:
    """What was judged against what, and how long each step took; nothing of the answer is ever left out."""
    kinds = Counter(text.source for text in verdict.seen)
    names = {ClaimSource.DOCUMENT: "document", ClaimSource.TOOL: "tool output"}
    texts = [f"{count} {names.get(kind, kind)}{'s' * (count > 1)}" for kind, count in kinds.items()]
    chars = sum(text.chars for text in verdict.seen)
    against = f"{' and '.join(texts)} ({chars:,} characters)" if texts else "nothing"
    steps = ", ".join(f"{step} {ms:.2f}" for step, ms in verdict.timings_ms.items())
    times = f"; ms: {steps}" if steps else ""
    return (
        f"the whole answer, {len(verdict.claims)} claims, against {against}; split by {verdict.splitter or '-'}{times}"
    )


def routing_lines(verdict: Verdict) -> Iterator[str]:
    """A line for each layer: whether it ran, why or why not, on how much, at what cost."""
    return (f"{run.layer} {', '.join(_facts(run))}" for run in verdict.routing)


def consistency_line(found: Consistency) -> str:
    """``unstable: 5 answers compared, …``; claims by their index, as they are listed."""
    return f"{'unstable' if found.is_flagged else 'stable'}: {found.told()}"


def _facts(run: LayerRun) -> Iterator[str]:
    yield run.told
    if run.ran:
        yield f"{run.claims} claim{'s' * (run.claims != 1)}"
    if run.asked:
        yield run.asked
    if run.tokens_in or run.tokens_out:
        yield f"{run.tokens_in:,} tokens in, {run.tokens_out:,} out"
    if run.cost_usd:
        yield f"{run.cost_usd:.4f} USD"
    if run.ran:
        yield run.took
