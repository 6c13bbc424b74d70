"""What a deployment needs of the brokers: rights, as lines for kafka-acls, and the load that reading puts on them."""

from collections.abc import Sequence

from streams.attach.report import Load
from streams.broker.topics import ALERT_LEADER
from streams.settings.parts import Role

PRINCIPAL = "User:groundwatch"
_GROUP = "groundwatch."
_OWN = "gw."
_USE = "--operation Create --operation Read --operation Write --operation Describe"
_INTERNAL_ROLES = (Role.ASSEMBLE, Role.VERIFY, Role.SINK, Role.ALERT)
INGEST_GROUP = f"{_GROUP}{Role.INGEST}"


def acls(source: str, internal: str, topics: Sequence[str], principal: str = PRINCIPAL) -> tuple[str, ...]:
    """One line a right: on the source topics reading alone, on our own topics and groups what using needs."""
    read = f"kafka-acls --bootstrap-server {source} --add --allow-principal {principal}"
    own = f"kafka-acls --bootstrap-server {internal} --add --allow-principal {principal}"
    return (
        *(f"{read} --operation Read --operation Describe --topic {topic}" for topic in topics),
        f"{read} --operation Read --operation Describe --group {INGEST_GROUP}",
        f"{own} {_USE} --topic {_OWN} --resource-pattern-type prefixed",
        f"{own} {_USE} --topic {ALERT_LEADER}",
        f"{own} --operation Read --operation Describe --group {_GROUP} --resource-pattern-type prefixed",
    )


def load(partitions: int, bytes_per_second: float | None) -> Load:
    """What reading costs the source brokers; everything else goes to our own topics."""
    return Load(
        connections="three a worker with role ingest and broker: to read, to keep its place, to see topics",
        fetch="as kafka.source says (docs/kafka.md): 1 MB a partition and 16 MB a request unless one batch is larger, "
        "half a second for an empty one",
        groups=(INGEST_GROUP, *(f"{_GROUP}{role}" for role in _INTERNAL_ROLES)),
        bytes_per_second=bytes_per_second,
        notes=(
            f"only {INGEST_GROUP} reads the source, its {partitions} partitions once; the other groups read gw.* alone",
            "bytes a second are values after Kafka's own compression is undone: less goes over the wire",
        ),
    )
