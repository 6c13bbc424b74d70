"""What integration tests share: one small language model a process, since it takes seconds to load."""

from collections.abc import Iterator

import pytest

from streams.local_llm import serve_local


@pytest.fixture(scope="session")
def model_url() -> Iterator[str]:
    """The address of a real small model on this machine; ask for it in tests marked ``local_llm``."""
    with serve_local() as url:
        yield url
