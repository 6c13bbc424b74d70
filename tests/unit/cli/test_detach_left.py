"""What detach may not remove is named with the lines that let somebody else remove it."""

from streams.broker.topics import ALERT_LEADER
from streams.cli.detach import Detached, described
from streams.cli.detach_left import HIDDEN, Kind, Left, remedies

OURS, THEIRS = "ours:9092", "theirs:9092"


def left(kind: Kind, name: str, cluster: str = OURS, why: str = "GroupAuthorizationFailedError") -> Left:
    """Something that is still there."""
    return Left(kind=kind, cluster=cluster, name=name, why=why)


def test_rights_come_once_each_and_before_the_commands_that_do_it_by_hand() -> None:
    """For the login that is configured, on the cluster that refused."""
    found = [
        left(Kind.GROUP, "groundwatch.ingest", THEIRS),
        left(Kind.GROUP, "groundwatch.sink"),
        left(Kind.GROUP, "groundwatch.verify"),
        left(Kind.TOPIC, "gw.drawn"),
        left(Kind.TOPIC, "gw.policy"),
        left(Kind.TOPIC, ALERT_LEADER),
    ]
    grant = "--operation Describe --operation Delete"
    prefixed = "--resource-pattern-type prefixed"
    ours = f"kafka-acls --bootstrap-server {OURS} --add --allow-principal User:gw {grant}"
    topics = r"gw\.drawn|gw\.policy|groundwatch\.alert-__assignor-__leader"
    assert [
        f"{ours} --group groundwatch. {prefixed}".replace(OURS, THEIRS).replace("User:gw", "User:NAME"),
        f"{ours} --group groundwatch. {prefixed}",
        f"{ours} --topic gw. {prefixed}",
        f"{ours} --topic {ALERT_LEADER}",
        f"kafka-consumer-groups --bootstrap-server {THEIRS} --delete --group groundwatch.ingest",
        f"kafka-consumer-groups --bootstrap-server {OURS} --delete --group groundwatch.sink --group groundwatch.verify",
        f"kafka-topics --bootstrap-server {OURS} --delete --topic '{topics}'",
    ] == remedies(found, {OURS: "gw", THEIRS: ""})


def test_nothing_that_our_user_sees_is_not_nothing_of_ours() -> None:
    """What is hidden is said, with what helps."""
    one = left(Kind.GROUP, "groundwatch.ingest", why=HIDDEN)
    lines = described(Detached(left=(one,), remedies=("kafka-acls …",)))
    assert [f"LEFT  group groundwatch.ingest on {OURS}: {HIDDEN}", "kafka-acls …"] == [lines[0], lines[-1]]
    assert ["Nothing of ours is there."] == described(Detached())
