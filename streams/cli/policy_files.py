"""Policy files for commands: read, checked whole, every fault with its line."""

import re
from pathlib import Path

from sampling.policy_file import parse_policy
from schemas.base import Record
from schemas.errors import ConfigError
from schemas.policy import PolicyDocument

_LINE = re.compile(r"line (\d+): ")


class Fault(Record):
    """One fault of a file; ``line`` is None where none can be told."""

    line: int | None = None
    text: str

    def __str__(self) -> str:
        return self.text if self.line is None else f"line {self.line}: {self.text}"


class CheckedFile(Record):
    """One policy file: ``name`` of the policy when it ``is_fine``, else its ``faults``."""

    file: str
    is_fine: bool
    name: str = ""
    faults: tuple[Fault, ...] = ()


def parsed(file: Path) -> PolicyDocument:
    """The policy in a file. Raises ConfigError: every fault with its line."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}; give the path of a policy file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"cannot read {file}: it is not UTF-8; save it as UTF-8") from error
    try:
        return parse_policy(text)
    except ConfigError as error:
        raise ConfigError("\n".join(f"{file}: {line}" for line in str(error).splitlines())) from error


def checked_file(file: Path) -> CheckedFile:
    """What ``parsed`` says of a file."""
    try:
        document = parsed(file)
    except ConfigError as error:
        lines = [line.removeprefix(f"{file}: ") for line in str(error).splitlines()]
        return CheckedFile(file=str(file), is_fine=False, faults=tuple(_fault(line) for line in lines))
    return CheckedFile(file=str(file), is_fine=True, name=document.name)


def _fault(line: str) -> Fault:
    found = _LINE.match(line)
    return Fault(line=int(found[1]), text=line[found.end() :]) if found else Fault(text=line)
