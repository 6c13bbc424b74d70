"""What is found as personal data, in which spellings it is one value, and what is left alone."""

import re

import pytest

from detectors.claims.citations import bracketed_tokens, find_citations, is_placeholder
from streams.redaction.kinds import Kind, NationalId
from streams.redaction.national_ids import NUMBERS
from streams.redaction.placeholders import placeholder
from streams.redaction.redactor import Redactor, redactor_of
from streams.settings.privacy import Privacy

SALT = b"0123456789abcdef" * 2
PLAIN = redactor_of(Privacy(), SALT)
PLACEHOLDER = re.compile(r"\[([A-Z]+)_[0-9a-f]{6}\]")


def kinds_in(text: str, redactor: Redactor = PLAIN) -> list[str]:
    """The openings of the placeholders, in order."""
    return PLACEHOLDER.findall(redactor.redact_text(text))


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Write to max.mustermann@firma.de.", "Write to []."),
        ("(Mailto:Max@Firma.DE), please", "(Mailto:[]), please"),
        ("<max+shop@mail.firma.co.uk>", "<[]>"),
        ("jürgen@müller.de schreibt", "[] schreibt"),
        ('{"mail":"a@b.de","next":"\\nmax@firma.de"}', '{"mail":"[]","next":"\\n[]"}'),
        ("https://shop.example/?mail=max@firma.de&x=1", "https://shop.example/?mail=[]&x=1"),
        ("max\uff20firma.de", "[]"),
        ("'o.neill@firma.ie'", "'[]'"),
        ("Call +49 30 1234567 now", "Call [] now"),
        ("Call +49 (0)30 1234567, or +1 415 555 2671.", "Call [], or []."),
        ("Ring 020 7946 0958 (London)", "Ring [] (London)"),
        ("01 42 68 53 00 à Paris", "[] à Paris"),
        ("(415) 555-2671 or 415-555-2671 or 415.555.2671", "[] or [] or []"),
        ("Tel. 912 345 678", "Tel. []"),
        ("phone: 4155552671", "phone: []"),
        ("Order by phone: 4155552671", "Order by phone: []"),
        ("[PHONE_4bba3c] 4155552671", "[] 4155552671"),
        ("Cambridge, MA 02138 617-576-5000", "Cambridge, MA 02138 []"),
        ("+49 30 1234567 20 minutes", "[] 20 minutes"),
        ("+49\u00a030\u00a01234567", "[]"),
        ("Card 4111 1111 1111 1111, 4111-1111-1111-1111.", "Card [], []."),
        ('{"card":4111111111111111}', '{"card":[]}'),
        ("Amex 3782 822463 10005", "Amex []"),
        ("٤١١١١١١١١١١١١١١١", "[]"),
        ("IBAN DE89 3704 0044 0532 0130 00 and more", "IBAN [] and more"),
        ("gb82west12345698765432", "[]"),
        ("DE89-3704-0044-0532-0130-00", "[]"),
        ("SSN 536-90-4399", "SSN []"),
        ("My social security number is 536904399", "My social security number is []"),
        ("NINO AB 12 34 56 C", "NINO []"),
        ("Steuer-ID 36 574 261 809", "Steuer-ID []"),
        ("NIR 2 95 10 99 126 111 93", "NIR []"),
        ("DNI 54362315K, NIE X-2482300-W", "DNI [], NIE []"),
        ("CF RCCMNL83S18D969H", "CF []"),
        ("BSN 111222333", "BSN []"),
        ("CPF 390.533.447-05", "CPF []"),
        ("Aadhaar 2341 2341 2346", "Aadhaar []"),
        ("PAN ACUPA7085R", "PAN []"),
    ],
)  # fmt: skip
def test_personal_data_is_replaced_and_nothing_beside_it(text: str, rest: str) -> None:
    """Only the value goes; the signs around it stay."""
    assert rest == PLACEHOLDER.sub("[]", PLAIN.redact_text(text))


@pytest.mark.parametrize(
    "text",
    [
        "Order 4155552671 was shipped on 2024-05-12 10:30.",
        "Invoice no. 0151-23456789, order 415-555-2671, article 0123 4567 8901.",
        "Call us about order 4155552671 or invoice no. 0151-2345678.",
        "Due 12.05.2024 08:15, 01/02/2024 10:30:00 or 2024/05/12.",
        "It costs 1,234,567.89 EUR, 1.234.567,89 €, 12 345 678 kr or $1000000000.",
        "Version 1.2.3.4, build 10.0.19045.3570, Python 3.11.4, react@18.2.0, icon@2x.png, @user/pkg.",
        "ISBN 978-3-16-148410-0, EAN 4006381333931, ISSN 2049-3630.",
        "Trace 4bf92f3577b34da6a3ce929d0e0e4736, id 550e8400-e29b-41d4-a716-446655440000, at 1700000000000.",
        "https://shop.example/p/0301-234567/4111111111111111 and www.shop.example/item-4111111111111111",
        "doc-2024-000123456, kb_0301_234567, refund-policy-v3#12, ABC-123456789",
        "The years 2019 2020 2021 2022 and 1990-2000, pages 100-120, 24/7, 555-1234.",
        "Card 4111 1111 1111 1112 and IBAN DE88 3704 0044 0532 0130 00 hold no check digit.",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
        "| 1024 | 2048 | 4096 | 8192 | 16384 | 32768 |",
        "Coordinates 52.520008, 13.404954 and 48° 51' 24\" N.",
        "DE12 is a street, AB12 a plate, and 12:30-14:45 the lunch.",
        "[EMAIL_1] **** **** **** 1111 __REDACTED__ [PHONE_3f9a2c] [REDACTED] xxxx-xxxx",
        "Mr Smith from 10.0.0.1",
        "\ud83d \x00 a@ @b a@b a@.de @@ a@b..de",
    ],
)
def test_other_numbers_and_signs_are_left_alone(text: str) -> None:
    """Orders, dates, prices, versions, ids, addresses and what was redacted before."""
    assert text == PLAIN.redact_text(text)


@pytest.mark.parametrize(
    "spellings",
    [
        ("max@firma.de", "MAX@Firma.de"),
        ("+49 30 1234567", "030 1234567", "(030) 1234567", "+49 (0)30 1234567", "0049 30 1234567", "+49301234567"),
        ("+1 415 555 2671", "(415) 555-2671", "415.555.2671", "1-415-555-2671"),
        ("4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111"),
        ("DE89370400440532013000", "de89 3704 0044 0532 0130 00"),
        ("AB123456C", "ab 12 34 56 c"),
    ],
)
def test_spellings_of_one_value_give_one_placeholder(spellings: tuple[str, ...]) -> None:
    """What answer and passage write differently stays equal."""
    regions = redactor_of(Privacy(phone_regions=("US", "DE")), SALT)
    assert 1 == len({regions.redact_text(spelling) for spelling in spellings})
    assert PLACEHOLDER.fullmatch(regions.redact_text(spellings[0]))


def test_other_values_give_other_placeholders() -> None:
    """One digit is enough."""
    texts = [PLAIN.redact_text(f"+49 30 12345{number:02}") for number in range(100)]
    assert 100 == len(set(texts))


def test_a_value_that_one_place_proves_is_replaced_everywhere() -> None:
    """Without the word "phone" it is only a number; another sentence tells."""
    assert ["PHONE", "PHONE"] == kinds_in("His phone is 912 345 678. Again: 912 345 678.")
    assert ["PHONE", "PHONE"] == kinds_in("Again: 912 345 678. It is +34 912 345 678.")
    assert [] == kinds_in("Again: 912 345 678.")
    assert ["ID", "ID"] == kinds_in("BSN 111222333, and 111222333 once more")


def test_names_and_addresses_of_machines_are_found_on_request() -> None:
    """They cost false finds, so they are off."""
    both = redactor_of(Privacy(kinds=(Kind.IP, Kind.NAME)), SALT)
    text = "Mr John Smith wrote from 10.0.0.1 and 2001:db8::1. Smith is away. My name is Ada."
    assert ["NAME", "NAME", "IP", "IP", "NAME", "NAME"] == kinds_in(text, both)
    assert "Version 1.2.3, at 10:30:00, John" == both.redact_text("Version 1.2.3, at 10:30:00, John")


def test_what_the_settings_keep_is_kept() -> None:
    """The hotline and the shop's own domain are nobody's secret."""
    own = redactor_of(Privacy(keep=("+49 30 1234567", "@shop.example", "info@firma.de")), SALT)
    assert "030 1234567, a@shop.example, Info@Firma.de" == redactor_of(
        Privacy(keep=("+49 30 1234567", "@shop.example", "info@firma.de"), phone_regions=("DE",)), SALT
    ).redact_text("030 1234567, a@shop.example, Info@Firma.de")
    assert ["EMAIL", "EMAIL"] == kinds_in("a@other.example max@firma.de", own)


def test_every_national_number_has_a_rule_and_may_be_left_out() -> None:
    """Names of the settings and rules are the same."""
    assert set(NationalId) == set(NUMBERS)
    without = redactor_of(Privacy(national_ids=(NationalId.US_SSN,)), SALT)
    assert ["ID"] == kinds_in("536-90-4399 54362315K", without)
    assert "a@b.de" == redactor_of(Privacy(kinds=()), SALT).redact_text("a@b.de")


@pytest.mark.parametrize("kind", list(Kind))
def test_placeholders_are_no_citations(kind: Kind) -> None:
    """The splitter knows them for what they are."""
    for number in range(200):
        text = placeholder(kind, str(number), b"key")
        assert () == find_citations(f"Write to {text}.")
        assert all(map(is_placeholder, bracketed_tokens(text)))
