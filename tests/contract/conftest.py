"""What every contract on stores runs over: the store in memory, the embedded engine and a server over HTTP."""

from collections.abc import Iterator

import pytest

from streams.store import Store
from tests.chdb_path import open_empty_store, shared_path
from tests.clickhouse_double import ClickHouseDouble
from tests.fakes_store import MemoryStore


@pytest.fixture(
    params=[
        "memory",
        pytest.param("chdb", marks=pytest.mark.integration),
        pytest.param("http", marks=pytest.mark.integration),
    ]
)
def store(request: pytest.FixtureRequest) -> Iterator[MemoryStore | Store]:
    """Each kind of store in turn, empty."""
    if request.param == "memory":
        yield MemoryStore()
    elif request.param == "chdb":
        opened = open_empty_store()
        yield opened
        opened.close()
    else:
        with ClickHouseDouble(shared_path()) as double:
            opened = open_empty_store(double.dsn)
            yield opened
            opened.close()
