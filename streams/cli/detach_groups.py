"""Consumer groups of ours on a cluster: who is in them, and their end; aiokafka describes groups and deletes none."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import GroupAuthorizationFailedError, GroupIdNotFound, KafkaError, NonEmptyGroup, for_code
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Int16, Int32, Schema, String

from schemas.errors import NotReached
from streams.broker.connection import Connection


@dataclass(frozen=True, slots=True)
class Group:
    """A consumer group; ``members`` are client ids with their hosts. One that is hidden from our user may be there."""

    name: str
    members: tuple[str, ...] = ()
    is_hidden: bool = False


async def find_groups(admin: AIOKafkaAdminClient, names: Sequence[str], expected: Collection[str] = ()) -> list[Group]:
    """Those of the named groups that exist, and of the ``expected`` ones those of which our user may not know.

    Raises KafkaError.
    """
    present = {name for name, *_ in await admin.list_consumer_groups()}
    found = []
    for name in sorted(names):
        try:
            if name in present:  # one by one: aiokafka cannot read an answer about several
                for answer in await admin.describe_consumer_groups([name]):
                    found += [_group(group) for group in answer.groups]
            elif name in expected:  # lists leave out in silence what our user may not see
                await admin.find_coordinator(name)
        except GroupAuthorizationFailedError:
            found.append(Group(name, is_hidden=True))
    return found


def _group(described: Any) -> Group:
    code, name, _state, _protocol_type, _protocol, members, *_ = described
    if code:
        raise for_code(code)(f"group {name}")
    return Group(name, tuple(sorted(f"{client_id} at {host.lstrip('/')}" for _, client_id, host, *_ in members)))


async def delete_groups(
    connection: Connection, admin: AIOKafkaAdminClient, names: Sequence[str]
) -> dict[str, type[KafkaError]]:
    """Delete groups and their offsets; one that is gone already is fine. Those that are left, with the broker's error.

    Raises NotReached when somebody joined one meanwhile, KafkaError.
    """
    left: dict[str, type[KafkaError]] = {}
    client = AIOKafkaClient(**connection.aiokafka_options())
    try:
        await client.bootstrap()
        for name in names:
            node = await admin.find_coordinator(name)
            answer = await client.send(node, _DeleteGroups([name]))
            for group, code in answer.results:
                if code == NonEmptyGroup.errno:
                    raise NotReached(f"group {group} got a member meanwhile; stop every process, then detach again")
                if code not in {0, GroupIdNotFound.errno}:
                    left[group] = for_code(code)
    finally:
        await client.close()
    return left


class _Answer0(Response):  # type: ignore[misc]
    API_KEY = 42
    API_VERSION = 0
    SCHEMA = Schema(
        ("throttle_time_ms", Int32), ("results", Array(("group_id", String("utf-8")), ("error_code", Int16)))
    )


class _Answer1(Response):  # type: ignore[misc]
    API_KEY = 42
    API_VERSION = 1
    SCHEMA = _Answer0.SCHEMA


class _Question0(RequestStruct):  # type: ignore[misc]
    API_KEY = 42
    API_VERSION = 0
    RESPONSE_TYPE = _Answer0
    SCHEMA = Schema(("groups", Array(String("utf-8"))))


class _Question1(RequestStruct):  # type: ignore[misc]
    API_KEY = 42
    API_VERSION = 1
    RESPONSE_TYPE = _Answer1
    SCHEMA = _Question0.SCHEMA


class _DeleteGroups(Request[_Question0 | _Question1]):  # type: ignore[misc]
    API_KEY = 42

    def __init__(self, groups: Sequence[str]) -> None:
        self._groups = list(groups)

    def build(self, request_struct_class: type[_Question0 | _Question1]) -> _Question0 | _Question1:
        """The newest version that the broker knows; both ask the same."""
        return request_struct_class(self._groups)
