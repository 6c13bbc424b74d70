"""Ten thousand hostile messages in one run of the real process: none is lost, none stops it."""

import asyncio
import os
from collections import Counter
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

import pytest
from aiokafka.structs import ConsumerRecord

from streams.agents.deadletter import PREFIX_BYTES
from streams.broker.connection import Connection
from streams.broker.topics import TopicSpec, create_topics
from tests.hostile import SEEDS, Fate, Hostile, hostile_messages
from tests.integration.hostile_run import Sent, astray, fates_of, find, is_read, send
from tests.integration.running import Running, apache_kafka, read_all, running

TOPIC = "traces"
MESSAGES = 10_000
MOST_MEMORY_KIB = 3_000_000
LARGE = {"max.message.bytes": "64000000", "message.timestamp.after.max.ms": str(2**62)}
"""As on a topic that nobody has looked at for a year: 50 MB messages, and record times of the producer's choice."""


def run_to_the_end(run: Running, address: str, messages: list[Hostile]) -> list[Sent]:
    """Send everything, wait until it is read and judged."""
    sent = send(address, TOPIC, messages)
    run.wait_for(lambda: is_read(address, TOPIC, sent), 240, "everything read")
    run.wait_for(lambda: _is_judged(run), 120, "every drawn trace judged")
    return sent


def _is_judged(run: Running) -> bool:
    counts = run.get("/api/v1/counts")
    return bool(counts["verdicts"] >= counts["drawn"])


def check(run: Running, address: str, sent: list[Sent]) -> Counter[str]:
    """Every message is found again as expected, the process never waited or restarted, and its memory is bounded."""
    counts = run.get("/api/v1/counts")
    unreadable = sum(one.message.fate is Fate.LETTER for one in sent)
    letters = read_all(address, "gw.deadletter", unreadable, 30)
    peak_kib = next(
        int(line.split()[1])
        for line in Path(f"/proc/{run.process.pid}/status").read_text().splitlines()
        if line.startswith("VmHWM")
    )
    assert 200 == run.page("/").status_code
    assert run.process.poll() is None
    assert 0 == run.stop()
    found = find(run.data_dir, letters)
    assert [] == astray(sent, found)
    assert counts["drawn"] == counts["verdicts"]
    assert counts["traces"] == len(found.traces)
    log = run.log_path.read_text(errors="replace")
    assert "batch_waits" not in log
    assert "agent_failed" not in log
    assert all(line.isprintable() for line in log.splitlines())
    assert peak_kib < MOST_MEMORY_KIB
    return Counter(fates_of(sent, found))


@pytest.mark.integration
@pytest.mark.timeout(600)
def test_ten_thousand_hostile_messages_are_all_accounted_for(tmp_path: Path) -> None:
    """Stored, dead letter or expired, each as its kind says; the run neither stalls nor restarts."""
    messages = list(hostile_messages(SEEDS[0], MESSAGES, datetime.now(UTC)))
    with running(tmp_path / "data", None, TOPIC) as run:
        address = run.bootstrap_servers
        sent = run_to_the_end(run, address, messages)
        fates = check(run, address, sent)
    assert MESSAGES == fates.total()
    assert fates["stored"] > MESSAGES / 2


def fifty_megabytes() -> Hostile:
    """Good JSON, and far beyond what we take."""
    value = b'{"trace_id": "large", "answer": "' + b"x" * 50_000_000 + b'"}'
    return Hostile("fifty_megabytes", value, Fate.LETTER, key=b"large", reason="too_large")


@pytest.mark.integration
@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_hostile_messages_on_apache_kafka(tmp_path: Path) -> None:
    """The same kinds, and a message of 50 MB, which keeps prefix, length, hash and position."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    messages = list(hostile_messages(SEEDS[1], 2_000, datetime.now(UTC)))
    messages.insert(1_000, fifty_megabytes())
    with apache_kafka(home, tmp_path / "kafka") as address:
        asyncio.run(create_topics(Connection(address), [TopicSpec(TOPIC, 3, config=LARGE)]))
        with running(tmp_path / "data", address, TOPIC) as run:
            sent = run_to_the_end(run, address, messages)
            letter = letter_of(address, b"large")
            check(run, address, sent)
    headers = dict(letter.headers)
    (place,) = [one for one in sent if one.message.kind == "fifty_megabytes"]
    value = place.message.value or b""
    assert (value[:PREFIX_BYTES], b"too_large") == (letter.value, headers["gw-reason"])
    assert [b"%d" % len(value), b"%d" % place.partition, b"%d" % place.offset] == [
        headers[name] for name in ("gw-length", "gw-partition", "gw-offset")
    ]
    assert blake2b(value, digest_size=16).hexdigest().encode() == headers["gw-hash"]


def letter_of(address: str, key: bytes) -> ConsumerRecord:
    """The dead letter with this key."""
    (letter,) = [letter for letter in read_all(address, "gw.deadletter") if letter.key == key]
    return letter


@pytest.mark.integration
def test_a_topic_of_junk_stops_at_the_ceiling(tmp_path: Path) -> None:
    """A thousand bad messages in a row are a wrong format: the process ends with 65 and says so."""
    junk = hostile_messages(SEEDS[2], 12_000, datetime.now(UTC), with_heavy=False)
    bad = [message for message in junk if message.fate is Fate.LETTER and message.reason != "duplicate_id"]
    with running(tmp_path / "data", None, TOPIC) as run:
        send(run.bootstrap_servers, TOPIC, bad)
        assert 65 == run.process.wait(60)
        assert "dead-letter ceiling" in run.log_path.read_text()
