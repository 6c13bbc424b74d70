"""What cannot be reached is explained with the setting to check, and differences of topics are told."""

import pytest
from aiokafka.errors import (
    InvalidReplicationFactorError,
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
)

from streams.broker.connection import Connection
from streams.broker.topics import Difference, Shape, compared, own_topics
from streams.broker.trouble import unreachable

HERE = Connection("k:9092", sasl_mechanism="PLAIN", sasl_username="u", sasl_password="pw", section="kafka.internal")  # noqa: S106


@pytest.mark.parametrize(
    ("error", "said", "expected"),
    [
        (
            KafkaConnectionError(),
            "[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate",
            "kafka.internal.ssl_ca_file",
        ),
        (
            KafkaConnectionError(),
            "CERTIFICATE_VERIFY_FAILED: Hostname mismatch, not valid for 'k'",
            "ssl_check_hostname",
        ),
        (KafkaConnectionError(), "CERTIFICATE_VERIFY_FAILED: certificate has expired", "this machine's clock"),
        (KafkaConnectionError(), "tlsv13 alert certificate required", "kafka.internal.ssl_cert_file"),
        (KafkaConnectionError(), "[SSL: WRONG_VERSION_NUMBER] wrong version number", "kafka.internal.ssl and"),
        (KafkaConnectionError(), "[Error 58] SaslAuthenticationFailed", "GROUNDWATCH_KAFKA__INTERNAL__SASL_PASSWORD"),
        (SaslAuthenticationFailed(), "", "kafka.internal.sasl_mechanism"),
        (KafkaConnectionError(), "Connect call failed", "kafka.internal.bootstrap_servers"),
        (
            KafkaConnectionError(),
            'Unable connect to "k:9092": [Errno -2] Name or service not known',
            "a name in that address does not resolve (KafkaConnectionError); check kafka.internal.bootstrap_servers",
        ),
        (TimeoutError(), "", "no broker answers at k:9092 (TimeoutError)"),
        (KafkaError("the cluster did not answer"), "", "no broker answers"),
        (TopicAuthorizationFailedError(), "", "docs/kafka.md"),
        (InvalidReplicationFactorError(), "", "InvalidReplicationFactor"),
    ],
)
def test_causes_are_told_apart(error: BaseException, said: str, expected: str) -> None:
    """By what the client raised or logged; the password is never in it."""
    text = str(unreachable(error, HERE, [said] if said else []))
    assert expected in text
    assert "pw" not in text.replace("sasl_password", "")


def test_a_connection_shows_no_password() -> None:
    """Not even when it is printed."""
    assert "pw" not in repr(HERE)
    assert "groundwatch-ingest" == HERE.named("ingest").aiokafka_options()["client_id"]


def test_own_topics_are_as_configured() -> None:
    """Partitions and retention of work, one partition for what everybody reads, room for headers of dead letters."""
    topics = {spec.name: spec for spec in own_topics(Shape(6, 3, 2_000_000, 2, 48, 24))}
    assert (6, 3, "172800000") == (
        topics["gw.drawn"].partitions,
        topics["gw.drawn"].replication,
        topics["gw.drawn"].config["retention.ms"],
    )
    assert ("86400000", "3000000") == tuple(
        topics["gw.deadletter"].config[name] for name in ("retention.ms", "max.message.bytes")
    )
    assert (1, "compact") == (topics["gw.policy"].partitions, topics["gw.policy"].config["cleanup.policy"])
    assert {"2"} == {spec.config["min.insync.replicas"] for spec in topics.values()}


def test_differences_name_what_is_known_and_differs() -> None:
    """A setting that could not be read is none."""
    wanted = {"partitions": "8", "retention.ms": "5", "cleanup.policy": "delete"}
    found = compared("gw.drawn", {"partitions": "4", "cleanup.policy": "delete"}, wanted)
    assert [Difference("gw.drawn", "partitions", "4", "8")] == found
