"""What a broker's refusal means for somebody who wants to look at a topic, and what to do about it."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from aiokafka.errors import ClusterAuthorizationFailedError, KafkaError, TopicAuthorizationFailedError

from schemas.errors import GroundwatchError, NotReached
from streams.broker.connection import Connection
from streams.broker.trouble import unreachable

_LISTED = 10
_RIGHTS = (TopicAuthorizationFailedError, ClusterAuthorizationFailedError)


def missing(absent: Sequence[str], known: Collection[str], servers: str) -> NotReached:
    """A topic is not among those that the broker shows."""
    names = ", ".join(absent)
    own = sorted(name for name in known if not name.startswith("__"))
    close = get_close_matches(absent[0], own, n=1, cutoff=0.5)
    shown = own[:_LISTED]
    more = f" and {len(own) - len(shown)} more" if len(own) > len(shown) else ""
    there = f"there are {', '.join(shown)}{more}" if own else "it shows none at all"
    meant = f"did you mean {close[0]}? " if close else ""
    return NotReached(
        f"{servers} shows no topic {names}; {meant}{there}. A topic that exists is hidden from a user who may not "
        f"describe it: `kafka-acls --bootstrap-server {servers} --add --allow-principal User:NAME --operation Read "
        f"--operation Describe --topic {absent[0]}`"
    )


def nothing_there(topics: Sequence[str], *, had_any: bool, ever_had: bool) -> NotReached:
    """Nothing to look at."""
    names = ", ".join(topics)
    if had_any:
        return NotReached(f"{names}: no message is as new as --from; give an earlier time, or --from earliest")
    if ever_had:
        return NotReached(
            f"{names}: all messages were deleted by the topic's retention; wait for new ones, or raise retention.ms"
        )
    return NotReached(f"{names}: empty; start the producer, or see whether it writes to another topic or cluster")


def explained(error: KafkaError, servers: str, topics: Sequence[str], said: Sequence[str] = ()) -> GroundwatchError:
    """An error of the client in words, with the fix; ``said`` is what it logged, since the error may say little."""
    if isinstance(error, _RIGHTS):
        lines = " and ".join(
            f"`kafka-acls --bootstrap-server {servers} --add --allow-principal User:NAME --operation Read --operation "
            f"Describe --topic {topic}`"
            for topic in topics
        )
        name = type(error).__name__
        return NotReached(
            f"{servers}: our user may not read {', '.join(topics)} ({name}); an administrator runs {lines}"
        )
    return unreachable(error, Connection(servers), said)
