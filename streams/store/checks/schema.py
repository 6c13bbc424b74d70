"""The tables against the files that make them."""

from string import Template

from schemas.errors import ConfigError
from streams.store import migrations
from streams.store.connection import Connection
from streams.store.reports import CheckName, CheckResult


def check_migrations(connection: Connection, retention_days: int | None, hourly_days: int = 400) -> CheckResult:
    """Whether every statement was applied and none changed since; with ``retention_days`` also the retention."""
    files = migrations.shipped()
    done = migrations.applied(connection)
    numbered = [file for file in files if file.name != migrations.REPEATABLE]
    checked = sum(len(file.statements) for file in numbered)
    try:
        missing = [f"{step.name} from statement {step.first + 1}" for step in migrations.pending(numbered, done)]
    except ConfigError as error:
        return _result(checked, [str(error)], "run the groundwatch version that the store was migrated with")
    if retention_days is not None:
        values = migrations.placeholders(retention_days=retention_days, hourly_days=hourly_days)
        repeatable = next(file for file in files if file.name == migrations.REPEATABLE)
        text = "\n".join(Template(statement).substitute(values) for statement in repeatable.statements)
        if done.get(migrations.REPEATABLE) != {0: migrations.checksum(text)}:
            missing.append("retention or words differ from this version and store.retention_days")
    return _result(checked, missing, "run `groundwatch migrate` (embedded: restart `groundwatch run`)")


def _result(checked: int, faults: list[str], fix: str) -> CheckResult:
    return CheckResult(
        name=CheckName.MIGRATIONS,
        checked=checked,
        faults=len(faults),
        examples=tuple(faults),
        fix=fix if faults else "",
    )
