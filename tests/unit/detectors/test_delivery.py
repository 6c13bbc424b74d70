"""What a user reads: the answer, the answer without its bad claims, or a fallback text."""

import pytest

from detectors.claims import split_claims
from detectors.delivery import DEFAULT_FALLBACKS, delivered_text, fallbacks_of
from detectors.trimming import without_bad_claims
from schemas.labels import ClaimLabel, Containment
from schemas.policy import Fallbacks, IntentRules
from schemas.verdict import ClaimVerdict
from tests.builders import claim_verdict, policy

TEXTS = Fallbacks(abstain="Ask us.", hold_for_review="Wait for us.")


def judged(answer: str) -> list[ClaimVerdict]:
    """The claims of an answer; those that say BAD are unsupported."""
    return [
        claim_verdict(
            ClaimLabel.NOT_FACTUAL
            if not claim.is_factual
            else ClaimLabel.UNSUPPORTED
            if "BAD" in claim.text
            else ClaimLabel.SUPPORTED,
            claim=claim,
        )
        for claim in split_claims(answer)
    ]


@pytest.mark.parametrize(
    ("containment", "expected"),
    [
        (Containment.DELIVER, "The fee is 5. The BAD tax is 6."),
        (Containment.DELIVER_TRIMMED, "The fee is 5."),
        (Containment.HOLD_FOR_REVIEW, "Wait for us."),
        (Containment.ABSTAIN, "Ask us."),
    ],
)
def test_containment_decides_what_is_read(containment: Containment, expected: str) -> None:
    """Each of the four has its own text."""
    answer = "The fee is 5. The BAD tax is 6."
    assert expected == delivered_text(containment, judged(answer), answer, TEXTS)


def test_an_answer_of_which_nothing_remains_gives_the_fallback() -> None:
    """Nobody is sent an empty message."""
    answer = "- The BAD fee is 5."
    assert "Ask us." == delivered_text(Containment.DELIVER_TRIMMED, judged(answer), answer, TEXTS)


@pytest.mark.parametrize(
    ("intent", "expected"),
    [
        ("billing", Fallbacks(abstain="Call billing.", hold_for_review="Wait for us.")),
        ("other", TEXTS),
    ],
)
def test_fallback_text_is_the_intents_own_then_the_general_one(intent: str, expected: Fallbacks) -> None:
    """Each of the two texts is looked up by itself."""
    rules = {"*": IntentRules(fallbacks=TEXTS), "billing": IntentRules(fallbacks=Fallbacks(abstain="Call billing."))}
    assert expected == fallbacks_of(policy(intents=rules), intent)


def test_without_a_text_in_the_policy_the_default_is_read() -> None:
    """There is always something to say."""
    assert DEFAULT_FALLBACKS == fallbacks_of(policy(), "any")
    assert DEFAULT_FALLBACKS.abstain
    assert DEFAULT_FALLBACKS.hold_for_review


TRIMMED = {
    "in the middle": ("The fee is 5. The BAD fee is 6. The tax is 7.", "The fee is 5. The tax is 7."),
    "at the start": ("The BAD fee is 6. The tax is 7.", "The tax is 7."),
    "at the end with its citation": ("The tax is 7 [2]. The BAD fee is 6. [1]", "The tax is 7 [2]."),
    "citation of the next stays": ("The BAD fee is 6 [1]. The tax is 7 [2].", "The tax is 7 [2]."),
    "without spaces between": (
        "手数料は5ユーロです。税金はBAD6ユーロです。送料は7ユーロです。",
        "手数料は5ユーロです。送料は7ユーロです。",
    ),
    "over two lines": ("The fee is 5. The BAD fee\nis 6 euros. The tax is 7.", "The fee is 5.\nThe tax is 7."),
    "a list item": ("- The fee is 5.\n- The BAD fee is 6.\n- The tax is 7.", "- The fee is 5.\n- The tax is 7."),
    "a whole list with its introduction": (
        "The levy is 4.\n\nFees:\n- The BAD fee is 5.\n- The BAD tax is 6.\n\nThe toll is 8.",
        "The levy is 4.\n\nThe toll is 8.",
    ),
    "a list item of two claims": ("- The fee is 5. The BAD tax is 6.", "- The fee is 5."),
    "a nested list with its head": (
        "- Fees:\n  - The BAD fee is 5.\n- Taxes:\n  - The tax is 6.",
        "- Taxes:\n  - The tax is 6.",
    ),
    "a section with its heading": (
        "# Fees\n\nThe fee is 4.\n\n## Taxes\n\nThe BAD tax is 5.\n\n## Tolls\n\nThe toll is 4.\n",
        "# Fees\n\nThe fee is 4.\n\n## Tolls\n\nThe toll is 4.\n",
    ),
    "a bold heading": ("The fee is 5.\n\n**Taxes**\n\nThe BAD tax is 6.", "The fee is 5."),
    "a table row": (
        "| a | b |\n|---|---|\n| BAD fee | 5 EUR |\n| tax | 6 EUR |",
        "| a | b |\n|---|---|\n| tax | 6 EUR |",
    ),
    "a whole table": (
        "The fee is 5.\n\n| a | b |\n|---|---|\n| BAD fee | 5 EUR |\n\nThe tax is 5.",
        "The fee is 5.\n\nThe tax is 5.",
    ),
    "a closing sign stays": ("**The fee is 5. The tax is BAD 6.** So far.", "**The fee is 5.** So far."),
    "an opening sign stays": ("**The BAD fee is 5. The tax is 6.** So far.", "**The tax is 6.** So far."),
    "a bracket stays closed": ("(The fee is 5. The tax is BAD 6.) So far.", "(The fee is 5.) So far."),
    "a paragraph": ("The fee is 5.\n\nThe BAD tax is 6.\n\nThe toll is 7.", "The fee is 5.\n\nThe toll is 7."),
    "line ends of another system": (
        "The fee is 5.\r\n\r\nThe BAD tax is 6.\r\n\r\nThe toll is 7.",
        "The fee is 5.\r\n\r\nThe toll is 7.",
    ),
    "an introduction that states something stays": (
        "The fee is 5 euros for these:\n- BAD lamps cost 6 euros.",
        "The fee is 5 euros for these:",
    ),
}


@pytest.mark.parametrize(("answer", "expected"), TRIMMED.values(), ids=TRIMMED)
def test_what_served_a_cut_claim_alone_goes_with_it(answer: str, expected: str) -> None:
    """And what serves others stays."""
    assert expected == without_bad_claims(judged(answer), answer)


def test_an_answer_without_bad_claims_is_not_touched() -> None:
    """Not even its white space."""
    answer = "  The fee is 5. \n\n\n The tax is 6.  \n"
    assert answer == without_bad_claims(judged(answer), answer)


def test_a_long_hostile_answer_is_trimmed_in_linear_time() -> None:
    """200 KB of signs, and 10,000 cuts in one line: the limit of the test run is far above what this takes."""
    for answer in ("The BAD fee is 5. " + "*[(|" * 50_000 + " x y", "The BAD fee is 5. The tax is 6. " * 6_000):
        assert "BAD" not in without_bad_claims(judged(answer), answer)
