"""The page docs/commands.md, made from the commands themselves: ``python -m streams.cli.reference``."""

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo

from schemas.base import Record
from streams.cli.exits import MEANINGS
from streams.cli.program import app
from streams.cli.shapes import SHAPES

_INTRO = """# Commands

Made by `make docs` from the commands themselves. `groundwatch COMMAND --help` says the same.

Commands look for a running process by `run.json` in the data folder (`data_dir`, else that of a demo below it) and ask
it; when none runs, they open the store themselves. So they work beside `groundwatch run`, after it, and on a ClickHouse
server. Every message of a failure says what to do next.

## Exit codes

| code | meaning |
| --- | --- |
"""
_GENERAL = """
## Shell completion

`groundwatch --install-completion` sets it up for the shell that runs it (bash, zsh, fish, PowerShell);
`--show-completion` prints it. It completes commands, options and fixed words, and, beside a running process, ids of
alerts and policies and names of intents.

## JSON

With `--json` a command prints one JSON object a line on standard output, ASCII, and nothing else there; progress and
notes go to standard error. Fields are added in later versions, never renamed or removed. Times are UTC. Text of users
and documents is as it was recorded: escape it where you show it.

## Tenants

`traces list` and `traces show` read the traces of all tenants unless `--tenant` names some: whoever can read the data
folder could read them anyway. The API behind them has no such default: a request says `tenant=NAME`, or `tenants=all`.
"""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An option or argument: ``names`` as they are typed, ``kind`` of the value, empty for a flag."""

    names: str
    kind: str
    text: str
    default: Any
    is_argument: bool
    is_required: bool


def commands() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every command that help shows: its words and its function, in the order of the help."""
    yield from _walk("", app)


def commands_markdown() -> str:
    """The whole page."""
    codes = "".join(f"| {code.value} | {meaning} |\n" for code, meaning in MEANINGS.items())
    sections = "".join(_section(name, function) for name, function in commands())
    return f"{_INTRO}{codes}{_GENERAL}{sections}"


def help_of(function: Callable[..., Any]) -> str:
    """The text of a command's help, without indentation."""
    return inspect.cleandoc(function.__doc__ or "")


def parameters_of(function: Callable[..., Any]) -> list[Parameter]:
    """The options and arguments of a command, from its signature."""
    hints = get_type_hints(function, include_extras=True)
    return [
        _parameter(name, parameter.default, hints[name])
        for name, parameter in inspect.signature(function).parameters.items()
    ]


def _walk(prefix: str, program: typer.Typer) -> Iterator[tuple[str, Callable[..., Any]]]:
    for command in program.registered_commands:
        if command.callback is not None and not command.hidden:
            yield f"{prefix} {command.name or command.callback.__name__.replace('_', '-')}".strip(), command.callback
    for group in program.registered_groups:
        if group.typer_instance is not None:
            yield from _walk(f"{prefix} {group.name}".strip(), group.typer_instance)


def _parameter(name: str, default: Any, hint: Any) -> Parameter:
    kind, info = get_args(hint)
    is_argument = isinstance(info, ArgumentInfo)
    is_required = default is inspect.Parameter.empty
    is_many, value = _value_type(kind)
    if is_argument:
        shown = name.upper() + ("..." if is_many else "")
        names = shown if is_required else f"[{shown}]"
        return Parameter(names, "", info.help or "", None, is_argument=True, is_required=is_required)
    spelled = f"--{name.replace('_', '-')}"
    plain = f"{spelled}/--no-{spelled[2:]}" if value is bool else spelled
    # Inside Annotated, Typer takes the first name for a default until it makes the command.
    given = [name for name in (info.default, *(info.param_decls or ())) if isinstance(name, str) and name[:1] == "-"]
    names = ", ".join(given) or plain
    return Parameter(names, _kind(value), info.help or "", default, is_argument=False, is_required=is_required)


def _value_type(kind: Any) -> tuple[bool, Any]:
    """Whether there may be several values, and the type of one."""
    options = [option for option in get_args(kind) if option is not NoneType]
    if get_origin(kind) is list:
        return True, options[0]
    return _value_type(options[0]) if options else (False, kind)


def _kind(value: Any) -> str:
    if value is bool:
        return ""
    if issubclass(value, StrEnum):
        return " " + "\\|".join(word.value for word in value)
    return " " + {str: "TEXT", int: "NUMBER", float: "NUMBER", Path: "PATH"}[value]


def _section(name: str, function: Callable[..., Any]) -> str:
    parameters = parameters_of(function)
    words = [parameter.names for parameter in parameters if parameter.is_argument]
    usage = " ".join(["groundwatch", name, *(["[OPTIONS]"] if len(words) < len(parameters) else []), *words])
    rows = "".join(_row(parameter) for parameter in parameters)
    table = f"\n| parameter | meaning |\n| --- | --- |\n{rows}" if rows else ""
    return f"\n## groundwatch {name}\n\n`{usage}`\n\n{help_of(function)}\n{table}{_fields(name)}"


def _row(parameter: Parameter) -> str:
    text = parameter.text.replace("|", "\\|")
    is_told = parameter.kind and not parameter.is_required and parameter.default not in {None, ""}
    default = f" Default: `{parameter.default}`." if is_told else ""
    return f"| `{parameter.names}{parameter.kind}` | {text}{default} |\n"


def _fields(name: str) -> str:
    shape = SHAPES.get(name)
    if shape is None:
        return ""
    fields = ", ".join(f"`{field}`" for field in shape.model_fields)
    return f"\nJSON: {fields}. {_first_sentence(shape)}\n"


def _first_sentence(shape: type[Record]) -> str:
    return " ".join(inspect.cleandoc(shape.__doc__ or "").split("\n\n")[0].split()).replace("``", "`")


if __name__ == "__main__":
    sys.stdout.write(commands_markdown())
