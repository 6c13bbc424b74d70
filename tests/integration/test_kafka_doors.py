"""Logins and certificates: every client of ours goes through every kind of door, and says which key it lacks."""

import asyncio
import gc
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas.errors import BrokerUnavailable, ConfigError
from streams.attach.topics import Wanted, read_topics
from streams.broker.begin import LATEST, first_offsets, matching_topics
from streams.broker.connection import Connection
from streams.broker.publisher import Outgoing, Publisher
from streams.broker.replica import Replica
from streams.broker.topics import Shape, TopicSpec, create_topics, differences, own_topics
from streams.cli.replaying import Recorded, Stamp
from streams.cli.sending import Target, send_all
from streams.settings import load_settings
from streams.settings.connect import connection_of
from streams.starting import answers
from tests.attach_samples import native
from tests.integration.groups import group, numbered, unique
from tests.integration.guarded_kafka import KEY_PASSWORD, PASSWORD, SCRAM_PASSWORD, Doors, guarded_kafka
from tests.integration.running import groundwatch, produce, running

# aiokafka leaves the socket of a handshake that failed to the collector, which warns of it.
pytestmark = [
    pytest.mark.integration,
    pytest.mark.kafka_home,
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]
WRONG = "wr0ng-but-secret"
KINDS = ("plain", "scram-256", "scram-512", "certificate")


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """One broker for all tests here."""
    with guarded_kafka(tmp_path_factory.mktemp("guarded")) as found:
        yield found


@pytest.fixture(autouse=True)
def _sockets_collected() -> Iterator[None]:
    """Here, not in the middle of another file's test."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def reach(doors: Doors, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> "Reach":
    """Connections from settings, as a deployment has them."""
    monkeypatch.chdir(tmp_path)
    return Reach(doors, monkeypatch)


class Reach:
    """A connection to a door of some kind, with settings changed."""

    def __init__(self, doors: Doors, patch: pytest.MonkeyPatch) -> None:
        self._doors = doors
        self._patch = patch

    def __call__(self, kind: str, **changed: str) -> Connection:
        """By the environment; ``changed`` are settings of the source by their last names."""
        values = self._doors.environment(kind, "SOURCE")
        values |= {f"GROUNDWATCH_KAFKA__SOURCE__{name.upper()}": value for name, value in changed.items()}
        for name in [name for name in os.environ if name.startswith("GROUNDWATCH_KAFKA__")]:
            self._patch.delenv(name)
        for name, value in values.items():
            self._patch.setenv(name, value)
        return connection_of(load_settings().kafka.source)


@pytest.mark.parametrize("kind", KINDS)
def test_every_client_goes_through_every_door(reach: Reach, tmp_path: Path, kind: str) -> None:
    """Administrator, publisher, group, replica, attach, start and replay."""
    connection = reach(kind)

    async def scenario() -> None:
        await answers(connection)
        topic = unique("through")
        specs = [
            TopicSpec(topic, 1),
            *(replace(spec, name=unique(spec.name)) for spec in own_topics(Shape(1, 1, 10**6))),
        ]
        await create_topics(connection, specs)
        assert [] == await differences(connection, specs)
        publisher = Publisher(connection, 1_000_000)
        await publisher.start()
        try:
            await publisher.send(topic, [Outgoing(None, value) for value in numbered(5)])
        finally:
            await publisher.stop()
        lines = [(0.0, Recorded(b"{}", {}))]
        sent = await send_all(Target(connection, topic, 1_000_000), lines, Stamp(), lambda _: None)
        assert 1 == sent.sent
        assert [topic] == await matching_topics(connection, lambda name: name == topic)
        assert 1 == len(await first_offsets(connection, unique("group"), [topic], LATEST, ()))
        assert 6 == len((await read_topics(connection, [topic], Wanted(count=10))).messages)
        seen: list[bytes | None] = []
        replica = Replica(connection, topic, lambda _, value: seen.append(value))
        await replica.start()
        assert await replica.caught_up(20)
        await replica.stop()
        assert numbered(5) == seen[:5]
        async with group(connection, unique("role"), [topic], tmp_path) as member:
            await member.until_count(6)
            assert numbered(5) == member.values()[:5]

    asyncio.run(scenario())


def said(connection: Connection) -> str:
    """What a client says that cannot get in."""
    with pytest.raises(BrokerUnavailable) as caught:
        asyncio.run(Publisher(connection, 1_000_000).start())
    with pytest.raises(BrokerUnavailable) as too:
        asyncio.run(create_topics(connection, []))
    assert str(caught.value).partition(" (")[0] == str(too.value).partition(" (")[0]
    return str(caught.value)


def test_what_is_wrong_is_named_with_its_setting(reach: Reach, doors: Doors, tmp_path: Path) -> None:
    """Password, authority, certificate, encryption, host: each with the keys to check, and never a secret."""
    wrong = said(reach("plain", sasl_password=WRONG))
    assert "refused the login" in wrong
    assert "GROUNDWATCH_KAFKA__SOURCE__SASL_PASSWORD" in wrong
    assert WRONG not in wrong
    assert "refused the login" in said(reach("scram-256", sasl_password_file=str(doors.folder / "wrong-password")))
    assert "kafka.source.ssl_ca_file" in said(reach("scram-512", ssl_ca_file=str(doors.folder / "another-ca.pem")))
    bare = dict.fromkeys(("ssl_cert_file", "ssl_key_file", "ssl_key_password_file"), "")
    assert "ssl_cert_file" in said(reach("certificate", **bare))
    plain = reach("certificate", bootstrap_servers=doors.administrator)
    assert "kafka.source.ssl" in said(plain)
    port = doors.certificates.rpartition(":")[2]
    assert "ssl_check_hostname" in said(reach("certificate", bootstrap_servers=f"localhost:{port}"))
    lenient = reach("certificate", bootstrap_servers=f"localhost:{port}", ssl_check_hostname="false")
    asyncio.run(answers(lenient))


def test_files_that_cannot_be_used_are_named(reach: Reach, doors: Doors) -> None:
    """Before anything is connected: the setting, the file and the fix."""
    with pytest.raises(ConfigError, match=r"kafka\.source\.ssl_ca_file: /nowhere.* cannot be used"):
        reach("certificate", ssl_ca_file="/nowhere.pem")
    with pytest.raises(ConfigError, match=r"ssl_cert_file: .*client\.pem .*needs ssl_key_password"):
        reach("certificate", ssl_ca_file=str(doors.folder / "ca.pem"), ssl_key_password_file="")
    gone = "/nowhere"
    with pytest.raises(ConfigError, match=r"kafka\.source\.sasl_password_file: cannot read /nowhere"):
        reach("scram-256", sasl_password_file=gone)


@pytest.mark.timeout(900)
def test_a_deployment_behind_doors_keeps_its_secrets(doors: Doors, tmp_path: Path) -> None:
    """Read with a certificate, written with a login from a file; no secret in log, output or errors."""
    produce(doors.administrator, "guarded", [(None, native(number, datetime.now(UTC))) for number in range(20)])
    settings = doors.environment("certificate", "SOURCE") | doors.environment("scram-512", "INTERNAL")
    (tmp_path / "salt").write_text("0123456789abcdef" * 4)
    settings |= {"GROUNDWATCH_INGEST__SALT_FILE": str(tmp_path / "salt"), "GROUNDWATCH_INGEST__SALT": ""}
    settings |= {"GROUNDWATCH_LOG__LEVEL": "debug"}
    with running(tmp_path / "data", doors.administrator, "guarded", **settings) as run:
        run.wait_for(lambda: run.get("/api/v1/counts")["verdicts"] >= 20, 240, "verdicts")
        assert 0 == run.stop(), run.log_end()
        told = run.log_path.read_text()
    environment = settings | {"GROUNDWATCH_EMBEDDED": "false", "GROUNDWATCH_DATA_DIR": str(tmp_path / "data")}
    log = tmp_path / "config.log"
    assert 0 == groundwatch("config", "check", "--all", environment=environment, log_path=log).wait(60), log.read_text()
    environment |= {
        "GROUNDWATCH_KAFKA__INTERNAL__SASL_PASSWORD_FILE": str(doors.folder / "wrong-password"),
    }
    assert 69 == groundwatch("migrate", environment=environment, log_path=log).wait(60), log.read_text()
    told += log.read_text()
    assert "kafka.internal.sasl_mechanism" in told.replace("\n", "")
    assert [] == [secret for secret in (PASSWORD, SCRAM_PASSWORD, KEY_PASSWORD, "0123456789abcdef") if secret in told]
