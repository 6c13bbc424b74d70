"""The purse of a process: hours, pots, a store that is away, threads."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from detectors.layers import Payer, Spent
from sampling.budget import NOTHING
from schemas.errors import RowRejected, StoreUnavailable
from schemas.labels import Layer, RiskTier
from schemas.policy import PolicyDocument
from schemas.routes import Budget, Route
from schemas.spend import ALL, BudgetShare
from streams.spend import OpenPurse, Spending, purse_of, spending_of
from tests.builders import NOW
from tests.fakes_spend import MemorySpending
from tests.fakes_store import MemoryStore

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
PAYER = Payer("t-1", "refunds", RiskTier.HIGH, Route())


@dataclass
class World:
    """A clock, a policy and a store that workers share; ``fault`` is raised by every write when set."""

    now: datetime = NOW
    document: PolicyDocument = field(default_factory=lambda: budget(tokens_per_hour=900))
    store: MemoryStore = field(default_factory=MemoryStore)

    def worker(self, workers: int = 1) -> Spending:
        """A process."""
        return spending_of(self.store, lambda: self.document, workers=workers, now=lambda: self.now)  # type: ignore[arg-type]

    def fails(self, error: Exception | None) -> None:
        """The store is away, or refuses every row; None: it is back."""

        def raising(*_: object) -> None:
            if error is not None:
                raise error

        spending = self.store.spending
        for name in ("insert", "insert_shares", "shares"):
            method = raising if error else getattr(MemorySpending, name).__get__(spending)
            setattr(spending, name, method)


def budget(**fields: float) -> PolicyDocument:
    """A policy with a budget for all."""
    return PolicyDocument(name="p", budget=Budget(**fields))


def spends(worker: Spending, tokens: int, payer: Payer = PAYER) -> bool:
    """Whether a call of so many tokens was paid for; it then used all of them."""
    purse = purse_of(worker, Layer.L3)
    if not purse.may_spend(payer, tokens):
        return False
    purse.settle(payer, tokens, Spent(calls=1, tokens_in=tokens))
    return True


def spent_until_refused(worker: Spending, world: World, tokens: int = 10) -> int:
    """What it spends in a minute of the hour, looking again each six seconds."""
    total = 0
    for _ in range(10):
        world.now += timedelta(seconds=6)
        while spends(worker, tokens):
            total += tokens
    return total


def test_what_is_reserved_is_not_left() -> None:
    """Until it is settled: then only what was used is gone."""
    world = World()
    worker = world.worker()
    purse = purse_of(worker, Layer.L3)
    assert purse.may_spend(PAYER, 450)
    assert not purse.may_spend(PAYER, 450)
    purse.settle(PAYER, 450, Spent(calls=1, tokens_in=40, tokens_out=10))
    assert purse.may_spend(PAYER, 400)


def test_lone_worker_can_spend_the_whole_budget_and_no_more() -> None:
    """It takes a part at a time, so that another that starts finds something."""
    world = World()
    worker = world.worker()
    total = sum(spent_until_refused(worker, world) for _ in range(5))
    assert 880 <= total <= 900


def test_burst_is_paid_for_while_there_is_money() -> None:
    """Within a moment: a share that is used up is asked for again as long as there is some."""
    world = World()
    worker = world.worker()
    total = 0
    while spends(worker, 10):
        total += 10
    assert 870 <= total <= 900


def test_worker_that_gets_nothing_asks_every_five_seconds_at_most() -> None:
    """Refusals are cheap: there may be many, and each look takes the store's time."""
    world = World()
    worker = world.worker()
    while spends(worker, 10):
        pass
    asked: list[datetime] = []
    read = world.store.spending.shares

    def noted(since: datetime) -> list[BudgetShare]:
        asked.append(world.now)
        return read(since)

    world.store.spending.shares = noted  # type: ignore[method-assign]
    for _ in range(40):
        world.now += timedelta(seconds=1)
        assert not spends(worker, 10)
    assert 2 * 8 >= len(asked) > 2


def test_budget_begins_anew_with_the_clock_hour() -> None:
    """In UTC, whatever was spent before."""
    world = World()
    worker = world.worker()
    first = sum(spent_until_refused(worker, world) for _ in range(5))
    world.now = NOW + HOUR
    assert spends(worker, 400)
    assert first > 400


def test_worker_that_starts_later_finds_something() -> None:
    """At once: claims of its first minute are not left unjudged while there is money."""
    world = World()
    first, second = world.worker(), world.worker()
    assert spends(first, 10)
    assert spends(second, 200)


def test_idle_worker_leaves_its_part_to_the_others() -> None:
    """In the end nearly everything is spent by the one that has work."""
    world = World()
    busy, idle = world.worker(), world.worker()
    idle.meet()
    total = 0
    for _ in range(20):
        total += spent_until_refused(busy, world)
        idle.meet()
    assert 850 <= total <= 900


def test_without_the_store_each_worker_gets_its_part_of_the_limit() -> None:
    """Two were seen alive; in an hour for which neither could read, each spends up to half."""
    world = World()
    pair = [world.worker(), world.worker()]
    for worker in (*pair, *pair):
        worker.meet()
    world.fails(StoreUnavailable("away"))
    world.now = NOW + HOUR
    totals = [0, 0]
    for place, worker in enumerate(pair):
        while spends(worker, 10):
            totals[place] += 10
    assert [450, 450] == totals


def test_worker_that_alone_has_lost_the_store_has_its_part_kept_for_it() -> None:
    """The other reads the store and sees that this one is alive and has not said how far it goes."""
    world = World(now=NOW + 59 * MINUTE)
    lost, other = world.worker(), world.worker()
    for worker in (lost, other, lost, other):
        worker.meet()
    world.now = NOW + HOUR
    total = spent_until_refused(other, world)
    world.fails(StoreUnavailable("away"))
    world.now = NOW + HOUR + 2 * MINUTE
    while spends(lost, 10):
        total += 10
    assert 850 <= total <= 900


def test_worker_looks_again_after_it_has_written() -> None:
    """Two that came in between have taken what it meant to take."""
    world = World()
    slow, quick, last = world.worker(), world.worker(), world.worker()
    write = world.store.spending.insert_shares

    def late(rows: Sequence[BudgetShare], rev: int) -> None:
        world.store.spending.insert_shares = write  # type: ignore[method-assign]
        quick.meet()
        last.meet()
        write(rows, rev)

    world.store.spending.insert_shares = late  # type: ignore[method-assign]
    slow.meet()
    may = [worker.account.balance(NOW, ALL).may or NOTHING for worker in (slow, quick, last)]
    assert 900 >= sum(one.tokens for one in may)
    assert all(one.tokens > 0 for one in may)


def test_worker_that_loses_the_store_stays_within_its_share() -> None:
    """And books what it spent meanwhile once the store is back."""
    world = World()
    worker = world.worker()
    worker.meet()
    share = worker.account.balance(NOW, ALL).may
    world.fails(StoreUnavailable("away"))
    total = spent_until_refused(worker, world)
    assert share is not None
    assert total <= share.tokens
    world.fails(None)
    worker.meet()
    sums = world.store.spending.sums(NOW, NOW + HOUR, step=HOUR)
    assert [total] == [row.cost.tokens for row in sums]


def test_hour_in_which_a_call_was_made_is_charged_when_it_ends_later() -> None:
    """So that each hour's budget counts what was allowed in it."""
    world = World(now=NOW + 59 * MINUTE)
    worker = world.worker()
    purse = purse_of(worker, Layer.L3)
    assert purse.may_spend(PAYER, 100)
    world.now = NOW + 61 * MINUTE
    purse.settle(PAYER, 100, Spent(calls=1, tokens_in=90, took_ms=5.0))
    worker.meet()
    (row,) = world.store.spending.sums(NOW, NOW + 2 * HOUR, step=MINUTE)
    assert (NOW + 59 * MINUTE, 90) == (row.start, row.cost.tokens)
    assert spends(worker, 400)


def test_route_pays_from_its_own_pot_and_from_the_one_of_all() -> None:
    """Its own ends first; other routes go on."""
    own = Route(intent="refunds", budget=Budget(tokens_per_hour=100))
    world = World(document=PolicyDocument(name="p", budget=Budget(tokens_per_hour=900), routes=(own, Route())))
    worker = world.worker()
    assert not spends(worker, 110, Payer("t-1", "refunds", RiskTier.HIGH, own))
    assert spends(worker, 40, Payer("t-1", "refunds", RiskTier.HIGH, own))
    assert spends(worker, 110, Payer("t-2", "billing", RiskTier.HIGH, Route()))


def test_route_of_an_earlier_policy_pays_as_that_one_said() -> None:
    """A trace that comes late is judged by the policy of its time."""
    world = World()
    worker = world.worker()
    old = Route(intent="gone", budget=Budget(tokens_per_hour=100))
    assert not spends(worker, 110, Payer("t-1", "gone", RiskTier.HIGH, old))


def test_money_is_reserved_at_the_price_of_the_layer() -> None:
    """A budget of money alone: 0.0009 dollars are 900 tokens at a dollar a million."""
    world = World(document=budget(usd_per_hour=0.0009))
    purse = purse_of(world.worker(), Layer.L4, usd_per_million=1.0)
    assert not purse.may_spend(PAYER, 901)
    assert purse.may_spend(PAYER, 400)


def test_lower_budget_of_a_new_policy_holds_at_once() -> None:
    """And a higher one within seconds."""
    world = World()
    worker = world.worker()
    assert spends(worker, 100)
    world.document = budget(tokens_per_hour=120)
    assert not spends(worker, 100)
    world.document = budget(tokens_per_hour=5_000)
    world.now += timedelta(seconds=6)
    assert spends(worker, 1_000)


def test_without_a_budget_all_is_paid_and_booked() -> None:
    """Cost is known before anybody sets a limit."""
    world = World(document=budget())
    worker = world.worker()
    assert all(spends(worker, 10_000) for _ in range(20))
    assert 200_000 == worker.totals()[Layer.L3].tokens


def test_refused_calls_are_counted_with_what_they_would_have_cost() -> None:
    """Demand is what was spent and what was refused: by it the next hour's probability is found."""
    world = World(document=budget(tokens_per_hour=0))
    worker = world.worker()
    assert not spends(worker, 70)
    worker.meet()
    (row,) = world.store.spending.sums(NOW, NOW + HOUR, step=HOUR)
    assert (1, 70, 0) == (row.cost.refused, row.cost.refused_tokens, row.cost.tokens)


def test_answers_from_the_cache_are_booked_without_a_reservation() -> None:
    """They cost nothing."""
    world = World()
    worker = world.worker()
    purse_of(worker, Layer.L3).settle(PAYER, 0, Spent(cached=3))
    worker.meet()
    (row,) = world.store.spending.sums(NOW, NOW + HOUR, step=HOUR)
    assert (3, 0) == (row.cost.cached, row.cost.tokens)


def test_worker_that_leaves_gives_back_what_it_has_not_spent() -> None:
    """A deploy replaces all workers within the hour."""
    world = World()
    first = world.worker()
    assert spends(first, 100)
    first.leave()
    held = [share for share in world.store.spending.shares(NOW) if share.pot == ALL]
    assert [(100.0, 100.0)] == [(share.tokens, share.may_tokens) for share in held]


def test_worker_that_died_is_forgotten_after_five_minutes() -> None:
    """What it had not spent is shared among the others."""
    world = World()
    dead, other = world.worker(), world.worker()
    dead.meet()
    total = 0
    for _ in range(12):
        total += spent_until_refused(other, world)
    assert 880 <= total <= 900


def test_rows_that_the_store_refuses_wedge_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """They are given up with an error in the log."""
    world = World()
    worker = world.worker()
    assert spends(worker, 10)
    world.fails(RowRejected("no"))
    world.now += MINUTE
    worker.meet()
    assert [] == worker.account.rows("w")
    assert "spend_rejected" in capsys.readouterr().out


def test_time_waited_is_measured_where_the_layer_does_not_say() -> None:
    """From the reservation on; the sum, and the longest wait."""
    world = World()
    worker = world.worker()
    purse = purse_of(worker, Layer.L3)
    for seconds, told in ((2, 0.0), (1, 0.0), (9, 500.0)):
        assert purse.may_spend(PAYER, 10)
        world.now += timedelta(seconds=seconds)
        purse.settle(PAYER, 10, Spent(calls=1, tokens_in=1, took_ms=told))
    cost = worker.totals()[Layer.L3]
    assert (3_500.0, 2_000.0) == (cost.took_ms, cost.slowest_ms)


def test_many_threads_share_a_purse() -> None:
    """Reservations are whole: nothing is spent twice."""
    world = World()
    worker = world.worker()
    purse = purse_of(worker, Layer.L3)
    paid: list[int] = []

    def work(number: int) -> None:
        payer = Payer(f"t-{number}", "refunds", RiskTier.HIGH, Route())
        for _ in range(50):
            if purse.may_spend(payer, 7):
                purse.settle(payer, 7, Spent(calls=1, tokens_in=7))
                paid.append(7)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(paid) <= 900
    assert sum(paid) == worker.totals()[Layer.L3].tokens
    assert 16 * 50 - len(paid) == worker.totals()[Layer.L3].refused


@pytest.mark.parametrize("make", [OpenPurse, lambda: purse_of(None, Layer.L3)], ids=["open", "without books"])
def test_commands_pay_for_everything_and_keep_no_books(make: Callable[[], OpenPurse]) -> None:
    """A person who starts one sees what it costs."""
    purse = make()
    assert purse.may_spend(PAYER, 10**9)
    purse.settle(PAYER, 10**9, Spent(calls=1))
