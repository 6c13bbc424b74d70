"""Apache Kafka with a door of each kind: open for the administrator, with a login, with certificates, with both."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography.hazmat.primitives import serialization

from tests.integration.running import apache_kafka, free_port_pair

USER, PASSWORD, SCRAM_PASSWORD, KEY_PASSWORD = "groundwatch", "s3cret-plain", "s3cret-scram", "s3cret-key"
PRINCIPAL = f"User:{USER}"
DOORS = ("PLAINTEXT", "LOGIN", "SECRET", "CERT")
PROTOCOLS = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,LOGIN:SASL_PLAINTEXT,SECRET:SASL_SSL,CERT:SSL"


@dataclass(frozen=True, slots=True)
class Doors:
    """Addresses, and where the files are that one needs."""

    administrator: str
    login: str
    """SASL without encryption: PLAIN."""
    encrypted_login: str
    """SASL with encryption: SCRAM."""
    certificates: str
    """TLS that asks for a client certificate."""
    folder: Path

    def environment(self, kind: str, section: str) -> dict[str, str]:
        """Settings of one of the two clusters for a kind of door."""
        files = self.folder
        secure = {"SSL": "true", "SSL_CA_FILE": str(files / "ca.pem")}
        scram = {
            "BOOTSTRAP_SERVERS": self.encrypted_login,
            "SASL_USERNAME": USER,
            "SASL_PASSWORD_FILE": str(files / "scram-password"),
        }
        kinds = {
            "plain": {
                "BOOTSTRAP_SERVERS": self.login,
                "SASL_MECHANISM": "PLAIN",
                "SASL_USERNAME": USER,
                "SASL_PASSWORD": PASSWORD,
            },
            "scram-256": {**secure, **scram, "SASL_MECHANISM": "SCRAM-SHA-256"},
            "scram-512": {**secure, **scram, "SASL_MECHANISM": "SCRAM-SHA-512"},
            "certificate": {
                **secure,
                "BOOTSTRAP_SERVERS": self.certificates,
                "SSL_CERT_FILE": str(files / "client.pem"),
                "SSL_KEY_FILE": str(files / "client-key.pem"),
                "SSL_KEY_PASSWORD_FILE": str(files / "key-password"),
            },
        }
        return {f"GROUNDWATCH_KAFKA__{section}__{key}": value for key, value in kinds[kind].items()}


@contextmanager
def guarded_kafka(folder: Path, *properties: str) -> Iterator[Doors]:
    """A broker with these doors; everything that the doors need lies in ``folder``."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    _write_files(folder)
    ports: list[int] = []
    while len(ports) < len(DOORS):
        port = free_port_pair()
        if all(abs(port - other) > 1 for other in ports):
            ports.append(port)
    doors = [f"127.0.0.1:{port}" for port in ports]
    listeners = ",".join(f"{name}://{door}" for name, door in zip(DOORS, doors, strict=True))
    module = "org.apache.kafka.common.security"
    plain = f'{module}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";'
    everything = (
        f"listeners={listeners},CONTROLLER://127.0.0.1:{ports[0] + 1}",
        f"advertised.listeners={listeners}",
        f"listener.security.protocol.map={PROTOCOLS}",
        "listener.name.login.sasl.enabled.mechanisms=PLAIN",
        f"listener.name.login.plain.sasl.jaas.config={plain}",
        "listener.name.secret.sasl.enabled.mechanisms=SCRAM-SHA-256,SCRAM-SHA-512",
        f"listener.name.secret.scram-sha-256.sasl.jaas.config={module}.scram.ScramLoginModule required;",
        f"listener.name.secret.scram-sha-512.sasl.jaas.config={module}.scram.ScramLoginModule required;",
        "ssl.keystore.type=PEM",
        f"ssl.keystore.location={folder / 'broker.pem'}",
        "ssl.truststore.type=PEM",
        f"ssl.truststore.location={folder / 'ca.pem'}",
        "listener.name.cert.ssl.client.auth=required",
        f"listener.name.cert.ssl.principal.mapping.rules=RULE:^.*$/{USER}/",
        *properties,
    )
    with apache_kafka(home, folder / "kafka", *everything, port=ports[0]) as administrator:
        for bits in (256, 512):
            secret = f"SCRAM-SHA-{bits}=[password={SCRAM_PASSWORD}]"
            command = ["--alter", "--add-config", secret, "--entity-type", "users", "--entity-name", USER]
            tool(home, "kafka.admin.ConfigCommand", administrator, *command)
        yield Doors(administrator, doors[1], doors[2], doors[3], folder)


def tool(home: Path, name: str, server: str, *arguments: str) -> None:
    """One of Kafka's command-line tools."""
    java = ["java", "-XX:TieredStopAtLevel=1", "-Xmx96m", "-cp", f"{home}/libs/*", name]
    done = subprocess.run(
        [*java, "--bootstrap-server", server, *arguments], check=False, capture_output=True, text=True
    )
    assert 0 == done.returncode, done.stdout + done.stderr


def _write_files(folder: Path) -> None:
    authority, stranger = trustme.CA(), trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    stranger.cert_pem.write_to_path(folder / "another-ca.pem")
    broker = authority.issue_cert("127.0.0.1", key_type=trustme.KeyType.RSA)
    key = serialization.load_pem_private_key(broker.private_key_pem.bytes(), None)
    plain = serialization.NoEncryption()
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    chain = b"".join(part.bytes() for part in broker.cert_chain_pems)
    (folder / "broker.pem").write_bytes(key.private_bytes(*form, plain) + chain)
    client = authority.issue_cert("groundwatch.test", key_type=trustme.KeyType.RSA)
    own = serialization.load_pem_private_key(client.private_key_pem.bytes(), None)
    locked = serialization.BestAvailableEncryption(KEY_PASSWORD.encode())
    (folder / "client-key.pem").write_bytes(own.private_bytes(*form, locked))
    (folder / "client.pem").write_bytes(b"".join(part.bytes() for part in client.cert_chain_pems))
    (folder / "scram-password").write_text(f"{SCRAM_PASSWORD}\n")
    (folder / "key-password").write_text(f"{KEY_PASSWORD}\n")
    (folder / "wrong-password").write_text("wrong\n")
