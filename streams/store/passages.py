"""Texts of passages, stored once by content hash; sent again on each day of use, so that they outlive the traces."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import date

from streams.store.connection import Connection, Table

_TABLE = Table("passages", (("hash", "FixedString(16)"), ("seen", "Date"), ("text", "String")))
_REMEMBERED = 50_000
"""Hashes that a writer knows to be stored (some 8 MB); beyond it a text is sent again, which is harmless."""
_PER_QUERY = 1_000
_READ = """
SELECT hash, text FROM passages
WHERE hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16))
LIMIT 1 BY hash
"""


class PassageWriter:
    """Inserts the texts that this writer has not stored today; safe from several threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stored: OrderedDict[bytes, date] = OrderedDict()
        self._lock = threading.Lock()

    def store(self, texts: Iterable[tuple[bytes, str]], today: date) -> None:
        """Store each (hash, text) at least once for ``today``. Raises RowRejected, StoreUnavailable."""
        with self._lock:
            new = {digest: text for digest, text in texts if self._stored.get(digest) != today}
        self._connection.insert_columns(_TABLE, [list(new), [today] * len(new), list(new.values())])
        with self._lock:
            for digest in new:
                self._stored[digest] = today
                self._stored.move_to_end(digest)
            while len(self._stored) > _REMEMBERED:
                self._stored.popitem(last=False)


def read_texts(connection: Connection, hashes: Sequence[bytes]) -> dict[bytes, str]:
    """The stored texts of ``hashes``; one that is not stored is missing from the answer."""
    wanted = sorted({digest.hex() for digest in hashes})
    texts: dict[bytes, str] = {}
    for start in range(0, len(wanted), _PER_QUERY):
        rows = connection.query(_READ, {"hashes": wanted[start : start + _PER_QUERY]})
        texts.update((row["hash"], row["text"]) for row in rows)
    return texts
