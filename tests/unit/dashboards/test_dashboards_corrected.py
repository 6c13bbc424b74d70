"""The estimated true rate on the overview: beside the apparent one, and only with enough labels."""

from datetime import timedelta

from schemas.labels import Outcome
from schemas.review import ReviewLabel, ReviewStratum
from tests.builders import NOW, tally, traffic_tally
from tests.builders_golden import review_label
from tests.unit.dashboards.fake_store import FakeStore
from tests.unit.dashboards.page_reader import get

HOUR = timedelta(hours=1)
HARM = "<script>alert(1)</script>"


def labels(flagged: int, unflagged: int, **fields: object) -> list[ReviewLabel]:
    """Half of the flagged answers are bad, none of the others."""
    given = {"ts": NOW - 2 * HOUR, "at": NOW - HOUR, "fingerprint": tally().fingerprint, **fields}
    return [
        review_label(
            Outcome.HALLUCINATED if stratum is ReviewStratum.FLAGGED and n % 2 else Outcome.GROUNDED,
            f"{stratum}-{n}",
            stratum=stratum,
            **given,
        )
        for stratum, count in ((ReviewStratum.FLAGGED, flagged), (ReviewStratum.UNFLAGGED, unflagged))
        for n in range(count)
    ]


def store(given: list[ReviewLabel]) -> FakeStore:
    """A slice of which a tenth is flagged."""
    when = NOW - 2 * HOUR
    return FakeStore(rows=[traffic_tally(5000, bucket=when), tally(1000, 100, bucket=when)], labels=given)


async def test_enough_labels_show_the_estimated_true_rate() -> None:
    """Of all slices and in the row of the slice, beside the apparent one."""
    page = await get(store(labels(60, 140)), "/")
    text = page.text
    assert [part for part in ("Estimated true rate 5.0 %", "from 200 labels", "apparent") if part not in text] == []
    assert "estimated true 5.0 %" in text


async def test_few_labels_show_how_many_are_missing() -> None:
    """And no rate; labels of other days or detectors do not count."""
    for given in (
        labels(10, 20),
        labels(60, 140, fingerprint="other"),
        labels(60, 140, ts=NOW - timedelta(days=40)),
        [],
    ):
        text = (await get(store(given), "/")).text
        assert ("Estimated true rate" in text, "labels are missing" in text) == (False, True)
    assert (
        "170 labels are missing (50 on flagged answers, 120 on others)" in (await get(store(labels(10, 20)), "/")).text
    )


async def test_disagreements_are_told() -> None:
    """With the command that lists them."""
    given = labels(60, 140)
    given.append(given[0].model_copy(update={"reviewer": HARM, "answer_label": Outcome.UNCLEAR}))
    page = await get(store(given), "/")
    assert "On one answer reviewers disagree" in page.text
    assert HARM not in page.body


async def test_a_reader_of_one_tenant_sees_no_corrected_rate() -> None:
    """The rates of the page are of all tenants, and labels of one do not correct them."""
    page = await get(store(labels(60, 140)), "/", tenants=frozenset({"acme"}))
    assert "labels are missing" not in page.text
    assert "Estimated true" not in page.text
