"""What is left to do of the migration files, and when files and store disagree."""

import pytest

from schemas.errors import ConfigError
from schemas.labels import Outcome
from streams.store.migrations import (
    REPEATABLE,
    MigrationFile,
    Step,
    checksum,
    pending,
    placeholders,
    shipped,
    split_statements,
)

ONE = MigrationFile("0001_one.sql", ("CREATE a", "CREATE b"))
TWO = MigrationFile("0002_two.sql", ("CREATE c",))


def done(file: MigrationFile, count: int) -> dict[str, dict[int, str]]:
    """The first ``count`` statements of a file as applied."""
    return {file.name: {at: checksum(text) for at, text in enumerate(file.statements[:count])}}


def test_an_empty_store_gets_everything_in_order() -> None:
    """Files by number, statements by position."""
    assert [Step(ONE.name, 0, ONE.statements), Step(TWO.name, 0, TWO.statements)] == pending([ONE, TWO], {})


def test_a_file_goes_on_after_its_last_finished_statement() -> None:
    """Finished statements are not run again."""
    assert [Step(ONE.name, 1, ("CREATE b",)), Step(TWO.name, 0, TWO.statements)] == pending([ONE, TWO], done(ONE, 1))


def test_an_unfinished_statement_may_be_repaired() -> None:
    """Only what ran is fixed."""
    repaired = MigrationFile(ONE.name, ("CREATE a", "CREATE better"))
    assert [Step(ONE.name, 1, ("CREATE better",))] == pending([repaired], done(ONE, 1))


@pytest.mark.parametrize("statements", [("CREATE other", "CREATE b"), ()])
def test_a_finished_statement_must_not_change(statements: tuple[str, ...]) -> None:
    """The text names file and statement."""
    with pytest.raises(ConfigError, match=r"0001_one\.sql: statement 1 was changed"):
        pending([MigrationFile(ONE.name, statements)], done(ONE, 2))


def test_spaces_and_comments_are_no_change() -> None:
    """Layout may be tidied."""
    assert split_statements("-- why\nCREATE  a;\n\n CREATE\n b ;\n") == ("CREATE  a", "CREATE\n b")
    assert checksum("CREATE a") == checksum(" CREATE\n  a ")


def test_a_semicolon_within_a_line_ends_nothing() -> None:
    """Only one at the end of a line does."""
    assert ("SELECT ';' AS a",) == split_statements("SELECT ';' AS a;\n")


def test_a_late_number_is_refused() -> None:
    """A file that sorts before what is applied would make stores differ by history."""
    with pytest.raises(ConfigError, match=r"0001_one\.sql comes late"):
        pending([ONE, TWO], done(TWO, 1))


def test_a_newer_store_is_refused() -> None:
    """The text names the file that this version lacks."""
    with pytest.raises(ConfigError, match=r"0002_two\.sql"):
        pending([ONE], {**done(ONE, 2), **done(TWO, 1)})


@pytest.mark.parametrize("days", [0, 3651])
def test_retention_has_bounds(days: int) -> None:
    """Beyond ten years the engine's 32-bit dates would wrap."""
    with pytest.raises(ConfigError, match="retention_days"):
        placeholders(retention_days=days, hourly_days=400)
    with pytest.raises(ConfigError, match="hourly_days"):
        placeholders(retention_days=90, hourly_days=days)


def test_every_outcome_is_in_the_vocabulary_of_the_store() -> None:
    """CHECK lists come from the enums."""
    assert all(
        f"'{outcome.value}'" in str(placeholders(retention_days=1, hourly_days=1)["OUTCOMES"]) for outcome in Outcome
    )


def test_passages_outlive_traces() -> None:
    """A text is sent again on the first use of a day, so its life must be longer by more than a day."""
    values = placeholders(retention_days=90, hourly_days=400)
    assert int(values["PASSAGE_DAYS"]) > int(values["RETENTION_DAYS"]) + 1


def test_the_shipped_files_are_numbered_and_complete() -> None:
    """Numbers are unique, and the repeatable file is there."""
    names = [file.name for file in shipped()]
    numbers = [name[:4] for name in names if name != REPEATABLE]
    assert sorted(set(numbers)) == numbers
    assert REPEATABLE in names
