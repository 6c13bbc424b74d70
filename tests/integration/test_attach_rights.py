"""The rights that ``attach`` prints are those that a deployment needs: on a broker that refuses everything else."""

import asyncio
import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from streams.broker.connection import Connection
from streams.broker.topics import ALERT_LEADER, TopicSpec, create_topics
from streams.cli.detach_left import HIDDEN
from streams.cli.program import app
from tests.attach_samples import native, openinference_spans
from tests.integration import running as brokers
from tests.integration.running import apache_kafka, free_port_pair, produce, running
from tests.integration.test_attach import attach

_USER = {"SASL_MECHANISM": "PLAIN", "SASL_USERNAME": "groundwatch", "SASL_PASSWORD": "secret"}
LOGIN = {f"GROUNDWATCH_KAFKA__{part}__{key}": value for part in ("SOURCE", "INTERNAL") for key, value in _USER.items()}
HOME = Path(os.environ.get("GROUNDWATCH_KAFKA_HOME", "."))


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address with a login, where nothing is allowed, and that of the administrator."""
    plain, guarded = free_port_pair(), free_port_pair()
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    listeners = f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{guarded}"
    properties = (
        f"listeners={listeners},CONTROLLER://127.0.0.1:{plain + 1}",
        f"advertised.listeners={listeners}",
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms=PLAIN",
        f'listener.name.sasl_plaintext.plain.sasl.jaas.config={module} required user_groundwatch="secret";',
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users=User:ANONYMOUS",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(brokers, "free_port_pair", lambda: plain)
        with apache_kafka(HOME.resolve(), tmp_path / "kafka", *properties) as address:
            yield f"127.0.0.1:{guarded}", address


def allow(line: str, administrator: str) -> None:
    """Run a line for kafka-acls as the administrator."""
    words = shlex.split(line)
    assert "kafka-acls" == words[0]
    words[words.index("--bootstrap-server") + 1] = administrator
    java = ["java", "-cp", f"{HOME.resolve()}/libs/*", "org.apache.kafka.tools.AclCommand", *words[1:]]
    subprocess.run(java, check=True, capture_output=True)


@pytest.mark.integration
@pytest.mark.kafka
@pytest.mark.timeout(900)
def test_printed_rights_are_enough_and_missing_ones_are_named(guarded: tuple[str, str], tmp_path: Path) -> None:
    """Without rights attach says which; with the lines that it prints a whole deployment works."""
    address, administrator = guarded
    now = datetime.now(UTC)
    values = [native(number, now) for number in range(20)]
    spans = [json.dumps(document).encode() for number in range(20) for document in openinference_spans(number, now)]
    asyncio.run(create_topics(Connection(administrator), [TopicSpec("product", 4)]))
    produce(administrator, "product", [(None, value) for value in values + spans])

    wrong = attach("--bootstrap", address, "--topic", "product", folder=tmp_path, **{**LOGIN, **_wrong_password()})
    assert (69, True) == (wrong.returncode, "refused the login" in wrong.stderr), wrong.stderr
    environment = {**brokers.environment_for(tmp_path / "data", address, "product"), **LOGIN}
    unseen = json.loads(detach(environment, "--dry-run").stdout)
    assert {HIDDEN} == {one["why"] for one in unseen["left"]}, "it does not say that nothing is there"
    hidden = attach("--bootstrap", address, "--topic", "product", folder=tmp_path, **LOGIN)
    assert (1, True) == (hidden.returncode, "shows no topic product" in hidden.stderr), hidden.stderr
    allow("kafka-acls --bootstrap-server x --add --allow-principal User:groundwatch --operation Describe "
          "--topic product", administrator)  # fmt: skip
    unread = attach("--bootstrap", address, "--topic", "product", folder=tmp_path, **LOGIN)
    assert (1, True) == (unread.returncode, "may not read product" in unread.stderr), unread.stderr
    allow(unread.stderr.partition("`")[2].partition("`")[0].replace("User:NAME", "User:groundwatch"), administrator)

    done = attach("--bootstrap", address, "--topic", "product", "--json", folder=tmp_path, **LOGIN)
    assert 0 == done.returncode, done.stderr
    found = json.loads(done.stdout)
    assert (80, 1.0) == (found["messages"], found["decoded_share"])
    for line in found["acls"]:
        allow(line, administrator)
    with running(tmp_path / "data", address, "product", **LOGIN, GROUNDWATCH_ASSEMBLY__GRACE_SECONDS="1") as run:
        run.wait_for(lambda: run.get("/api/v1/counts")["traces"] >= 40, 240, "traces")
        run.wait_for(lambda: run.get("/api/v1/counts")["verdicts"] > 0, 240, "verdicts")
        assert 0 == run.stop(), run.log_end()

    stuck = detach(environment)
    left = json.loads(stuck.stdout)
    names = {one["name"] for one in left["left"]}
    assert (1, [], []) == (stuck.exit_code, left["groups"], left["topics"])
    assert {"groundwatch.ingest", "groundwatch.sink", "gw.drawn", ALERT_LEADER} <= names
    assert {"GroupAuthorizationFailedError", "TopicAuthorizationFailedError"} == {one["why"] for one in left["left"]}
    for line in left["remedies"]:
        if line.startswith("kafka-acls"):
            allow(line, administrator)
    done_now = detach(environment)
    found = json.loads(done_now.stdout)
    assert (0, []) == (done_now.exit_code, found["left"])
    assert names == {*found["topics"], *(group["name"] for group in found["groups"])}


def detach(environment: dict[str, str], *arguments: str) -> Result:
    """``groundwatch detach --yes --json``."""
    return CliRunner(env=environment).invoke(app, ["detach", "--yes", "--json", *arguments])


def _wrong_password() -> dict[str, str]:
    return {"GROUNDWATCH_KAFKA__SOURCE__SASL_PASSWORD": "wrong"}
