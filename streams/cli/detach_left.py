"""What ``groundwatch detach`` may not remove, or not even see, and the lines with which somebody else lets it."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from schemas.base import Record
from streams.broker.topics import ALERT_LEADER

HIDDEN = "not shown to our user, so it may be there or not"
_GROUPS, _TOPICS = "groundwatch.", "gw."


class Kind(StrEnum):
    """What a cluster has of ours."""

    GROUP = "group"
    TOPIC = "topic"


class Left(Record):
    """Something that was not removed; ``why`` is the broker's error, or that our user does not see it."""

    kind: Kind
    cluster: str
    name: str
    why: str


def remedies(left: Sequence[Left], users: Mapping[str, str]) -> list[str]:
    """Lines for an administrator: rights with which detaching again is enough, then commands that do it instead.

    ``users`` are the login names by cluster; one that is not known is written NAME.
    """
    rights, commands = [], []
    for cluster in dict.fromkeys(one.cluster for one in left):
        user = users.get(cluster) or "NAME"
        for kind in Kind:
            names = [one.name for one in left if (one.cluster, one.kind) == (cluster, kind)]
            rights += [
                f"kafka-acls --bootstrap-server {cluster} --add --allow-principal User:{user} --operation Describe "
                f"--operation Delete --{kind} {resource}"
                for resource in dict.fromkeys(_resource(kind, name) for name in names)
            ]
            if names and kind is Kind.GROUP:
                groups = " ".join(f"--group {name}" for name in names)
                commands.append(f"kafka-consumer-groups --bootstrap-server {cluster} --delete {groups}")
            elif names:
                pattern = "|".join(name.replace(".", r"\.") for name in names)
                commands.append(f"kafka-topics --bootstrap-server {cluster} --delete --topic '{pattern}'")
    return [*rights, *commands]


def _resource(kind: Kind, name: str) -> str:
    if kind is Kind.TOPIC and name == ALERT_LEADER:
        return ALERT_LEADER
    return f"{_GROUPS if kind is Kind.GROUP else _TOPICS} --resource-pattern-type prefixed"
