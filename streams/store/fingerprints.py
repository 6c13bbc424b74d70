"""The fingerprints that stored verdicts have: what each is made of, and when it was in use."""

import json

from schemas.base import Record, UtcDatetime
from streams.store.connection import LONGEST_SECONDS, Connection
from streams.store.values import clean, from_micros

_FINGERPRINTS = """
SELECT fingerprint, max(fingerprint_parts) AS parts, min(ts) AS first, max(ts) AS last
FROM verdicts WHERE {fingerprint:String} = '' OR fingerprint = {fingerprint:String}
GROUP BY fingerprint ORDER BY last DESC, fingerprint
"""
# max: verdicts of versions that did not store the parts hold an empty text.


class StoredFingerprint(Record):
    """One series of verdicts; ``parts`` are empty where only versions that did not store them wrote it."""

    fingerprint: str
    parts: dict[str, str]
    first_ts: UtcDatetime
    last_ts: UtcDatetime


def read_fingerprints(connection: Connection, fingerprint: str = "") -> list[StoredFingerprint]:
    """All fingerprints with verdicts, or the one asked for, last used first."""
    rows = connection.query(_FINGERPRINTS, {"fingerprint": clean(fingerprint)}, max_seconds=LONGEST_SECONDS)
    return [
        StoredFingerprint(
            fingerprint=row["fingerprint"],
            parts=json.loads(row["parts"] or "{}"),
            first_ts=from_micros(row["first"]),
            last_ts=from_micros(row["last"]),
        )
        for row in rows
    ]
