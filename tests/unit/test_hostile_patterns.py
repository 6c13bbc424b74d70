"""Regular expressions and what is built on them read adversarial texts in linear time.

The time limit of each test is the check: what goes back and forth over these lengths takes many times the limit, what
reads once a small part of it. No seconds are compared, since a busy machine would make that fail.
"""

from time import process_time

import pytest

from detectors.evidence import load_evidence_detector
from detectors.screening import Screener
from schemas.policy import PolicyDocument
from schemas.trace import Passage, Trace
from tests.builders import NOW
from tests.hostile.patterns import SEEDS, adversarial, compiled_patterns

SHORT = 1_000
LONG = 60_000
"""A pattern that needs 10 ms at the short length and is quadratic needs half a minute at the long one."""


@pytest.mark.timeout(240)
def test_patterns_are_linear() -> None:
    """The strings that take a pattern longest when short are tried long."""
    patterns = compiled_patterns()
    assert {"detectors.lexicon", "detectors.claims.sentences"} <= {one.module for one in patterns}
    for one in patterns:
        used = dict(enumerate(adversarial(one.pattern, SHORT)))
        slowest = sorted(used, key=lambda place: -seconds(one.run, used[place]))[:2]
        for place, text in enumerate(adversarial(one.pattern, LONG)):
            if place in slowest:
                one.run(text)


def seconds(run: object, text: str) -> float:
    """Processor time of one run; chooses what is tried, decides nothing."""
    began = process_time()
    run(text)  # type: ignore[operator]
    return process_time() - began


@pytest.mark.timeout(240)
@pytest.mark.parametrize("where", ["answer", "passage", "question"])
def test_judging_is_linear(where: str) -> None:
    """Each piece that texts are made of, repeated to twenty kilobytes, through splitter, L0 and detector."""
    screener = Screener(load_evidence_detector())
    for piece in SEEDS:
        long = f"{piece * (20_000 // len(piece))}x"
        texts = {"answer": "A lamp may be returned [a].", "passage": "Lamps may be returned.", "question": "How long?"}
        texts[where] = long
        passage = Passage(doc_id="a", text=texts["passage"])
        trace = Trace(
            trace_id="t",
            ts=NOW,
            question=texts["question"],
            answer=texts["answer"],
            passages=(passage,),
            rewrites=(long,),
        )
        screener.screen([trace], [PolicyDocument(name="x")])


def test_strings_are_made_from_what_the_pattern_asks_for() -> None:
    """The check itself: what a careless pattern stumbles over is among them."""
    assert any(text.startswith("ab" * 400) for text in adversarial(r"(?:(?:a[b-x])+)+c", SHORT))
    assert any(text.startswith("§" * 400) for text in adversarial(r"§*§*$", SHORT))
