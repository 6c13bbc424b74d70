"""Tests that need outside things skip on a user's machine and fail in CI."""

from pathlib import Path

import pytest

from tests.conftest import DATASET_FILE, missing_reason

VARIABLES = ("GROUNDWATCH_DATA", "GROUNDWATCH_KAFKA_HOME")


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_unmarked_test_needs_nothing() -> None:
    """Most tests."""
    assert missing_reason({"parametrize"}) == ""


@pytest.mark.parametrize(("mark", "variable"), [("dataset", VARIABLES[0]), ("kafka", VARIABLES[1])])
def test_missing_variable_is_named(mark: str, variable: str) -> None:
    """The reader learns what to set."""
    assert variable in missing_reason({mark})


def test_empty_folder_is_not_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A wrong folder skips, too, instead of failing in the middle."""
    monkeypatch.setenv("GROUNDWATCH_DATA", str(tmp_path))
    assert DATASET_FILE in missing_reason({"dataset"})
    (tmp_path / DATASET_FILE).touch()
    assert missing_reason({"dataset"}) == ""


def test_ci_turns_a_skip_into_a_failure(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misconfigured CI must not look green."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    pytester.makeconftest("from tests.conftest import pytest_runtest_setup")
    pytester.makeini("[pytest]\nmarkers = kafka\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile("import pytest\n@pytest.mark.kafka\ndef test_x(): pass")
    monkeypatch.delenv("CI", raising=False)
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(skipped=1)
    monkeypatch.setenv("CI", "true")
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(errors=1)
