"""The store is away: for long, at start, by refusals, silence, lost answers; nothing is lost or counted twice.

One worker on Apache Kafka, with ClickHouse over HTTP behind a relay that is cut. The engine's buffers are made small,
so that they are full within the outage, as those of a busy product are.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.scene import Scene, scene
from tests.chaos.workers import engine, lines

pytestmark = [pytest.mark.integration, pytest.mark.kafka, pytest.mark.timeout(900)]
BUFFER = 50
OUTAGE_SECONDS = 8.0


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Broker, store and a worker whose buffers hold 50 messages."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    more = {"CHAOS_ENGINE": engine(stream_buffer_maxsize=BUFFER), "GROUNDWATCH_INGEST__BATCH_SIZE": "20"}
    with scene(tmp_path_factory.mktemp("store"), home, count=1, more=more) as made:
        yield made


def test_a_store_that_is_away_at_start_is_waited_for(stage: Scene) -> None:
    """The process says what it waits for and goes on by itself; a supervisor has nothing to do."""
    (worker,) = stage.fleet
    worker.kill()
    stage.store_way.cut()
    worker.start()
    stage.send(20)
    stage.wait_for(lambda: len(lines(worker.log(), "start_waits")) >= 2, "two lines about waiting")
    stage.store_way.heal()
    stage.settle()
    assert {"store"} == {line["waits_for"] for line in lines(worker.log(), "start_waits")}


def test_a_store_that_is_away_for_long_is_waited_for_with_full_buffers(stage: Scene) -> None:
    """Away for longer than a session lasts, with more messages waiting than buffers hold."""
    (worker,) = stage.up()
    before = stage.stored()
    stage.store_way.cut()
    stage.send(6 * BUFFER)
    time.sleep(OUTAGE_SECONDS)
    stage.wait_for(lambda: bool(lines(worker.log(), "batch_waits")), "a batch that waits")
    assert before == stage.stored()
    stage.store_way.heal()
    stage.settle()
    assert worker.is_alive


def test_a_way_to_the_store_that_flaps_costs_nothing(stage: Scene) -> None:
    """Refused, silent, cut in the middle of an insert, and answers that are lost after the insert was done."""
    stage.up()
    stage.server.faults.extend(["refuse", "drop_before", "drop_after"] * 5)
    stage.send(100)
    for _ in range(3):
        stage.store_way.cut()
        time.sleep(0.7)
        stage.store_way.heal()
        time.sleep(0.7)
        stage.store_way.silence()
        time.sleep(0.7)
        stage.store_way.heal()
        time.sleep(0.7)
    stage.settle()


def test_a_stop_during_an_outage_ends_with_75_and_costs_nothing(stage: Scene) -> None:
    """What waits for the store cannot be drained; it comes again after the next start."""
    (worker,) = stage.up()
    stage.store_way.cut()
    stage.send(60)
    stage.wait_for(lambda: len(lines(worker.log(), "batch_waits")) > 0, "a batch that waits")
    assert 75 == worker.stop()
    shown = ("Current thread", "\ntask ", "sink")
    assert shown == tuple(text for text in shown if text in worker.log())
    stage.store_way.heal()
    worker.start()
    stage.settle()
    assert worker.stop() in {0, 75}
