"""``groundwatch`` of a later version: it writes another schema version, and a field that this one does not know.

The environment says which version: GROUNDWATCH_TEST_SCHEMA, such as 1.1 or 2.0. It is no setting, so it is taken away.
"""

import os

from schemas import codec
from schemas.base import Record
from streams.broker import publisher
from streams.cli import main

_encode = codec.encode


def encode(record: Record) -> bytes:
    """With what a later version added."""
    return _encode(record)[:-1] + b',"added_later":{"a":[1,null,"x"]}}'


if __name__ == "__main__":
    major, minor = os.environ.pop("GROUNDWATCH_TEST_SCHEMA").split(".")
    codec.VERSION = codec.Version(int(major), int(minor))
    publisher.encode = encode  # type: ignore[attr-defined]  # the one place that sends records
    main()
