"""Answers made in several hops: each hop on its own context, and claims traced back to where they come from."""

from typing import Any

import pytest

from detectors.allowance import Allowance
from detectors.detector import Detector
from detectors.hops.steps import MAX_CLAIMS, MAX_HOPS, answer_hop
from detectors.layers import Layers
from detectors.verification import verify
from schemas.claim import ClaimSource
from schemas.draw import DrawnTrace
from schemas.labels import ClaimLabel, FailureLabel, Layer, Outcome
from schemas.policy import Thresholds
from schemas.routes import JudgeRule, Route
from schemas.trace import Hop, ToolCall
from schemas.verdict import ClaimVerdict, Verdict
from tests.builders import NOW, drawn_trace, passage, policy, screening, trace
from tests.fakes_detectors import BrokenDetector, QuotingDetector
from tests.fakes_layers import FakeJudge

COVER = passage("Class B is insured. The Lumo is of class B.", doc_id="cover")
WEIGHT = passage("It weighs 2 kg.", doc_id="weight")
INSURED = "The Lumo is insured."
DERIVING = QuotingDetector(alone={INSURED: "cover"})
LOOKUP = Hop(name="lookup", question="Is it insured?", passages=(0,), output=INSURED)
BAND = policy(thresholds=Thresholds(supported=0.7, unsupported=0.1, contradicted=0.4))
"""A claim that nothing quotes is unclear."""


def drawn(answer: str, *hops: Hop, trace_id: str = "t-1", **fields: Any) -> DrawnTrace:
    """A trace with two passages that ingest has not judged; the last hop wrote the answer."""
    steps = (*hops, Hop(name="last", passages=(1,), output=answer)) if hops else ()
    made = trace(trace_id, **{"answer": answer, "passages": (COVER, WEIGHT), "hops": steps, **fields})
    return drawn_trace(trace=made, screening=screening(fingerprint=""))


def verified(item: DrawnTrace, detector: Detector = DERIVING, **others: Any) -> Verdict:
    """The verdict on one answer."""
    rules = others.pop("rules", policy())
    return verify([item], [rules], detector, NOW, **others)[0]


def told(claim: ClaimVerdict) -> tuple[ClaimLabel, ClaimSource | None, int | None]:
    """Label, source and hop."""
    return claim.label, claim.source, claim.hop


def test_two_hops_that_hold_and_a_claim_that_only_the_first_ones_output_supports() -> None:
    """It is derived: as supported as that hop's claim, by that hop's document, through the name of the hop."""
    found = verified(drawn(f"{INSURED} It weighs 2 kg.", LOOKUP))

    derived, plain = found.claims
    assert (ClaimLabel.SUPPORTED, ClaimSource.DOCUMENT, 0) == told(derived)
    assert (ClaimLabel.SUPPORTED, ClaimSource.DOCUMENT, 1) == told(plain)
    assert derived.evidence is not None
    assert (0.9, 0, "cover") == (derived.support, derived.evidence.passage, derived.evidence.doc_id)
    assert "hop 1 (lookup) says so, and what it was given supports it" == derived.why
    assert (Outcome.GROUNDED, 0.9, Layer.L1) == (found.outcome, found.score, derived.decided_by)
    (row,) = found.hops
    assert (0, "lookup", Outcome.GROUNDED, 1, 1, 0) == (
        row.hop, row.name, row.outcome, row.claims, row.supported, row.derived,
    )  # fmt: skip
    assert Outcome.HALLUCINATED is verified(drawn(f"{INSURED} It weighs 2 kg.")).outcome


def test_a_wrong_fact_of_a_hop_is_carried_into_the_answer_and_named() -> None:
    """What nothing supports stays from memory, what a source denies stays contradicted; both name the hop."""
    prices = passage("NOT It costs 5 euros.", doc_id="price")
    lookup = Hop(name="lookup", passages=(0,), output="It costs 5 euros. It came out in 2019.")
    found = verified(drawn("It came out in 2019. It costs 5 euros.", lookup, passages=(prices, WEIGHT)))

    made_up, denied = found.claims
    assert (ClaimLabel.UNSUPPORTED, ClaimSource.MEMORY, 0) == told(made_up)
    assert "not quoted; hop 1 (lookup) says so, and what it was given does not support it" == made_up.why
    assert (ClaimLabel.CONTRADICTED, ClaimSource.MEMORY, 0) == told(denied)
    assert "hop 1 (lookup) says so, and what it was given contradicts it" == denied.why
    (row,) = found.hops
    assert (Outcome.HALLUCINATED, 2, 1, 1) == (row.outcome, row.claims, row.unsupported, row.contradicted)
    assert (ClaimLabel.CONTRADICTED, "It costs 5 euros.", "price", "It costs 5 euros") == (
        row.worst_label, row.worst, row.evidence_doc, row.evidence,
    )  # fmt: skip


def test_a_doubt_about_a_claim_ends_where_the_hop_that_says_so_made_it_up() -> None:
    """Between the thresholds the answer's own sources leave it open, and a hop without support settles it."""
    made_up = Hop(name="guess", passages=(1,), output="It is blue. It weighs 2 kg.")
    assert ClaimLabel.UNCLEAR is verified(drawn("It is blue."), rules=BAND).claims[0].label
    nothing = Hop(name="guess", output="It is blue.")

    assert told(verified(drawn("It is blue.", nothing), rules=BAND).claims[0]) == (
        ClaimLabel.UNSUPPORTED, ClaimSource.MEMORY, 0,
    )  # fmt: skip
    still = verified(drawn("It is blue.", made_up), rules=BAND).claims[0]
    assert (ClaimLabel.UNCLEAR, 0) == (still.label, still.hop)
    assert still.why.endswith("hop 1 (guess) says so, and it is not known whether what it was given supports it")


def test_tool_outputs_are_evidence_of_the_hop_that_they_were_given_to() -> None:
    """Counted among those that gave one, behind the passages."""
    tools = (ToolCall(name="broken"), ToolCall(name="stock", output="Stock: 3 are left."))
    hops = Hop(name="stock", tools=(0, 1), output="3 are left."), Hop(name="other", passages=(1,), output="3 are left.")
    found = verified(drawn("3 are left.", *hops, tool_calls=tools))

    assert (ClaimLabel.SUPPORTED, ClaimSource.TOOL, 0) == told(found.claims[0])
    assert [(Outcome.GROUNDED, 1, 0), (Outcome.GROUNDED, 1, 1)] == [
        (row.outcome, row.supported, row.derived) for row in found.hops
    ]
    assert ["tool:stock", "tool:stock"] == [row.evidence_doc for row in found.hops]


def test_what_no_hop_says_is_from_memory_without_a_hop() -> None:
    """As in an answer made in one."""
    found = verified(drawn("It is red.", LOOKUP))

    assert (ClaimLabel.UNSUPPORTED, ClaimSource.MEMORY, None) == told(found.claims[0])
    assert "not quoted" == found.claims[0].why


def test_a_chain_is_followed_to_the_hop_where_a_claim_began() -> None:
    """However many hops handed it on."""
    middle = Hop(name="sum", passages=(1,), output=INSURED)
    made_up = Hop(name="guess", passages=(1,), output="It is blue.")
    handed = Hop(name="repeat", output="It is blue.")

    derived = verified(drawn(INSURED, LOOKUP, middle, middle))
    bad = verified(drawn("It is blue.", made_up, handed, handed))

    assert (ClaimLabel.SUPPORTED, ClaimSource.DOCUMENT, 0) == told(derived.claims[0])
    assert [(0, 1), (1, 1), (1, 1)] == [(row.derived, row.supported) for row in derived.hops]
    assert (ClaimLabel.UNSUPPORTED, ClaimSource.MEMORY, 0) == told(bad.claims[0])
    assert [(0, 1), (1, 1), (1, 1)] == [(row.derived, row.unsupported) for row in bad.hops]


def test_the_words_between_say_through_which_hops() -> None:
    """Where a later hop alone says it in the answer's words."""
    first = Hop(name="first", passages=(0,), output="Class B is insured.")
    second = Hop(name="second", output="As found: Class B is insured indeed.")
    detector = QuotingDetector(alone={second.output: "hop:1"})
    found = verified(drawn("Class B is insured indeed.", first, second), detector)

    assert "hop 1 (first) says so, through hop 2 (second), and what it was given supports it" == found.claims[0].why
    assert (ClaimLabel.SUPPORTED, ClaimSource.DOCUMENT, 0) == told(found.claims[0])


def test_a_hop_is_no_source_for_itself() -> None:
    """Neither by places that point nowhere, nor by a tool that hands on what an earlier hop had written."""
    words = "The warranty of the Lumo lasts for seven years."
    echo = ToolCall(name="notes", output=f" {words}\n")
    odd = Hop(name="odd", passages=(-1, 1, 1, 99), tools=(-1, 5), output=words)
    reader = Hop(name="reader", tools=(0,), output=words)

    found = verified(drawn(words, odd, reader, tool_calls=(echo,)))

    assert (ClaimLabel.UNSUPPORTED, ClaimSource.MEMORY, 0) == told(found.claims[0])
    assert [(0, 1), (1, 1)] == [(row.derived, row.unsupported) for row in found.hops]
    own = verified(drawn(words, Hop(name="asks", tools=(0,), output=words), tool_calls=(echo,)))
    assert (ClaimLabel.SUPPORTED, ClaimSource.TOOL, 0) == told(own.claims[0])


def test_a_text_that_repeats_a_hop_takes_nothing_from_what_other_sources_say() -> None:
    """The claim is judged once more without it."""
    words = "The Lumo is of class B and nothing else than that."
    hops = Hop(name="guess", output=words), Hop(name="reader", tools=(0,), output="Class B is insured.")
    tools = (ToolCall(name="notes", output=words),)
    found = verified(drawn(words, *hops, tool_calls=tools, passages=(WEIGHT, passage(f"So: {words}", doc_id="c"))))

    assert (ClaimLabel.SUPPORTED, ClaimSource.DOCUMENT, 2) == told(found.claims[0])


def test_a_hop_that_was_given_nothing_makes_things_up() -> None:
    """It is unresolved, its claims are unsupported, and the answer's claim names it."""
    found = verified(drawn("It is blue.", Hop(name="plan", output="It is blue.")))

    (row,) = found.hops
    assert (Outcome.UNRESOLVED_NO_CONTEXT, 1, "this hop was given nothing") == (
        row.outcome, row.unsupported, row.worst_why,
    )  # fmt: skip
    assert (ClaimLabel.UNSUPPORTED, ClaimSource.MEMORY, 0) == told(found.claims[0])


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("", Outcome.UNRESOLVED_NO_ANSWER),
        (" \u200b\n", Outcome.UNRESOLVED_NO_ANSWER),
        ("[REDACTED]", Outcome.UNRESOLVED_REDACTED),
        ("What is its class?", Outcome.NO_CLAIMS),
        ("It is blue. " * 50, Outcome.ERROR_TOO_LONG),
        ("\x00\ud83d It is\u202e \x1b[31mblue.", Outcome.HALLUCINATED),
    ],
    ids=["empty", "blank", "redacted", "question", "long", "hostile"],
)
def test_whatever_a_hop_wrote_is_an_outcome_and_the_answer_is_judged(output: str, outcome: Outcome) -> None:
    """Nothing in it ends the stream, and its neighbours are checked."""
    odd = Hop.model_construct(name="\x1b[2J" * 200, question="", passages=(0,), tools=(), output=output)
    item = drawn("It weighs 2 kg.", LOOKUP)
    hops = (LOOKUP, odd, item.trace.hops[-1])
    item = item.model_copy(update={"trace": item.trace.model_copy(update={"hops": hops})})
    found = verified(item, max_answer_bytes=200)

    assert [Outcome.GROUNDED, outcome] == [row.outcome for row in found.hops]
    assert (Outcome.GROUNDED, 200) == (found.outcome, len(found.hops[1].name))


def test_what_is_too_much_is_left_out_and_said() -> None:
    """The first hops and the first claims of each are checked."""
    many = Hop(passages=(1,), output=" ".join(f"It weighs {number} kg." for number in range(MAX_CLAIMS + 3)))
    found = verified(drawn("It weighs 2 kg.", *([many] * (MAX_HOPS + 2))))

    assert (MAX_HOPS, 2) == (len(found.hops), found.hops_left_out)
    assert {(MAX_CLAIMS, 3)} == {(row.claims, row.left_out) for row in found.hops}


def test_a_hop_that_breaks_the_detector_is_an_error_of_its_own() -> None:
    """The other hops and the answer have their verdicts."""
    broken = Hop(name="odd", passages=(0,), output="This is poison.")
    found = verified(drawn("It weighs 2 kg.", LOOKUP, broken), BrokenDetector("poison", ValueError("no")))

    assert [(Outcome.GROUNDED, 0), (Outcome.ERROR_INTERNAL, 1)] == [(row.outcome, row.errors) for row in found.hops]
    assert Outcome.GROUNDED is found.outcome


def test_all_hops_of_a_batch_take_one_call_and_answers_without_hops_none() -> None:
    """What the first look found is not asked about again."""
    detector = QuotingDetector()
    items = [drawn("It weighs 2 kg.", LOOKUP, LOOKUP, trace_id=f"t-{number}") for number in range(3)]
    verify([*items, drawn("It weighs 2 kg.")], [policy()] * 4, detector, NOW)
    assert [4, 9] == detector.batches

    alone = QuotingDetector()
    found = verified(drawn("It weighs 2 kg."), alone)
    assert ([1], (), None) == (alone.batches, found.hops, found.claims[0].hop)


def test_the_word_of_a_judge_stands() -> None:
    """Hops are looked at behind it, by the detector alone."""
    judge = FakeJudge({INSURED: ClaimLabel.UNSUPPORTED})
    rules = policy(routes=(Route(judge=JudgeRule(band_low=0.0)),))
    found = verified(drawn(INSURED, LOOKUP), rules=rules, above=Layers(judge=judge))

    assert ([[INSURED]], ClaimLabel.UNSUPPORTED) == (judge.asked, found.claims[0].label)
    assert Outcome.GROUNDED is found.hops[0].outcome


def test_hops_start_no_series_of_their_own() -> None:
    """A product that begins to answer in several hops is the very change that its series must show."""
    assert verified(drawn(INSURED)).fingerprint == verified(drawn(INSURED, LOOKUP)).fingerprint


def test_an_outdated_version_does_not_come_back_through_a_hop() -> None:
    """The newest one decides for hops, too."""
    old = passage("It costs 5 euros.", doc_id="price", version="1")
    new = passage("It costs 6 euros.", doc_id="price", version="2")
    found = verified(drawn("It costs 5 euros.", Hop(passages=(0,), output="It costs 5 euros."), passages=(old, new)))

    assert (ClaimLabel.UNSUPPORTED, 0) == (found.claims[0].label, found.claims[0].hop)
    assert FailureLabel.STALE_SOURCE in found.failures


def test_hops_that_nobody_has_time_for_change_nothing() -> None:
    """They are errors, and the answer is judged by what was done."""
    late = Allowance(deadline=1.0, clock=lambda: 2.0)
    found = verified(drawn(INSURED, LOOKUP), allowance=late)

    assert (Outcome.ERROR_TIMEOUT, 1) == (found.hops[0].outcome, found.hops[0].errors)
    assert ClaimLabel.UNSUPPORTED is found.claims[0].label


def test_hops_of_an_answer_that_its_structure_settled_are_not_looked_at() -> None:
    """As no layer is."""
    found = verified(drawn("I don't know. Please contact support.", LOOKUP))

    assert ((), 0, Outcome.ABSTAINED) == (found.hops, found.hops_left_out, found.outcome)


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        (("a b", "The  ANSWER is 5."), 1),
        (("The answer is 5.", "safe"), 0),
        (("a", "Final: The answer is 5. Bye."), 1),
        (("a", "answer is 5"), 1),
        (("a", ""), 1),
        (("a", "5"), 2),
    ],
    ids=["same", "earlier", "dressed", "undressed", "blank", "none"],
)
def test_the_hop_that_wrote_the_answer_is_found(outputs: tuple[str, ...], expected: int) -> None:
    """By its words; the last one where it has none; else none did."""
    made = trace(answer="The answer is 5.", hops=tuple(Hop(output=output) for output in outputs))
    assert expected == answer_hop(made)
