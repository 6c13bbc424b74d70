"""A worker is killed at the worst moments: in the middle of a commit, and between the store's answer and the ack.

The moments are exact: a relay in front of the broker, the store's double, or a handler in the child does the killing.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from tests.chaos.proxy import OFFSET_COMMIT, Trap
from tests.chaos.scene import Scene, scene
from tests.chaos.workers import lines

pytestmark = [pytest.mark.integration, pytest.mark.kafka, pytest.mark.timeout(900)]
DEATH = -signal.SIGKILL
SENT = 60


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """One worker with a member id of its own, so that the next one need not wait for its session to end."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    more = {"GROUNDWATCH_INSTANCE_ID": "one", "GROUNDWATCH_INGEST__BATCH_SIZE": "20"}
    with scene(tmp_path_factory.mktemp("kill"), home, count=1, more=more) as made:
        yield made


def test_a_kill_between_the_answer_and_the_acknowledgement_is_made_good(stage: Scene) -> None:
    """All of a batch is safe, none of it acknowledged: it comes again and changes nothing, in every role."""
    (worker,) = stage.fleet
    worker.kill()
    for role in ("ingest", "assemble", "verify", "sink"):
        worker.start(CHAOS_HURT=f"{role}:2:kill")
        stage.send(SENT)
        assert DEATH == worker.wait(), stage.log_ends()
    stage.up()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_kill_in_the_middle_of_a_commit_is_made_good(stage: Scene, moment: Literal["before", "after"]) -> None:
    """The broker never got the commit, or has it and nobody knows."""
    (worker,) = stage.up()
    way = stage.kafka.theirs if moment == "before" else stage.kafka.ours
    way.trap = Trap(OFFSET_COMMIT, 2, moment, lambda: worker.signal(signal.SIGKILL))
    stage.send(SENT)
    assert DEATH == worker.wait(), stage.log_ends()
    stage.up()


def test_a_kill_while_the_store_has_answered_nobody_is_made_good(stage: Scene) -> None:
    """Rows are in the store, and the process that sent them dies before it knows."""
    (worker,) = stage.up()
    inserts = 0

    def kill_at_the_third_insert(body: bytes) -> None:
        nonlocal inserts
        inserts += b"INSERT INTO" in body[:200]
        if inserts == 3:
            worker.signal(signal.SIGKILL)

    stage.server.after = kill_at_the_third_insert
    stage.send(SENT)
    assert DEATH == worker.wait(), stage.log_ends()
    stage.server.after = None
    stage.up()


def test_a_bug_ends_the_process_before_offsets_move(stage: Scene) -> None:
    """70, so that a supervisor can tell it from an outage; the batch comes again after the restart."""
    (worker,) = stage.fleet
    worker.kill()
    worker.start(CHAOS_HURT="assemble:1:raise")
    stage.send(SENT)
    assert 70 == worker.wait(), stage.log_ends()
    assert lines(worker.log(), "agent_failed")
    stage.up()
