"""The detector as a whole: what it notices, and what must never change a judgement."""

import json

import pytest

from detectors.claims import split_claims
from detectors.evidence import EvidenceDetector, load_evidence_detector
from schemas.claim import CheckItem, Claim
from schemas.trace import Passage
from schemas.verdict import ClaimJudgement

_POLICY = (
    "Orders can be returned within 30 days of delivery. The Northgate warehouse checks every parcel that comes in. "
    "A refund of up to $250 is paid to the original card within 5 working days. "
    "Gift cards are not refunded. Customers in Norway pay a customs fee of 12 percent."
)
_FILLER = (
    "The choir met in the old mill on Thursday evenings and sang until the lamps burned low. "
    "Snow lay on the ridge until the middle of April, and the goats stayed in the lower meadow. "
    "Her grandfather had carved the bench from one ash tree and painted it green. "
)


def _item(answer: str, *texts: str, question: str = "How do returns work?") -> CheckItem:
    passages = tuple(Passage(doc_id=f"d{number}", text=text) for number, text in enumerate(texts))
    return CheckItem(question=question, passages=passages, answer=answer, claims=split_claims(answer))


def _judge(answer: str, *texts: str) -> ClaimJudgement:
    return load_evidence_detector().judge([_item(answer, *texts)])[0][0]


@pytest.mark.parametrize(
    ("true", "false", "decisive"),
    [
        (
            "Orders can be returned within 30 days of delivery.",
            "Orders can be returned within 999 days of delivery.",
            "999",
        ),
        ("You can return an order within 30 days.", "You can return an order within 60 days.", "60"),
        ("A refund of up to $250 is paid to the card.", "A refund of up to $900 is paid to the card.", "$900"),
        (
            "The Northgate warehouse checks every parcel that comes in.",
            "The Eastbrook warehouse checks every parcel that comes in.",
            "Eastbrook",
        ),
        ("Gift cards are not refunded.", "Gift cards are refunded.", "negation"),
        (
            "Customers in Norway pay a customs fee of 12 percent.",
            "Customers in Norway pay a customs fee of 21 percent.",
            "21",
        ),
    ],
)
def test_a_changed_figure_name_or_negation_lowers_support(true: str, false: str, decisive: str) -> None:
    """The false twin of a true claim has less support and more contradiction, and the reason names what decided."""
    good, bad = _judge(true, _POLICY), _judge(false, _POLICY)
    assert good.support is not None
    assert bad.support is not None
    assert good.support > bad.support + 0.05
    assert (good.contradiction or 0) < (bad.contradiction or 0)
    assert decisive in bad.why


_TERMS = (
    "A refund is possible within 30 days of delivery. Opened software is excluded. "
    "The refund is paid to the original card within 5 working days."
)
_LAMPS = "Lamps may be returned within 30 days of delivery."
_FEE = "The monthly fee is 15 EUR."
_PLAN = "Enterprise plan: refunds within 30 days of invoice."
_FOUNDER = "The company was founded by Jonas Berg in 1998."


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("You can return it within 60 days of delivery.", _TERMS),
        ("You can return it within 999 days of delivery.", _TERMS),
        ("You can return a lamp within 90 days.", _LAMPS),
        ("The refund is paid within 12 working days to your original card.", _TERMS),
        ("The fee is 25 EUR per month.", _FEE),
        ("Enterprise refunds are allowed within 45 days.", _PLAN),
        ("Opened software is included.", _TERMS),
        ("Gift cards are refunded.", "Gift cards are not refunded."),
        ("Maria Lopez founded the company in 1998.", _FOUNDER),
        ("The company was founded in 2003.", _FOUNDER),
        ("Support opens at 9:00.", "Support opens at 10:30 on weekdays."),
    ],
)
def test_a_conflict_in_a_plain_sentence_decides(answer: str, text: str) -> None:
    """Another figure, the opposite, a denial or another name in the same place is contradicted, not merely doubted."""
    judged = _judge(answer, text)
    assert (judged.support or 0) <= 0.3
    assert (judged.contradiction or 0) >= 0.5


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("You can return it within 30 days of delivery.", _TERMS),
        ("You can return a lamp within 30 days of delivery.", _LAMPS),
        ("The refund is paid within 5 working days to your original card.", _TERMS),
        ("Opened software cannot be refunded.", _TERMS),
        ("Opened software is not included.", _TERMS),
        ("The fee is 15 EUR per month.", _FEE),
        ("Enterprise refunds are allowed within 30 days.", _PLAN),
        ("Jonas Berg founded the company in 1998.", _FOUNDER),
        ("The trial lasts two weeks.", "The trial lasts 14 days."),
    ],
)
def test_the_same_said_otherwise_is_supported(answer: str, text: str) -> None:
    """Another wording, the opposite of a denial, and the same length of time in another unit are no conflicts."""
    judged = _judge(answer, text)
    assert (judged.support or 0) >= 0.7
    assert (judged.contradiction or 0) < 0.4


def test_a_claim_without_a_shared_word_is_shown_beside_the_nearest_sentence() -> None:
    """The reader sees what the passages say about like amounts or about the question, although nothing supports it."""
    judged = _judge(
        "A handling charge of 5 EUR is kept in that case.",
        "Parcels travel by rail. Shipping costs €12 a parcel.",
        "Snow lay on the ridge.",
    )
    assert (0.0, 0.0) == (judged.support, judged.contradiction)
    assert judged.evidence is not None
    assert (0, "Shipping costs €12 a parcel.") == (judged.evidence.passage, judged.evidence.text)


def test_what_the_passages_do_not_speak_of_is_unsupported() -> None:
    """An off-topic claim contradicts nothing and is not supported either."""
    judged = _judge("The museum was founded by two brothers from Lisbon.", _POLICY)
    assert (judged.support or 0) < 0.5
    assert (judged.contradiction or 0) < 0.5


def test_evidence_points_into_the_passage_that_decided() -> None:
    """Passage, offsets, text and hash of the evidence belong together."""
    judged = _judge("Gift cards are not refunded.", _FILLER, _POLICY)
    assert judged.evidence is not None
    assert (1, "d1", "Gift cards are not refunded.") == (
        judged.evidence.passage,
        judged.evidence.doc_id,
        judged.evidence.text,
    )
    assert judged.evidence.text == _POLICY[judged.evidence.start : judged.evidence.end]


@pytest.mark.parametrize("tokens", [1_000, 4_000, 16_000])
@pytest.mark.parametrize("place", ["start", "middle", "end"])
@pytest.mark.parametrize("is_one_passage", [True, False])
def test_padding_changes_no_judgement(tokens: int, place: str, is_one_passage: bool) -> None:
    """Unrelated text of any length, before or after the evidence, leaves scores and reasons as they are."""
    before = {"start": 0, "middle": tokens // 2, "end": tokens}[place]
    parts = [_padding(before), _POLICY, _padding(tokens - before)]
    texts = ["\n".join(parts)] if is_one_passage else parts
    for answer in (
        "Orders can be returned within 30 days of delivery.",
        "Orders can be returned within 60 days of delivery.",
        "The Eastbrook warehouse checks every parcel.",
        "Gift cards are refunded.",
    ):
        plain, padded = _judge(answer, _POLICY), _judge(answer, *texts)
        assert (plain.support, plain.contradiction, plain.why) == (padded.support, padded.contradiction, padded.why)


def _padding(tokens: int) -> str:
    return _FILLER * (tokens // len(_FILLER.split()))


def test_alone_is_the_same_as_in_a_batch() -> None:
    """Batch mates and their order change nothing."""
    detector = load_evidence_detector()
    items = [
        _item("Orders can be returned within 30 days. Gift cards are refunded.", _POLICY),
        _item("Hello! The fee is 12 percent.", _POLICY, _FILLER),
        _item("The choir sang in the mill.", _FILLER),
        _item("Nothing to see.", ""),
    ]
    alone = [detector.judge([item])[0] for item in items]
    assert alone == detector.judge(items)
    assert alone[::-1] == detector.judge(items[::-1])


def test_claims_that_are_not_factual_get_no_score() -> None:
    """Greetings and questions are outside the score, and every claim has an entry."""
    item = _item("Hello! Orders can be returned within 30 days.", _POLICY)
    judged = load_evidence_detector().judge([item])[0]
    assert len(item.claims) == len(judged)
    assert ClaimJudgement() == judged[0]
    assert judged[1].support is not None


@pytest.mark.parametrize("texts", [(), ("",), ("   \n",), ("!!! ...",)])
def test_empty_passages_support_nothing(texts: tuple[str, ...]) -> None:
    """Without a word of evidence the support is 0, and it is not an error."""
    judged = _judge("Orders can be returned within 30 days.", *texts)
    assert (0.0, 0.0, None) == (judged.support, judged.contradiction, judged.error)


@pytest.mark.parametrize(
    "text", ["\ud83d lone", "a\x00b", "退款政策在三十天内有效。", "🙂" * 500, "١٢٣ ١", "9" * 500, "-$%#[]{}"]
)
def test_hostile_text_is_judged(text: str) -> None:
    """Lone surrogates, NUL, other scripts and giant numbers raise nothing."""
    for answer in (text, f"The fee is {text} today."):
        for judged in load_evidence_detector().judge([_item(answer, text, _POLICY)])[0]:
            assert judged.error is None


def test_json_values_speak_against_a_claim() -> None:
    """``OutdoorSeating: false`` denies outdoor seating."""
    business = json.dumps({"name": "Ada's", "attributes": {"OutdoorSeating": False, "WiFi": "free"}})
    denied = _judge("Ada's offers outdoor seating.", business)
    agreed = _judge("Ada's offers no outdoor seating.", business)
    assert (denied.support or 0) < (agreed.support or 0)


def test_a_superseded_passage_has_no_say_beside_one_in_force() -> None:
    """The old figure stands in the archived version only, so it is not supported."""
    old = Passage(doc_id="r", version="1", text="Orders can be returned within 21 days of delivery.", archived=True)
    new = Passage(doc_id="r", version="2", text="Orders can be returned within 45 days of delivery.")
    answer = "Orders can be returned within 21 days of delivery."
    claims = split_claims(answer)
    detector = load_evidence_detector()
    judged = detector.judge([CheckItem("", (old, new), answer, claims)])[0][0]
    in_force = detector.judge([CheckItem("", (new,), answer, claims)])[0][0]
    assert (in_force.support, in_force.contradiction) == (judged.support, judged.contradiction)
    assert judged.evidence is not None
    assert judged.evidence.passage == 1


def test_two_passages_in_force_that_disagree_show_on_both_sides() -> None:
    """Maximum support and maximum contradiction are kept apart."""
    texts = ("Orders can be returned within 21 days of delivery.", "Orders can be returned within 45 days of delivery.")
    both = _judge("Orders can be returned within 21 days of delivery.", *texts)
    only = _judge("Orders can be returned within 21 days of delivery.", texts[0])
    assert only.support == pytest.approx(both.support, abs=0.02)
    assert (both.contradiction or 0) > (only.contradiction or 0)


def test_a_megabyte_of_passage_is_judged() -> None:
    """Quadratic time would run into the limit that every test has."""
    text = (_POLICY + _FILLER) * 4_000
    judged = EvidenceDetector(load_evidence_detector()._weights).judge(
        [_item("Orders can be returned within 30 days.", text)]
    )[0][0]
    assert judged.error is None
    assert len(text) > 1_000_000


@pytest.mark.parametrize("unit", ["{} days ", "[{}] ", "Name{} ", "not open "])
def test_a_giant_claim_is_judged(unit: str) -> None:
    """Hundreds of kilobytes against passages full of figures; quadratic time would run into every test's limit."""
    text = "".join(unit.format(number) for number in range(80_000))
    claim = Claim(index=0, start=0, end=len(text), text=text, citations=tuple(map(str, range(0, 80_000, 2))))
    passage = Passage(text=" ".join(f"{number}.5 days" for number in range(40_000, 120_000)))
    judged = load_evidence_detector().judge([CheckItem("", (passage,), text, (claim,))])[0][0]
    assert judged.error is None


def test_equal_weights_have_one_fingerprint() -> None:
    """The fingerprint comes from the weights and is the same in every detector that uses them."""
    detector = load_evidence_detector()
    assert detector.fingerprint == EvidenceDetector(detector._weights).fingerprint
    assert detector.fingerprint.startswith("evidence:")
