"""Laws of redaction: what it takes out is gone, the rest stays, and nothing breaks it or makes it slow."""

import re

import phonenumbers
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stdnum import iban, luhn

from streams.redaction.redactor import MAX_EXAMINED_CHARS, redactor_of
from streams.settings.privacy import Privacy

REDACTOR = redactor_of(Privacy(), b"0123456789abcdef" * 2)
OTHER = redactor_of(Privacy(), b"fedcba9876543210" * 2)
PLACEHOLDER = re.compile(r"\[[A-Z]+_[0-9a-f]{6}\]")
MAIL = re.compile(r"(?<![\w.+-])[a-zA-Z0-9][\w.+-]{0,20}@(?:[a-z0-9]{1,20}\.)+(?:de|com|org)(?![\w.@-])", re.ASCII)
ANY = st.text(alphabet=st.characters(codec=None), max_size=80)
PIECES = st.sampled_from(
    [
        *("max@firma.de", "+49 30 1234567", "4111 1111 1111 1111", "4111111111111111", "DE89 3704 0044 0532 0130 00"),
        *("536-90-4399", "(415) 555-2671", "020 7946 0958", "tel ", "order ", "phone: ", "912 345 678", "111222333"),
        *(
            "[EMAIL_3f9a2c]",
            "[",
            "]",
            " ",
            "\n",
            ".",
            ", ",
            "-",
            "/",
            "+",
            "@",
            "https://x.example/",
            "0",
            "12",
            "2024",
        ),
        *("a", "é", "\u00a0", "\ud83d", "\x00", "٤", "AB", "\\n"),
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join) | ANY


@given(TEXTS)
@example("4111 1111 1111 1111 4111 1111 1111 1111")
def test_twice_is_once_and_always_the_same(text: str) -> None:
    """Placeholders hold nothing that is found, and no chance is involved."""
    once = REDACTOR.redact_text(text)
    assert once == REDACTOR.redact_text(text)
    assert once == REDACTOR.redact_text(once)


@given(TEXTS)
def test_nothing_beside_the_finds_changes(text: str) -> None:
    """What stands between the placeholders stood there before, in the same order."""
    position = 0
    for part in PLACEHOLDER.split(REDACTOR.redact_text(text)):
        position = text.find(part, position)
        assert position >= 0
        position += len(part)


@given(st.lists(TEXTS, max_size=5))
def test_texts_in_which_one_look_finds_nothing_hold_nothing_each(texts: list[str]) -> None:
    """The look at all texts of a trace may only be too careful."""
    finder = REDACTOR.finder
    alone = [finder.read(text) for text in texts]
    if finder.has_nothing_in(texts):
        assert [((), ())] * len(texts) == [(read.hits, read.recognisers) for read in alone]
        assert texts == [REDACTOR.redact_text(text) for text in texts]


@given(TEXTS)
def test_another_key_gives_other_placeholders_in_the_same_places(text: str) -> None:
    """The key decides the hash alone."""
    own, other = REDACTOR.redact_text(text), OTHER.redact_text(text)
    assert PLACEHOLDER.sub("[]", own) == PLACEHOLDER.sub("[]", other)
    if own != text and "[EMAIL_" not in text:
        assert own != other


@given(ANY.filter(lambda text: not text[-1:].isalnum()), st.from_regex(MAIL, fullmatch=True), st.sampled_from(" ,)\n"))
def test_no_address_is_left(before: str, mail: str, after: str) -> None:
    """Whatever stands around it."""
    assert mail not in REDACTOR.redact_text(f"{before} {mail}{after}")


@given(st.integers(0, 10**11), st.sampled_from(["4", "51", "2221", "6011"]), st.sampled_from(["", " ", "-"]))
def test_no_card_is_left(number: int, issuer: str, between: str) -> None:
    """Any number of an issuer whose check digit holds, in both spellings."""
    digits = f"{issuer}{number:015}"[:15]
    card = digits + luhn.calc_check_digit(digits)
    spelled = between.join(card[at : at + 4] for at in range(0, 16, 4))
    assert REDACTOR.redact_text(f"Paid with {spelled}.") == f"Paid with {REDACTOR.redact_text(card)}."
    assert PLACEHOLDER.fullmatch(REDACTOR.redact_text(card))


@given(st.integers(0, 10**18 - 1), st.booleans(), st.booleans())
def test_no_account_is_left(number: int, is_grouped: bool, is_small: bool) -> None:
    """Any German account number, in both spellings and cases."""
    bare = f"DE00{number:018}"
    account = f"DE{iban.calc_check_digits(bare)}{number:018}"
    spelled = " ".join(re.findall(".{1,4}", account)) if is_grouped else account
    spelled = spelled.lower() if is_small else spelled
    assert f"To {REDACTOR.redact_text(account)}." == REDACTOR.redact_text(f"To {spelled}.")
    assert PLACEHOLDER.fullmatch(REDACTOR.redact_text(account))


@pytest.mark.parametrize("region", sorted(phonenumbers.SUPPORTED_REGIONS))
def test_the_example_number_of_every_country_is_found(region: str) -> None:
    """The library's own examples, in its international spelling and as plain digits, under one value."""
    number = phonenumbers.example_number(region)
    assert number is not None
    spelled = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    plain = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    found = REDACTOR.redact_text(f"It is {spelled}.")
    assert PLACEHOLDER.sub("[]", found) == "It is []."
    assert found == REDACTOR.redact_text(f"It is {plain}.")


@pytest.mark.timeout(40)
@pytest.mark.parametrize(
    "unit",
    [
        "@", "a@", "a@b.", "1", "0 ", "01 ", "1 2 3 ", "(0", "1-", "4111 ", "4111111111111111 ", "DE89 3704 ", "tel 1 ",
        "020 7946 0958 ", "01 23 45 67 89 ", "AB 12 34 56 ", "www.1234567/", "http://1234567-", "12345678Z ", "a", " ",
        "-", "+1 ", "[EMAIL_3f9a2c]",
    ],
)  # fmt: skip
def test_time_is_linear(unit: str) -> None:
    """A megabyte of what patterns stumble over; quadratic work would exceed the limit on the test."""
    REDACTOR.redact_text((unit * 1_000_000)[:1_000_000])


def test_beyond_what_is_judged_every_long_number_goes() -> None:
    """A table of millions of numbers is not looked at closely, and nothing of it is kept."""
    table = " ".join(str(10**9 + 7919 * number) for number in range(200_000))
    assert len(table) > MAX_EXAMINED_CHARS
    trace_texts = REDACTOR.finder.read_roughly(table + " max@firma.de")
    assert 200_001 <= len(trace_texts.hits)
