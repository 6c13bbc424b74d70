"""What is exchanged under the same figure, what is the same quantity, and how a claim is said in other units."""

import pytest

from detectors.evidence.conflicts import conflicts_of, denies, exchanges
from detectors.evidence.kinds import amounts_of, dates_of
from detectors.evidence.matching import Match, PreparedClaim
from detectors.evidence.measures import measure_of
from detectors.evidence.passages import index_passage
from detectors.evidence.restate import matched
from detectors.evidence.why import explain
from detectors.evidence.words import words_of


def _matched(claim: str, *texts: str) -> tuple[PreparedClaim, Match]:
    prepared, found = matched(words_of(claim), lambda _: 0.8, [index_passage(text) for text in texts])
    assert found is not None
    return prepared, found


@pytest.mark.parametrize(
    ("claim", "text", "why"),
    [
        ("The trial lasts 14 weeks.", "The trial lasts 14 days.", "14 weeks here, 14 days in the evidence"),
        ("The tent costs $180.", "The tent costs €180.", "$180 here, €180 in the evidence"),
        ("The tent costs 180 dollars.", "The tent costs EUR 180.", "180 dollars here, EUR 180 in the evidence"),
        ("Das Zelt kostet 180 $.", "Das Zelt kostet 180 €.", "180 $ here, 180 € in the evidence"),
        ("The plan costs $9 a month.", "The plan costs $9 a year.", "$9 a month here, $9 a year in the evidence"),
        ("Adults take 40 g a day.", "Adults take 40 mg a day.", "40 g a day here, 40 mg a day in the evidence"),
        ("The rate rose 5 %.", "The rate rose 5 percentage points.", "5 % here, 5 percentage in the evidence"),
        ("The line sends 50 gigabits.", "The line sends 50 megabits.", "50 gigabits here, 50 megabits in the evidence"),
        ("Die Probe dauert 14 Wochen.", "Die Probe dauert 14 Tage.", "14 Wochen here, 14 Tage in the evidence"),
        ("试用期为14周。", "试用期为14天。", "14 周 here, 14 天 in the evidence"),
        ("Срок 14 недель.", "Срок 14 дней.", "14 недель here, 14 дней in the evidence"),
        ("It starts on 4 April 2026.", "It starts on 4 March 2026.", "April here, March in the evidence"),
        ("The season starts in May.", "The season starts in June.", "May here, June in the evidence"),
        ("La saison commence le 4 avril.", "La saison commence le 4 mars.", "avril here, mars in the evidence"),
        ("Waste is collected on Tuesday.", "Waste is collected on Thursday.", "Tuesday here, Thursday in the evidence"),
        ("Abholung ist am Dienstag.", "Abholung ist am Donnerstag.", "Dienstag here, Donnerstag in the evidence"),
    ],
)
def test_an_exchange_under_the_same_figure_decides(claim: str, text: str, why: str) -> None:
    """Unit, currency, period, month and day of the week; the reason names both sides as they are written."""
    prepared, found = _matched(claim, text)
    assert (1.0, why) == (conflicts_of(prepared, found)[-1], explain(prepared, found))


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The link is valid for 1 hour.", "The link is valid for 60 minutes."),
        ("The link is valid for one hour.", "The link is valid for 60 minutes."),
        ("Orders ship in 48 hours.", "Orders ship within 2 days."),
        ("The path is 1 km long.", "The path is 1,000 m long."),
        ("The path is 5 miles long.", "The path is 8 km long."),
        ("The share is 0.5.", "The share is 50 %."),
        ("The share is 50 percent.", "The share is 0.5."),
        ("Die Probe dauert 2 Wochen.", "Die Probe dauert 14 Tage."),
        ("The bottle holds 500 ml.", "The bottle holds 0.5 l."),
    ],
)
def test_a_claim_is_said_in_the_units_of_its_evidence(claim: str, text: str) -> None:
    """The same quantity in another unit is the same words: nothing is missing, nothing in conflict."""
    prepared, found = _matched(claim, text)
    assert found.best_score == pytest.approx(1.0)
    assert conflicts_of(prepared, found)[-1] == 0.0


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (
            "The trial lasts 14 weeks.",
            "The trial lasts 14 days, the plan is sold for 14 weeks in the north of the land.",
        ),
        ("There is a 42% chance of rain.", "There is a 42 percentage chance of rain."),
        ("The tent costs 180 €.", "The tent costs EUR 180."),
        ("The tent weighs 10 pounds.", "The tent weighs 10 lbs."),
        ("Waste is collected on Tuesday.", "Waste is collected from Monday to Thursday."),
        ("Waste is collected in May.", "Waste is collected from March to June."),
        ("Waste is collected on Tuesday.", '{"hours": {"Thursday": "waste is collected"}}'),
        ("The pharmacy closes at 6:00.", "The pharmacy closes at 6 PM."),
        ("You may march at noon.", "You can march in June at noon."),
    ],
)
def test_no_exchange_where_the_evidence_allows_it(claim: str, text: str) -> None:
    """A span, another spelling, a word that only looks like a month, or the quantity elsewhere in the evidence."""
    assert [] == exchanges(*_matched(claim, text))


def test_an_exchange_about_something_else_does_not_decide() -> None:
    """The figure alone is no common statement."""
    assert conflicts_of(*_matched("Trials of the Kestrel app last 14 weeks.", "Returns take 14 days."))[-1] == 0.0


def test_both_halves_of_the_day_exclude_each_other() -> None:
    """Where both sides say which one they mean."""
    assert conflicts_of(*_matched("The pharmacy closes at 6 AM.", "The pharmacy closes at 6 PM."))[-1] == 1.0


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Pets are allowed in the flats.", "Pets are not allowed in the flats.", True),
        ("Pets are not allowed in the flats.", "Pets are allowed in the flats.", True),
        ("Pets are allowed in the flats.", "Pets are not allowed in the shared kitchen.", False),
        ("Pets are allowed in the flats.", "Pets are allowed in the flats.", False),
        ("Der Beitrag wird nicht erstattet.", "Der Beitrag wird erstattet.", True),
        ("Les chiens sont admis.", "Les chiens ne sont pas admis.", True),
        ("Se admiten perros.", "Nunca se admiten perros.", True),
        ("公寓不允许携带宠物。", "公寓允许携带宠物。", True),
        ("公寓不仅允许携带宠物。", "公寓允许携带宠物。", False),
        ("Die Karte gilt nicht nur im Bus.", "Die Karte gilt im Bus.", False),
    ],
)
def test_a_plain_denial_of_the_same_words_denies(claim: str, text: str, expected: bool) -> None:
    """A denial of something beside it does not."""
    assert denies(*_matched(claim, text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in May", ["5"]),
        ("4 mars", ["3"]),
        ("you may go", []),
        ("Mars is red", []),
        ("Sun 9:00", ["7"]),
        ("am Mittwoch", ["3"]),
        ("a march for peace", []),
    ],
)
def test_months_and_days_are_known_by_their_company(text: str, expected: list[str]) -> None:
    """Words that mean something else too need a figure or a preposition of time beside them."""
    assert expected == [measure.unit for _, measure in dates_of(words_of(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14 working days", ("duration", "day", "")),
        ("$9/month", ("money", "$", "month")),
        ("9 euros a month", ("money", "€", "month")),
        ("5 percentage points", ("share", "percentage point", "")),
        ("180 €", ("money", "€", "")),
        ("5 m", ("length", "m", "")),
        ("5 green m", ("", "", "")),
        ("2026年", ("", "", "")),
    ],
)
def test_an_amount_knows_its_dimension_unit_and_rate(text: str, expected: tuple[str, str, str]) -> None:
    """Short units stand directly behind the figure; a year is no duration."""
    amount = amounts_of(words_of(text))[0]
    assert expected == (amount.dimension, amount.unit, amount.rate)


def test_a_capital_tells_the_month_from_the_verb() -> None:
    """As written in the table of measures."""
    assert measure_of("march", is_capital=False) is None
    assert measure_of("march", is_capital=True) is not None
