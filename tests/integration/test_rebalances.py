"""Two to four workers come and go: killed, stopped in good order, paused for longer than a session, slow, joining late.

All share one broker and one store. After each test every trace is stored once, judged once and tallied once.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.scene import Scene, scene
from tests.chaos.workers import engine, lines

pytestmark = [pytest.mark.integration, pytest.mark.kafka, pytest.mark.timeout(900)]
SESSION_SECONDS = 4.0
SENT = 80


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Four workers that are given up after four seconds of silence, and thrown out of a rebalance after six."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    times = engine(SESSION_SECONDS, broker_rebalance_timeout=6.0)
    with scene(tmp_path_factory.mktemp("fleet"), home, count=4, more={"CHAOS_ENGINE": times}) as made:
        yield made


def test_workers_that_come_and_go_lose_nothing(stage: Scene) -> None:
    """From two to four and back, by SIGKILL and SIGTERM, while traces keep coming."""
    one, two = stage.up(2)
    three, four = stage.fleet[2:]
    stage.send(SENT)
    three.start()
    stage.send(SENT)
    one.kill()
    four.start()
    stage.send(SENT)
    assert two.stop() in {0, 75}
    stage.send(SENT)
    one.start()
    stage.settle()


def test_a_worker_that_is_paused_for_longer_than_its_session_does_no_harm(stage: Scene) -> None:
    """Its partitions go to the other; when it wakes up it still holds messages, and may lose and repeat none."""
    one, two = stage.up(2)
    stage.send(SENT)
    time.sleep(1)
    one.signal(signal.SIGSTOP)
    stage.send(SENT)
    time.sleep(2 * SESSION_SECONDS)
    one.signal(signal.SIGCONT)
    stage.send(SENT)
    stage.settle()
    assert one.is_alive
    assert two.is_alive


@pytest.mark.parametrize("how", ["block", "slow"])
def test_a_batch_that_lasts_longer_than_the_session_loses_nothing(stage: Scene, how: str) -> None:
    """The worker keeps its place: heartbeats do not wait for the batch, in the loop or in a thread."""
    stage.down()
    (worker,) = stage.fleet[:1]
    worker.start(CHAOS_HURT=f"ingest:2:{how}={3 * SESSION_SECONDS}")
    stage.send(SENT)
    stage.settle()
    assert worker.is_alive
    assert not [line for line in lines(worker.log(), "Heartbeat failed") if line]


def test_a_worker_that_joins_while_the_store_is_away_loses_nothing(stage: Scene) -> None:
    """The first cannot finish its batch, so it is thrown out of the rebalance; both go on when the store is back."""
    one, two = stage.up(1)[0], stage.fleet[1]
    stage.send(SENT)
    stage.store_way.silence()
    two.start()
    stage.send(SENT)
    time.sleep(4)
    stage.store_way.cut()
    time.sleep(12)
    stage.store_way.heal()
    stage.send(SENT)
    stage.settle()
    assert one.is_alive
    assert two.is_alive
