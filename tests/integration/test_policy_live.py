"""The policy changes twice under load while processes are killed; afterwards every draw is what the log says."""

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest

from sampling.policy_file import parse_policy
from schemas.codec import encode
from schemas.policy import PolicyRecord
from schemas.tally import BUCKET, bucket_start
from streams.broker.connection import Connection
from streams.broker.topics import TopicSpec, create_topics
from tests.clickhouse_double import ClickHouseDouble
from tests.integration.fast_clock import FastClock
from tests.integration.policy_found import Stored, check_draws, check_topic, check_verdicts, read_store
from tests.integration.policy_load import CHANGES, TOPIC, Deployment, Load
from tests.integration.running import Running, apache_kafka, produce

SPEED = 60.0
REDELIVERED = 200
pytestmark = [pytest.mark.integration, pytest.mark.timeout(400)]


def clock() -> FastClock:
    """A minute a second, from three hours ago on, so that it is never ahead of the real time."""
    return FastClock(time.time(), time.time() - 3 * 3600, SPEED)


def records_of(run: Running) -> dict[str, PolicyRecord]:
    """The policies of the log by name."""
    found = [PolicyRecord.model_validate(row) for row in run.get("/api/v1/policy")]
    return {record.document.name: record for record in found if record.document}


def apply_by_command(deployment: Deployment, name: str, change: str) -> None:
    """``groundwatch policy apply`` beside a process; before it, a file with a mistake, which is refused."""
    file = deployment.folder / "policy.yaml"
    file.write_text(CHANGES[change].replace("probability: 0.5", "probability: 5"))
    refused = deployment.command(name, "policy", "apply", str(file))
    assert 2 == refused.returncode, refused.stderr
    assert "line 7: sampling.default_probability = 5: input should be less" in refused.stderr.replace("\n", " ")
    file.write_text(CHANGES[change])
    applied = deployment.command(name, "policy", "apply", str(file), "--author", "ana")
    assert 0 == applied.returncode, applied.stderr


def apply_by_api(run: Running, change: str) -> None:
    """POST the file; before it, one with a pattern that cannot run, which is refused."""
    headers = {"Authorization": f"Bearer {run.address['token']}"}
    url = f"{run.address['url']}/api/v1/policy"
    bad = CHANGES[change] + "canaries: [ab]\nsources:\n  restricted:\n    - {name: x, documents: '(?!x)'}\n"
    refused = httpx.post(url, content=bad, headers=headers, timeout=20, trust_env=False)
    assert 400 == refused.status_code
    assert "line 4: canaries[0]" in refused.json()["error"]
    assert "line 7: sources.restricted[0].documents" in refused.json()["error"]
    applied = httpx.post(url, content=CHANGES[change], headers=headers, timeout=20, trust_env=False)
    assert 201 == applied.status_code, applied.text


def publish_nonsense(run: Running, broker: str, now: datetime) -> None:
    """What another tool may put on the topic of the log: nothing of it changes the policy, and the log says why."""
    soon = bucket_start(now) + BUCKET
    good = parse_policy(CHANGES["lowered"])
    broken = good.model_copy(update={"intents": parse_policy(CHANGES["raised"]).intents})
    text = encode(PolicyRecord(policy_id="x3", published_at=now, effective_from=soon + 2 * BUCKET, document=broken))
    before = records_of(run)
    values = [
        b"junk",
        encode(PolicyRecord(policy_id="x1", published_at=now, effective_from=soon, document=good)),
        encode(PolicyRecord(policy_id="x2", published_at=now, document=good)),
        text.replace(rb"\\d+ days", b"(?=d)"),
    ]
    produce(broker, "gw.policy", [(b"x%d" % number, value) for number, value in enumerate(values)])
    run.wait_for(lambda: len(refusals(run)) >= len(values), 20, "refusals")
    assert before == records_of(run)
    for reason in ("not_json", "must be a bucket", "already holds from the beginning", "no look-around"):
        assert any(reason in line for line in refusals(run)), reason


def refusals(run: Running) -> list[str]:
    """Lines of the log of a process about refused entries."""
    lines = run.log_path.read_text(errors="replace").splitlines()
    return [line for line in lines if "policy_message_refused" in line or "policy_record_refused" in line]


def wait_until(at: FastClock, moment: datetime | None, seconds: float) -> None:
    """Sleep until some seconds of the fast clock after ``moment``."""
    assert moment is not None
    time.sleep(max(0.0, at.real_seconds_until(moment + timedelta(seconds=seconds))))


def wait_for_all(run: Running, load: Load) -> None:
    """Until every trace is stored and every drawn one has its verdict."""

    def is_done() -> bool:
        counts = run.get("/api/v1/counts")
        return bool(counts["traces"] == len(load.sent) and counts["verdicts"] == counts["drawn"])

    run.wait_for(is_done, 150, f"{len(load.sent)} traces and their verdicts")


def check_page(run: Running, stored: Stored) -> None:
    """The page of an answer shows which policy held."""
    for record in stored.records:
        row = next(row for row in stored.traces if row["policy_id"] == record.policy_id)
        page = run.page(f"/traces/{row['ts'].isoformat().replace('+00:00', 'Z')}/{row['trace_id']}")
        assert 200 == page.status_code
        assert record.policy_id in page.text


def test_embedded_changes_and_kills(tmp_path: Path) -> None:
    """One process that forgets its broker at each kill: the policy comes back from the store, in time."""
    at = clock()
    deployment, load = Deployment(at, tmp_path), Load(at)
    run = deployment.start("one")
    try:
        with load.on(run.bootstrap_servers):
            run.wait_for(lambda: run.get("/api/v1/counts")["traces"] > 60, 60, "traces")
            publish_nonsense(run, run.bootstrap_servers, at.now())
            apply_by_command(deployment, "one", "raised")
            raised = records_of(run)["raised"]
        load.burst(run.bootstrap_servers, 20)
        run.stop(signal.SIGKILL)
        run = deployment.start("one")
        load.again(run.bootstrap_servers, list(load.sent))
        with load.on(run.bootstrap_servers):
            wait_until(at, raised.effective_from, 120)
            apply_by_api(run, "lowered")
            lowered = records_of(run)["lowered"]
            wait_until(at, lowered.effective_from, -90)
        load.burst(run.bootstrap_servers, 20)
        assert run.stop(signal.SIGTERM) in {0, 75}
        run = deployment.start("one")
        load.again(run.bootstrap_servers, list(load.sent))
        with load.on(run.bootstrap_servers):
            wait_until(at, lowered.effective_from, 240)
        load.again(run.bootstrap_servers, list(load.sent)[:REDELIVERED])
        wait_for_all(run, load)
        assert 0 == run.stop()
    finally:
        run.process.kill()
        run.process.wait()
    stored = read_store(f"chdb://{tmp_path / 'one' / 'store'}")
    check_draws(stored, load)
    check_verdicts(stored)


def restarted(deployment: Deployment, name: str, run: Running, number: signal.Signals) -> Running:
    """Stop a process and start it again."""
    run.stop(number)
    return deployment.start(name)


@pytest.mark.kafka
def test_two_workers_changes_and_kills(tmp_path: Path) -> None:
    """On Apache Kafka, one store: whichever worker reads a trace, whenever it was away."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    with apache_kafka(home, tmp_path / "kafka") as address, ClickHouseDouble(str(tmp_path / "store")) as server:
        asyncio.run(create_topics(Connection(address), [TopicSpec(TOPIC, 4)]))
        at = clock()
        deployment, load = Deployment(at, tmp_path, address, server.dsn), Load(at)
        assert 0 == deployment.command("a", "migrate").returncode
        runs = {name: deployment.start(name) for name in ("a", "b")}
        try:
            with load.on(address):
                change_and_kill(deployment, runs, address)
            load.again(address, list(load.sent)[:REDELIVERED])
            wait_for_all(runs["a"], load)
            stored = read_store(server.dsn)
            check_page(runs["a"], stored)
            assert [0, 0] == [run.stop() for run in runs.values()]
        finally:
            end(list(runs.values()))
        check_draws(stored, load)
        check_verdicts(stored)
        check_topic(stored, address)


def change_and_kill(deployment: Deployment, runs: dict[str, Running], address: str) -> None:
    """Both changes, each with a worker that is away when it is published or when it takes effect."""
    at = deployment.clock
    runs["a"].wait_for(lambda: runs["a"].get("/api/v1/counts")["traces"] > 60, 90, "traces")
    publish_nonsense(runs["b"], address, at.now())
    runs["b"].stop(signal.SIGKILL)
    apply_by_command(deployment, "a", "raised")
    raised = records_of(runs["a"])["raised"]
    runs["b"] = deployment.start("b")
    assert "raised" in records_of(runs["b"])
    wait_until(at, raised.effective_from, -30)
    runs["a"] = restarted(deployment, "a", runs["a"], signal.SIGTERM)
    wait_until(at, raised.effective_from, 120)
    apply_by_api(runs["b"], "lowered")
    lowered = records_of(runs["b"])["lowered"]
    runs["b"] = restarted(deployment, "b", runs["b"], signal.SIGKILL)
    wait_until(at, lowered.effective_from, -30)
    runs["a"] = restarted(deployment, "a", runs["a"], signal.SIGKILL)
    wait_until(at, lowered.effective_from, 240)


def end(runs: Sequence[Running]) -> None:
    """Leave nothing behind."""
    for run in runs:
        run.process.kill()
        run.process.wait()
