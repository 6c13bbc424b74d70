"""Apache Kafka is away: killed, restarted, cut off, silent, at start; our topics and the product's each by themselves.

The worker is the same process before and after: nobody has to restart anything.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streams.store import Watermark
from tests.chaos.proxy import PRODUCE, Trap
from tests.chaos.scene import TOPIC, Scene, scene
from tests.chaos.workers import lines

pytestmark = [pytest.mark.integration, pytest.mark.kafka, pytest.mark.timeout(900)]
SENT = 100


@pytest.fixture(scope="module")
def stage(names: Path) -> Iterator[Scene]:
    """Broker, store and one worker."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    with scene(names.parent, home, count=1, host="broker.test", more={"CHAOS_NAMES": str(names)}) as made:
        yield made


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The name service of the worker: a file, without which it knows no broker."""
    file = tmp_path_factory.mktemp("broker") / "names"
    file.touch()
    return file


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_broker_that_restarts_under_load_costs_nothing(stage: Scene, number: signal.Signals) -> None:
    """Killed or stopped in good order, away for some seconds, back with its data."""
    (worker,) = stage.up()
    stage.send(SENT)
    stage.kafka.stop(number)
    time.sleep(2)
    stage.kafka.start()
    stage.kafka.wait_up()
    stage.send(SENT)
    stage.settle()
    assert worker.is_alive


def test_our_own_cluster_alone_may_be_away(stage: Scene) -> None:
    """An answer lost, so that nobody knows what was delivered; cut off; silent: reading goes on when it is back."""
    (worker,) = stage.up()
    stage.kafka.ours.trap = Trap(PRODUCE, 3, "after", lambda: None)
    stage.send(SENT)
    stage.wait_for(lambda: stage.kafka.ours.trap is None, "a lost answer")
    stage.kafka.ours.cut()
    stage.send(SENT)
    time.sleep(4)
    stage.kafka.ours.heal()
    stage.send(SENT)
    time.sleep(1)
    stage.kafka.ours.silence()
    time.sleep(4)
    stage.kafka.ours.heal()
    stage.settle()
    assert worker.is_alive


def test_the_clusters_of_the_product_alone_may_be_away(stage: Scene) -> None:
    """Longer than the session lasts, so that the broker has given the worker up."""
    (worker,) = stage.up()
    stage.send(SENT)
    stage.kafka.theirs.silence()
    stage.send(SENT)
    time.sleep(8)
    stage.kafka.theirs.heal()
    stage.settle()
    assert worker.is_alive


def test_a_partition_that_does_not_answer_keeps_buckets_open(stage: Scene) -> None:
    """The product may be writing to it all the while: nobody knows its end, so its mark stays where it is."""
    stage.up()
    stage.wait_for(lambda: all(mark.is_idle for mark in marks(stage)), "partitions read to their ends")
    stage.kafka.theirs.silence()
    stage.wait_for(lambda: not any(mark.is_idle for mark in marks(stage)), "ends that nobody knows")
    before = {mark.partition: mark.event_time for mark in marks(stage)}
    time.sleep(4)
    assert before == {mark.partition: mark.event_time for mark in marks(stage)}
    stage.up()


def marks(stage: Scene) -> list[Watermark]:
    """The stored marks of the product's topic."""
    return [mark for mark in stage.store.watermarks() if mark.topic == TOPIC]


def test_a_broker_that_is_away_at_start_is_waited_for(stage: Scene) -> None:
    """First that of the product, then ours; the process says which."""
    (worker,) = stage.fleet
    worker.kill()
    stage.kafka.cut()
    worker.start()
    stage.wait_for(lambda: lines(worker.log(), "start_waits"), "a line about waiting")
    stage.kafka.theirs.heal()
    waits = {"kafka.source", "kafka.internal"}
    stage.wait_for(lambda: waits == {one["waits_for"] for one in lines(worker.log(), "start_waits")}, "both named")
    stage.up()


def test_a_name_that_does_not_resolve_is_waited_for_as_a_broker_that_is_away(stage: Scene, names: Path) -> None:
    """While at work, with connections that broke, and at the start, where it says what is wrong."""
    (worker,) = stage.up()
    stage.send(SENT)
    names.unlink()
    try:
        stage.kafka.cut()
        stage.kafka.heal()  # the way is open, but nobody knows the name of its end
        stage.send(SENT)
        time.sleep(8)
        assert worker.is_alive
        names.touch()
        stage.settle()
        assert worker.is_alive
        worker.kill()
        names.unlink()
        worker.start()
        says = "a name in that address does not resolve"
        stage.wait_for(lambda: says in worker.log(), "a line about the name")
        assert "kafka.source.bootstrap_servers" in worker.log()
    finally:
        names.touch()
    stage.up()
