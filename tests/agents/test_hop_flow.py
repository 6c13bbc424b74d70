"""An agent's spans through ingest, assembly, verify and sink: each hop is checked, and claims are traced back."""

from datetime import timedelta
from typing import Any

from schemas.claim import ClaimSource
from schemas.labels import ClaimLabel, Outcome
from schemas.trace import passage_hash
from schemas.verdict import Verdict
from tests.agents.flow import Flow
from tests.agents.span_flow import AT, GRACE, SpanFlow
from tests.fakes_detectors import QuotingDetector
from tests.openinference import call, retriever, root, span

RULE = "Class B is insured. The Lumo is of class B."
INSURED = "The Lumo is insured."


def agent(first: str, answer: str) -> list[dict[str, Any]]:
    """Two model calls: one over a document, one over the output of a tool."""

    def at(milliseconds: int) -> Any:
        return AT + timedelta(milliseconds=milliseconds)

    stock = span(
        "agent", "stock", at(120), lasts_ms=5, openinference__span__kind="TOOL", tool__name="stock",
        output__value="In stock: 3 are left.",
    )  # fmt: skip
    return [
        retriever("agent", at(10), RULE),
        call("agent", at(60), first, name="lookup"),
        stock,
        call("agent", at(200), answer, name="last"),
        root("agent", AT, output__value=answer),
    ]


async def judged(first: str, answer: str) -> Verdict:
    """The stored verdict; the detector sees what is insured only where nothing else is beside the rule."""
    named = f"content:{passage_hash(RULE)[:16]}"
    run = SpanFlow(Flow(detector=QuotingDetector(alone={INSURED: named})))
    await run.send(agent(first, answer))
    await run.after(GRACE)
    assert 1 == len(await run.outcomes("agent"))
    stored = run.stored("agent")
    assert stored is not None
    return stored.verdicts[0]


async def test_what_an_agent_found_in_two_hops_is_traced_to_document_and_tool() -> None:
    """The first hop's conclusion is what only its own document supports, alone."""
    found = await judged(INSURED, f"{INSURED} 3 are left.")

    assert Outcome.GROUNDED is found.outcome
    assert [(ClaimSource.DOCUMENT, 0), (ClaimSource.TOOL, 1)] == [(claim.source, claim.hop) for claim in found.claims]
    assert [(0, "lookup", Outcome.GROUNDED, 1)] == [
        (row.hop, row.name, row.outcome, row.supported) for row in found.hops
    ]


async def test_what_a_hop_made_up_is_found_in_the_answer_and_named() -> None:
    """A claim of the answer that only that hop supports is the model's own."""
    found = await judged("It came out in 2019.", "It came out in 2019. 3 are left.")

    made_up = found.claims[0]
    assert (Outcome.HALLUCINATED, ClaimLabel.UNSUPPORTED, ClaimSource.MEMORY, 0) == (
        found.outcome, made_up.label, made_up.source, made_up.hop,
    )  # fmt: skip
    assert made_up.why.endswith("hop 1 (lookup) says so, and what it was given does not support it")
    assert [(Outcome.HALLUCINATED, 1, "It came out in 2019.")] == [
        (row.outcome, row.unsupported, row.worst) for row in found.hops
    ]
