"""What must not end a process, however short the limits: store away, broker silent, a machine that stops it.

Limits are five seconds, and each lasts twice as long while messages wait; afterwards all is stored and judged once.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.scene import Scene, scene
from tests.chaos.workers import lines

pytestmark = [pytest.mark.integration, pytest.mark.kafka, pytest.mark.timeout(240)]
LIMITS = {
    "GROUNDWATCH_HEALTH__STALL_SECONDS": "5",
    "GROUNDWATCH_HEALTH__BATCH_SECONDS": "60",
    "GROUNDWATCH_HEALTH__LOOP_SECONDS": "5",
    "GROUNDWATCH_HEALTH__LAG_SECONDS": "1",
}
LONG_SECONDS = 10.0
SENT = 60


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Broker, store and one worker with short limits."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    with scene(tmp_path_factory.mktemp("excuses"), home, count=1, more=LIMITS) as made:
        yield made


def test_nothing_that_is_no_fault_of_its_own_ends_a_worker(stage: Scene) -> None:
    """One process lives through all of it."""
    (worker,) = stage.up()
    process = worker.process

    stage.store_way.cut()
    stage.send(SENT)
    time.sleep(LONG_SECONDS)
    stage.store_way.heal()
    stage.settle(90)

    stage.kafka.theirs.silence()
    stage.send(SENT)
    time.sleep(LONG_SECONDS)
    stage.kafka.theirs.heal()
    stage.settle(90)

    worker.signal(signal.SIGSTOP)
    stage.send(SENT)
    time.sleep(LONG_SECONDS)
    worker.signal(signal.SIGCONT)
    stage.settle(90)

    assert worker.is_alive
    assert worker.process is process
    assert [] == lines(worker.log(), "watchdog_ended_process")
    assert [] != lines(worker.log(), "process_was_suspended")
