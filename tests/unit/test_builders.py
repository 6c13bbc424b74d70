"""The builders of the tests themselves."""

from collections.abc import Callable

import pytest

from schemas.base import Record
from schemas.codec import decode, encode
from schemas.labels import Outcome
from tests import builders

BUILDERS: list[Callable[[], Record]] = [
    builders.passage,
    builders.trace,
    builders.claim,
    builders.claim_verdict,
    builders.verdict,
    builders.draw,
    builders.screening,
    builders.drawn_trace,
    builders.tally,
    builders.traffic_tally,
    builders.alert,
    builders.policy,
    builders.policy_record,
]


@pytest.mark.parametrize("build", BUILDERS)
def test_defaults_survive_the_codec(build: Callable[[], Record]) -> None:
    """A default record comes back equal from its bytes."""
    assert build() == decode(type(build()), encode(build()))


def test_default_claim_is_a_span_of_the_default_answer() -> None:
    """The claim's offsets give back its text."""
    claim = builders.claim()
    assert claim.text == builders.ANSWER[claim.start : claim.end]


def test_misspelt_keyword_is_refused() -> None:
    """The models ignore unknown fields; the builders must not."""
    with pytest.raises(TypeError, match="has no field intnet"):
        builders.trace(intnet="billing")


def test_check_item_defaults_to_one_claim() -> None:
    """The whole answer is one claim."""
    assert (builders.claim("A."),) == builders.check_item("A.").claims


def test_error_verdict_has_no_score() -> None:
    """A failure is never a score."""
    assert builders.verdict(outcome=Outcome.ERROR_TIMEOUT).score is None
