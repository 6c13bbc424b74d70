"""The queue in front of a model: bounded, shared by callers, and never the loser of a result."""

from collections.abc import Sequence
from threading import Event, Thread
from time import sleep

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.models.batching import Encoded, Entry, Waiting, padded_length, rows_of
from detectors.models.engine import Array, Engine, Failed

lengths = st.lists(st.integers(1, 600), max_size=40)


class EchoModel:
    """Gives back an input's first id; fails on ``poison`` and on batches above ``most`` rows; notes every batch."""

    def __init__(self, poison: int = -1, most: int = 1_000) -> None:
        self.poison, self.most = poison, most
        self.batches: list[tuple[int, int, int]] = []
        self.began, self.may_go = Event(), Event()
        self.may_go.set()

    def __call__(self, inputs: Sequence[Encoded], length: int, rows: int) -> list[Array]:
        """One number an input."""
        self.began.set()
        self.may_go.wait()
        self.batches.append((len(inputs), length, rows))
        if rows > self.most:
            raise MemoryError
        if any(encoded.ids[0] == self.poison for encoded in inputs):
            message = "an input that the model cannot read"
            raise ValueError(message)
        return [np.array([encoded.ids[0]], dtype=np.float32) for encoded in inputs]


def encoded(number: int, length: int = 8) -> Encoded:
    """An input that is known by its first id."""
    return Encoded((number, *(0 for _ in range(length - 1))))


def numbers(results: Sequence[Array | Failed]) -> list[float | str]:
    """What came back, failures by their reason."""
    return [result.reason if isinstance(result, Failed) else float(result[0]) for result in results]


@given(lengths, st.integers(1, 2_000))
def test_every_entry_is_taken_once_and_no_batch_is_over_its_budget(tokens: list[int], budget: int) -> None:
    """Batches are of one padded length; one input alone may be longer than the budget."""
    waiting = Waiting[int]()
    for number, length in enumerate(tokens):
        waiting.add(Entry(encoded(number, length), padded_length(length, 512), number))
    assert sum(padded_length(length, 512) for length in tokens) == waiting.tokens

    taken = []
    while batch := waiting.take(budget):
        assert 1 == len({entry.length for entry in batch})
        assert len(batch) <= rows_of(batch[0].length, budget)
        taken += [entry.ticket for entry in batch]

    assert list(range(len(tokens))) == sorted(taken)
    assert 0 == waiting.tokens


@given(lengths)
def test_the_longest_waiting_leads_the_next_batch(tokens: list[int]) -> None:
    """So nothing starves, however many of another length come behind it."""
    waiting = Waiting[int]()
    left = dict(enumerate(tokens))
    for number, length in left.items():
        waiting.add(Entry(encoded(number, length), padded_length(length, 512), number))

    while batch := waiting.take(1_024):
        assert min(left) == batch[0].ticket
        for entry in batch:
            del left[entry.ticket]


@given(st.integers(1, 4_096), st.integers(64, 4_096))
def test_padding_depends_on_the_length_alone_and_is_small(tokens: int, ceiling: int) -> None:
    """Never shorter than the input, never above the model's longest, never more than an eighth and seven beside it."""
    padded = padded_length(tokens, ceiling)

    assert tokens <= padded <= max(ceiling, tokens)
    assert padded - tokens <= max(7, tokens // 8)


def test_results_come_back_in_order() -> None:
    """Though inputs of one length go together."""
    engine = Engine(EchoModel(), batch_tokens=64, queue_tokens=10_000, ceiling=512)
    inputs = [encoded(number, 8 + 16 * (number % 5)) for number in range(50)]

    assert [float(number) for number in range(50)] == numbers(engine.run(inputs))
    assert [] == engine.run([])


def test_an_input_that_fails_costs_itself_alone() -> None:
    """Its batch is halved until it stands alone; the kind of error is kept, not its text."""
    engine = Engine(EchoModel(poison=5), batch_tokens=1_000, queue_tokens=10_000, ceiling=512)

    results = numbers(engine.run([encoded(number) for number in range(9)]))

    assert [0.0, 1.0, 2.0, 3.0, 4.0, "ValueError", 6.0, 7.0, 8.0] == results
    assert 1 == engine.load.failed


@pytest.mark.parametrize("fixed_rows", [False, True], ids=["as-they-come", "fixed-rows"])
def test_too_little_memory_costs_nothing(*, fixed_rows: bool) -> None:
    """A batch that is too large is run in parts, without filling rows up again."""
    model = EchoModel(most=3)
    engine = Engine(model, batch_tokens=512, queue_tokens=10_000, ceiling=512, fixed_rows=fixed_rows)

    assert [float(number) for number in range(16)] == numbers(engine.run([encoded(number) for number in range(16)]))


def test_numbers_that_are_none_are_a_failure() -> None:
    """NaN is never a score."""

    def broken(inputs: Sequence[Encoded], length: int, rows: int) -> list[Array]:
        return [np.array([np.nan if one.ids[0] == 1 else 0.5], dtype=np.float32) for one in inputs]

    engine = Engine(broken, batch_tokens=64, queue_tokens=1_000, ceiling=512)

    assert [0.5, "NotFinite", 0.5] == numbers(engine.run([encoded(number) for number in range(3)]))


def test_a_model_that_loses_a_result_is_a_failure() -> None:
    """Too few results are never put beside the wrong input."""

    def short(inputs: Sequence[Encoded], length: int, rows: int) -> list[Array]:
        return [np.zeros(1, dtype=np.float32)] * (len(inputs) - 1)

    engine = Engine(short, batch_tokens=64, queue_tokens=1_000, ceiling=512)

    assert ["ValueError", "ValueError"] == numbers(engine.run([encoded(0), encoded(1)]))


def test_rows_are_filled_up_where_shapes_matter() -> None:
    """Every batch of a length has the same number of rows, so that a score does not depend on how many came."""
    model = EchoModel()
    engine = Engine(model, batch_tokens=256, queue_tokens=1_000, ceiling=512, fixed_rows=True)

    engine.run([encoded(0)])
    engine.run([encoded(number) for number in range(3)])

    assert [(1, 64, 4), (3, 64, 4)] == model.batches


def test_callers_wait_while_the_queue_is_full() -> None:
    """What waits never exceeds the bound, and everything is answered once the model goes on."""
    model = EchoModel()
    model.may_go.clear()
    engine = Engine(model, batch_tokens=16, queue_tokens=64, ceiling=512)
    results: dict[int, list[float | str]] = {}

    def call(caller: int) -> None:
        results[caller] = numbers(engine.run([encoded(caller * 100 + number) for number in range(20)]))

    callers = [Thread(target=call, args=(caller,)) for caller in range(4)]
    for thread in callers:
        thread.start()
    seen = [engine.load.waiting_tokens for _ in range(200)]
    model.may_go.set()
    for thread in callers:
        seen.append(engine.load.waiting_tokens)
        thread.join(timeout=60)

    assert max(seen) <= 64
    assert {caller: [float(caller * 100 + number) for number in range(20)] for caller in range(4)} == results
    assert 80 == engine.load.inputs


def test_one_input_above_the_bound_is_let_in_alone() -> None:
    """Or it would wait for ever."""
    engine = Engine(EchoModel(), batch_tokens=16, queue_tokens=16, ceiling=512)

    assert [1.0, 2.0, 3.0] == numbers(engine.run([encoded(1, 300), encoded(2, 8), encoded(3, 300)]))


def test_inputs_of_several_callers_share_a_batch() -> None:
    """While the model is busy, what comes from any trace waits together."""
    model = EchoModel()
    model.may_go.clear()
    engine = Engine(model, batch_tokens=1_024, queue_tokens=10_000, ceiling=512)
    callers = [Thread(target=engine.run, args=([encoded(number)],)) for number in range(6)]
    callers[0].start()
    model.began.wait()
    for thread in callers[1:]:
        thread.start()
    while engine.load.waiting_tokens < 8 * 5:
        sleep(0.001)
    model.may_go.set()
    for thread in callers:
        thread.join(timeout=60)

    assert [1, 5] == [count for count, _, _ in model.batches]
