"""Workers that share an hourly budget: in any order, with the store away at any moment, they never spend more."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.layers import Payer, Spent
from sampling.budget import ALIVE, hour_of
from schemas.errors import StoreUnavailable
from schemas.labels import Layer, RiskTier
from schemas.policy import PolicyDocument
from schemas.routes import Budget, Route
from schemas.spend import BudgetShare, Spend, SpendSum
from streams.spend import Spending
from tests.builders import NOW
from tests.fakes_spend import MemorySpending

LIMIT, OWN_LIMIT = 200, 80
OWN = Route(intent="refunds", budget=Budget(tokens_per_hour=OWN_LIMIT))
DOCUMENT = PolicyDocument(name="p", budget=Budget(tokens_per_hour=LIMIT), routes=(OWN, Route()))
FREE = (Payer("t-1", "refunds", RiskTier.HIGH, Route()), Payer("t-2", "billing", RiskTier.LOW, Route()))
PAYERS = (Payer("t-1", "refunds", RiskTier.HIGH, OWN), Payer("t-2", "billing", RiskTier.LOW, Route()))
HOUR = timedelta(hours=1)


class FlakySpending(MemorySpending):
    """The shared rows; each operation first takes the next of ``answers``: False is a store that does not answer.

    A number is the worker of ``others`` that meets the store in between, before the operation is done.
    """

    def __init__(self, answers: Sequence[bool | int] = ()) -> None:
        super().__init__()
        self._answers = list(answers)
        self.others: Sequence[Spending] = ()
        self._is_between = False

    def last_seen(self, every: Sequence[Spending]) -> datetime:
        """When the worker that was silent for longest last wrote."""
        written = {row.worker: row.written_at for row in super().shares(NOW - HOUR)}
        return min(written.get(one.worker, NOW) for one in every)

    def _ask(self) -> None:
        answer = self._answers.pop() if self._answers else True
        if answer is False:
            raise StoreUnavailable("away")
        if answer is not True and self.others and not self._is_between:
            self._is_between = True
            other = self.others[answer % len(self.others)]
            if not other._meeting.locked():
                other.meet()
            self._is_between = False

    def insert(self, rows: Sequence[Spend], rev: int) -> None:
        """As a store that may be away."""
        self._ask()
        super().insert(rows, rev)

    def insert_shares(self, rows: Sequence[BudgetShare], rev: int) -> None:
        """As a store that may be away."""
        self._ask()
        super().insert_shares(rows, rev)

    def shares(self, since: datetime) -> list[BudgetShare]:
        """As a store that may be away."""
        self._ask()
        return super().shares(since)


class Shared:
    """What several workers call a store."""

    def __init__(self, spending: MemorySpending) -> None:
        self.spending = spending


class Clock:
    """A clock that is moved on."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        """The time."""
        return self.now


def workers(store: MemorySpending, clock: Clock, count: int, document: PolicyDocument = DOCUMENT) -> list[Spending]:
    """Processes on one store."""
    return [
        Spending(Shared(store), lambda: document, f"w-{number}", clock, workers=count)  # type: ignore[arg-type]
        for number in range(count)
    ]


STEPS = st.lists(
    st.tuples(
        st.integers(0, 3),  # which worker
        st.integers(0, 1),  # which payer
        st.integers(1, 60),  # tokens reserved
        st.floats(0, 1),  # share of them that is spent
        st.sampled_from([0, 1, 7, 61, 400]),  # seconds until the next step
        st.booleans(),  # whether it settles at once, or at the end
    ),
    min_size=20,
    max_size=60,
)


@given(st.integers(1, 4), STEPS, st.lists(st.sampled_from([True, False, 0, 1, 2, 3]), max_size=200))
@settings(deadline=None, max_examples=60)
def test_workers_together_never_spend_more_than_the_budget(
    count: int, steps: list[tuple[int, int, int, float, int, bool]], answers: list[bool | int]
) -> None:
    """In no hour and no pot, what is reserved counted in: also while the store is away for some, or in mid-meeting.

    Workers that stay away from the store for longer than they count as alive are another matter (below).
    """
    clock, store = Clock(), FlakySpending(answers)
    store.others = every = workers(store, clock, count)
    spent: Counter[tuple[datetime, str]] = Counter()
    open_calls: list[tuple[Spending, Payer, int]] = []
    for number, who, tokens, share, seconds, settles_now in steps:
        clock.now += timedelta(seconds=min(seconds, 90))
        for one in every:
            if one._met_at is None or clock.now - one._met_at >= timedelta(minutes=1):
                one.meet()
        if clock.now - store.last_seen(every) > ALIVE - timedelta(seconds=90):
            break
        worker, payer = every[number % count], PAYERS[who]
        if worker.may_spend(Layer.L3, payer, tokens, 0.0):
            hour = hour_of(clock.now)
            spent[hour, "all"] += tokens
            if payer.route is OWN:
                spent[hour, "own"] += tokens
            if settles_now:
                used = int(tokens * share)
                worker.settle(Layer.L3, payer, tokens, Spent(calls=1, tokens_in=used))
                spent[hour, "all"] -= tokens - used
                if payer.route is OWN:
                    spent[hour, "own"] -= tokens - used
            else:
                open_calls.append((worker, payer, tokens))
        assert all(value <= (LIMIT if pot == "all" else OWN_LIMIT) for (_, pot), value in spent.items())
    for worker, payer, tokens in open_calls:
        worker.settle(Layer.L3, payer, tokens, Spent(calls=1, tokens_in=tokens))


@given(st.integers(1, 4), STEPS)
@settings(deadline=None, max_examples=20)
def test_everything_that_was_spent_is_booked_once(
    count: int, steps: list[tuple[int, int, int, float, int, bool]]
) -> None:
    """Whatever fell away in between: the sums in the store are those of what was settled, minute by minute."""
    clock, store = Clock(), FlakySpending([True, False, True] * 40)
    every = workers(store, clock, count, PolicyDocument(name="free"))
    paid = 0
    for number, who, tokens, share, seconds, _ in steps:
        clock.now += timedelta(seconds=seconds)
        worker, used = every[number % count], int(tokens * share)
        assert worker.may_spend(Layer.L3, FREE[who], tokens, 0.0)
        worker.settle(Layer.L3, FREE[who], tokens, Spent(calls=1, tokens_in=used))
        paid += used
    store._answers = []
    for worker in every:
        worker.meet()
    sums: list[SpendSum] = store.sums(NOW - HOUR, clock.now + HOUR, step=HOUR)
    assert (len(steps), paid) == (sum(row.cost.calls for row in sums), sum(row.cost.tokens for row in sums))
