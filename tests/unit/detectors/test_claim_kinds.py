"""Which sentences state a fact."""

import re
from importlib import resources

import pytest
import yaml

from detectors.claims.kinds import asks_back, is_offer, is_referral, is_refusal, states_fact
from tests.unit.detectors.sentences_by_language import SILENT_AND_FACTUAL

PATTERNS = ("greetings", "thanks", "offers", "meta", "lead_ins", "refusals", "referrals", "fillers", "clarifications")
NOT_FACTUAL = [
    "Can I return it?",
    "¿Puedo devolverlo?",
    "这是真的吗？",
    "Hello John!",
    "Good morning, Ms. Lee,",
    "Sure!",
    "Great question!",
    "Thanks for contacting us.",
    "You're welcome!",
    "Let me know if you have any other questions.",
    "I hope this helps!",
    "If you need further assistance, feel free to ask.",
    "Here is what I found:",
    "Here are the 3 steps:",
    "Based on the provided documents:",
    "In summary:",
    "You will need:",
    "Passage 2:",
    "[1] [2]",
    "Sources: [1], [kb-2]",
    "[1]: https://example.com/a",
    "I don't know.",
    "I couldn't find any information about that in the documents.",
    "I'm sorry, but I can't help with that.",
    "The passages do not mention the price.",
    "The price is not specified in the given passages.",
    "Leider kann ich dazu keine Angaben finden.",
    "Je ne trouve pas cette information.",
    "No tengo información sobre eso.",
    "我不知道答案。",
    "申し訳ありませんが、わかりません。",
    "Our help pages say nothing about tax refunds for tourists.",
    "That is not described in the articles I have, so I don't know who signs it.",
    "The article on gift cards does not say whether they expire.",
    "That is not covered by the documents I can see, so I would rather not guess.",
    "Sorry to hear that.",
    "I understand your frustration.",
    "Let's find out why.",
    "You're welcome, and enjoy your holiday!",
    "Guten Tag!",
    "Bonjour,",
    "¡Hola!",
]
FACTUAL = [
    "Refunds take 5 days.",
    "You can return it within 30 days of delivery [1].",
    "Please contact support at 555-1234.",
    "Hello John, your refund of $20 was issued.",
    "Thank you for waiting, your refund takes 5 days.",
    "I couldn't find the price, but the plan costs $10.",
    "A low level is normal, but the exact range is not provided in the passages.",
    "Refunds are not available for opened software.",
    "We do not ship to Norway.",
    "The policy does not cover water damage.",
    "Sorry, refunds take long.",
    "I understand that refunds are final.",
    "We will help with the move for free.",
    "The plan costs 5 dollars:",
    "Here is the rule: opened software is excluded.",
    "If you need additional storage, the Pro plan includes it.",
    "https://example.com/form",
    "No.5 is out of stock.",
    "退款需要5天。",
]


@pytest.mark.parametrize("text", NOT_FACTUAL)
def test_questions_courtesies_lead_ins_and_refusals_state_nothing(text: str) -> None:
    """They lie outside the score."""
    assert not states_fact(text)


@pytest.mark.parametrize("text", FACTUAL)
def test_what_can_be_checked_is_factual(text: str) -> None:
    """A courtesy that carries a statement is a claim."""
    assert states_fact(text)


@pytest.mark.parametrize("language", sorted(SILENT_AND_FACTUAL))
def test_each_language_knows_its_courtesies_and_keeps_its_statements(language: str) -> None:
    """What is said beside the facts is no claim; a short true statement, denied or not, is one."""
    silent, factual = (text.split("|") for text in SILENT_AND_FACTUAL[language])

    assert [] == [text for text in silent if states_fact(text)]
    assert factual == [text for text in factual if states_fact(text)]


def _lexicon_patterns() -> list[str]:
    folder = resources.files("detectors.lexicon")
    files = [
        yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader builds text only
        for path in folder.iterdir()
        if path.name.endswith(".yaml")
    ]
    return sorted({pattern for file in files for section in PATTERNS for pattern in file.get(section, [])})


@pytest.mark.parametrize("pattern", _lexicon_patterns())
def test_patterns_of_the_lexicon_repeat_within_bounds(pattern: str) -> None:
    """A repeat without a bound could make matching quadratic; back references could make it exponential."""
    bare = re.sub(r"\\[^1-9]|\[\^?[^\]]+\]", "x", pattern)

    assert not re.search(r"[*+]|\{\d*,\}|\\[1-9]", bare)


def test_a_long_sentence_is_always_factual() -> None:
    """Nobody hides a claim behind a long greeting."""
    assert states_fact("Let me know " + "whether the parcel of the sender came " * 10)


def test_referrals_offers_and_counter_questions_are_told_apart() -> None:
    """Each helper knows its own kind only."""
    assert is_referral("Please contact our support team.")
    assert is_referral("The Billing Desk will be able to tell you.")
    assert not is_referral("Refunds take 5 days.")
    assert is_offer("Is there anything else I can help you with?")
    assert asks_back("Could you please tell me your order number?")
    assert not asks_back("Can I help you with anything else?")
    assert not is_refusal("We do not offer refunds.")
