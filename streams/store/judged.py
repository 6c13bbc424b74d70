"""What judges said, by key, so that the same question is paid for once; as old as traces may be."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from pydantic import ValidationError

from schemas.agreement import DecidedClaim
from schemas.verdict import ClaimJudgement
from streams.store.connection import Connection, Table
from streams.store.decided import read_decided
from streams.store.values import clean, seconds

_CACHE = Table("judge_cache", (("key", "String"), ("written_at", "DateTime('UTC')"), ("record", "String")))
_PER_READ = 2_000
_READ = "SELECT key, record FROM judge_cache FINAL WHERE key IN (SELECT arrayJoin({keys:Array(String)}))"


class Judgements:
    """Writes and reads of one client; every method may raise StoreUnavailable, writes also RowRejected."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def insert(self, judgements: Mapping[str, ClaimJudgement], now: datetime) -> None:
        """Keep them; of a key the newest counts."""
        at = seconds(now)
        self._connection.insert(_CACHE, [(clean(key), at, _text(one)) for key, one in judgements.items()])

    def decided(self, since: datetime, until: datetime, *, limit: int) -> list[DecidedClaim]:
        """Claims of answers in [since, until) whose label is the judge's, newest first."""
        return read_decided(self._connection, since, until, limit)

    def read(self, keys: Sequence[str]) -> dict[str, ClaimJudgement]:
        """Those that are known; what only a newer version can read is not."""
        found: dict[str, ClaimJudgement] = {}
        for first in range(0, len(keys), _PER_READ):
            asked = {"keys": [clean(key) for key in keys[first : first + _PER_READ]]}
            for row in self._connection.query(_READ, asked):
                with suppress(ValidationError):
                    found[row["key"]] = ClaimJudgement.model_validate_json(row["record"])
        return found


def _text(judgement: ClaimJudgement) -> str:
    # Not pydantic's own text: it refuses half characters, and a judge may quote some.
    return clean(json.dumps(judgement.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False))
