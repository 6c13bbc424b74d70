"""The short version of ``bench/chaos.py``: a few kills of two workers, an outage of each kind of thing, some traces."""

import os
from pathlib import Path

import pytest

from tests.chaos.storm import EXPECTED, Plan, storm

SEED = 11


@pytest.mark.integration
@pytest.mark.kafka
@pytest.mark.timeout(900)
def test_kills_and_outages_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    """Half of the traces come as spans; every one is stored once, judged once and tallied once."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    plan = Plan(traces=400, kills=5, outages=2, seed=SEED)
    said: list[str] = []
    outcome = storm(tmp_path, home, plan, said.append)
    assert {} == outcome.faults, said
    assert 7 == sum(outcome.events.values())
    assert set(outcome.exits) <= EXPECTED, outcome.ends
    assert 0 < outcome.drawn < plan.traces
