"""The rebuilt tallies against the truth, over deliveries as a broker and late spans make them."""

import random
from collections.abc import Iterator
from datetime import timedelta

import pytest

from schemas.draw import DrawnTrace
from schemas.labels import ClaimLabel, FailureLabel, Outcome, RiskTier
from schemas.tally import Tally
from schemas.verdict import Verdict
from streams.store import Store
from tests.builders import NOW, claim_verdict, draw, drawn_trace, screening, trace, verdict, versions
from tests.chdb_path import open_empty_store
from tests.true_tallies import cell_key, summed, true_tallies

pytestmark = pytest.mark.integration
DAYS = 20
TRACES = 900
BATCH = 300
HOUR = timedelta(hours=1)
Delivery = DrawnTrace | Verdict


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty store on the embedded engine."""
    opened = open_empty_store()
    yield opened
    opened.close()


def some_trace(dice: random.Random, number: int) -> DrawnTrace:
    """One of the traces over twenty days, every fifth within one busy hour of many versions."""
    is_busy = number % 5 == 0
    ts = NOW - (timedelta(minutes=dice.uniform(0, 59)) if is_busy else timedelta(days=dice.uniform(0.1, DAYS)))
    probability = dice.choice([0.2, 0.5, 1.0])
    u = dice.random()
    return drawn_trace(
        trace=trace(
            f"t-{number}",
            ts=ts,
            intent=dice.choice(["refunds", "billing", "näh ✓"]),
            tier=dice.choice(list(RiskTier)),
            versions=versions(model=f"m-{dice.randrange(30 if is_busy else 3)}", corpus=""),
        ),
        draw=draw(
            stratum=dice.choice(["rest", "low_score"]),
            u=u,
            inclusion_probability=probability,
            min_probability=0.2,
            policy_id=dice.choice(["p-1", "p-2"]),
            drawn=u < probability,
        ),
        screening=screening(
            is_empty_retrieval=dice.random() < 0.1,
            failures=(FailureLabel.CITATION_MISSING,) if dice.random() < 0.1 else (),
        ),
    )


def some_verdict(dice: random.Random, row: DrawnTrace, fingerprint: str, minute: int) -> Verdict:
    """A verdict of any outcome, with up to four claims."""
    outcome = dice.choice(list(Outcome))
    labels = [dice.choice(list(ClaimLabel)) for _ in range(dice.randrange(5))]
    return verdict(
        row.trace.trace_id,
        outcome,
        ts=row.trace.ts,
        revision=row.trace.revision,
        intent=row.trace.intent,
        tier=row.trace.tier,
        fingerprint=fingerprint,
        score=dice.choice([None, 0.0, 0.3, 0.7, 1.0, dice.random()]),
        claims=tuple(claim_verdict(label) for label in labels),
        failures=(FailureLabel.OVER_REFUSAL,) if dice.random() < 0.1 else (),
        verified_at=NOW + timedelta(minutes=minute),
    )


def deliveries(dice: random.Random) -> list[Delivery]:
    """Shuffled: duplicates, revisions with changed intents, redone verdicts, two detectors."""
    rows: list[Delivery] = []
    for number in range(TRACES):
        first = some_trace(dice, number)
        rows.append(first)
        if dice.random() < 0.3:
            rows.append(first)
        newest = first
        if dice.random() < 0.1:
            moved = first.trace.model_copy(update={"revision": 2, "intent": "moved"})
            newest = first.model_copy(update={"trace": moved})
            rows.append(newest)
        if dice.random() < 0.8:
            rows.append(some_verdict(dice, first, "a", 0))
            rows.append(some_verdict(dice, newest, "a", 1))
        if dice.random() < 0.2:
            rows.append(some_verdict(dice, newest, "b", 2))
    dice.shuffle(rows)
    return rows


def insert(store: Store, rows: list[Delivery]) -> None:
    """One batch of each kind."""
    store.insert_traces([row for row in rows if isinstance(row, DrawnTrace)])
    store.insert_verdicts([row for row in rows if isinstance(row, Verdict)])


def wrong_cells(truth: list[Tally], found: list[Tally]) -> list[str]:
    """Cells that differ, sums of weights compared to nine digits."""
    expected, got = {cell_key(row): row for row in truth}, {cell_key(row): row for row in found}
    return [str(key) for key in expected.keys() | got.keys() if not is_equal(expected.get(key), got.get(key))]


def is_equal(one: Tally | None, other: Tally | None) -> bool:
    """Equal in every count, and in sums but for the order of adding."""
    if one is None or other is None:
        return False
    sums = ("sum_w", "sum_wk", "sum_w2", "hallucinated", "nested_hallucinated")
    plain = dict.fromkeys(sums, 0.0)
    is_close = all(getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9) for name in sums)
    return is_close and one.model_copy(update=plain) == other.model_copy(update=plain)


def test_no_cell_is_wrong_after_shuffled_repeated_late_and_redone_deliveries(store: Store) -> None:
    """Rebuilding after every few batches gives the tallies of the last state, in 5 minutes and in hours."""
    dice = random.Random(7)
    rows = deliveries(dice)
    for start in range(0, len(rows), BATCH):
        insert(store, rows[start : start + BATCH])
        if dice.random() < 0.5:
            store.rebuild_tallies(NOW)
    store.rebuild_tallies(NOW)
    truth = true_tallies(
        [row for row in rows if isinstance(row, DrawnTrace)], [row for row in rows if isinstance(row, Verdict)]
    )
    since, until = NOW - timedelta(days=DAYS + 1), NOW + timedelta(days=1)
    assert [] == wrong_cells(truth, store.tallies(since, until))
    hourly = summed(truth, step=HOUR, by_policy=False)
    assert [] == wrong_cells(hourly, store.tallies(since, until, step=HOUR))
    assert any(row.versions.model == "other" for row in truth)


def test_an_insert_that_was_running_during_a_rebuild_is_counted_by_the_next(store: Store) -> None:
    """Rows noted up to two minutes before the last rebuild are looked at again."""
    store.insert_traces([drawn_trace("a")])
    store.rebuild_tallies(NOW)
    # What a slow insert leaves: its rows, and a note older than the rebuild that did not see them.
    store.insert_traces([drawn_trace("b", ts=NOW + timedelta(hours=1))])
    store._connection.command("TRUNCATE TABLE dirty")
    store._connection.command(
        "INSERT INTO dirty SELECT toDateTime({bucket:UInt32}, 'UTC'), now64(3, 'UTC') - INTERVAL 100 SECOND",
        {"bucket": int((NOW + timedelta(hours=1)).timestamp())},
    )
    store.rebuild_tallies(NOW)
    assert 2 == sum(row.traffic for row in store.tallies(NOW, NOW + timedelta(days=1)))


def test_a_rebuild_cut_off_half_way_is_done_again(store: Store) -> None:
    """Without the mark of a finished rebuild its rows do not count as progress, and no reader is told of them."""
    rows = [drawn_trace("a"), drawn_trace("b", ts=NOW - timedelta(days=3))]
    store.insert_traces(rows)
    store.rebuild_tallies(NOW)
    store._connection.command("TRUNCATE TABLE rebuilds")
    store._connection.command("TRUNCATE TABLE tallies_1h")
    assert ([], 0) == store.changed_buckets(0)
    report = store.rebuild_tallies(NOW)
    assert 2 == report.buckets
    assert 2 == sum(row.traffic for row in store.tallies(NOW - timedelta(days=4), NOW + HOUR, step=HOUR))


def test_buckets_older_than_raw_rows_may_be_are_not_rebuilt(store: Store) -> None:
    """A late row in a bucket whose raw rows were dropped must not shrink its tally to itself."""
    store.insert_traces([drawn_trace()])
    far = NOW + timedelta(days=3650)
    assert 0 == store.rebuild_tallies(far).buckets
    assert 1 == store.rebuild_tallies(NOW).buckets


def test_a_second_rebuilder_goes_on_where_the_first_ended(store: Store) -> None:
    """Progress is in the store: generations rise over instances and nothing is forgotten."""
    store.insert_traces([drawn_trace("a")])
    first = store.rebuild_tallies(NOW).generation
    second = Store(store._connection)
    second.insert_traces([drawn_trace("b")])
    assert first < second.rebuild_tallies(NOW).generation
    assert 2 == sum(row.traffic for row in store.tallies(NOW, NOW + timedelta(hours=1)))
