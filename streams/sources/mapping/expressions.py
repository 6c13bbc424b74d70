"""JMESPath expressions, compiled and checked once; each costs at most its length times the size of the data."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jmespath
from jmespath import visitor
from jmespath.exceptions import JMESPathError, JMESPathTypeError

from schemas.errors import ConfigError
from streams.sources.mapping.functions import FUNCTIONS, NAMES
from streams.sources.raw import Json

MAX_EXPRESSION_CHARS = 2_000
_INTERPRETER: Any = visitor.TreeInterpreter(visitor.Options(custom_functions=FUNCTIONS))
_FAULTS = (JMESPathError, TypeError, ValueError, ArithmeticError, AttributeError, LookupError, RecursionError)


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression."""

    source: str
    _evaluate: Callable[[Json], Json]

    def of(self, document: Json) -> Json:
        """What the expression gives.

        Raises ValueError where a function was given what it does not take; its text never repeats data.
        """
        try:
            return self._evaluate(document)
        except JMESPathTypeError as error:
            raise ValueError(f"{error.function_name}() got {error.actual_type}") from error
        except _FAULTS as error:
            raise ValueError(type(error).__name__) from error


def compile_expression(source: str) -> Expression:
    """The expression. Raises ConfigError with position and fix, without naming the key that it stands at."""
    if len(source) > MAX_EXPRESSION_CHARS:
        raise ConfigError(f"an expression of {len(source)} characters; shorten it to {MAX_EXPRESSION_CHARS}")
    try:
        tree = jmespath.compile(source).parsed
    except RecursionError as error:
        raise ConfigError("nested too deep; write it flatter") from error
    except JMESPathError as error:
        raise ConfigError(f"not an expression: {_place(error)}; it is JMESPath: docs/mapping.md") from error
    for node in _nodes(tree):
        _check(node)
    path = _plain_path(tree)
    return Expression(source, _walking(path) if path else lambda document: _INTERPRETER.visit(tree, document))


def _place(error: JMESPathError) -> str:
    """Column and token, out of the library's message of several lines."""
    column = getattr(error, "lex_position", None)
    token = getattr(error, "token_value", None)
    where = f"at column {column + 1}" if isinstance(column, int) else ""
    said = _first_line(error).removeprefix("Invalid jmespath expression: ").removeprefix("Bad jmespath expression: ")
    return " ".join(part for part in (said.rstrip(":"), where, f"near {token!r}" if token else "") if part)


def _first_line(error: BaseException) -> str:
    text = str(error).split(": Parse error at column", maxsplit=1)[0]
    return text.splitlines()[0] if text else type(error).__name__


def _check(node: dict[str, Any]) -> None:
    """What the library itself tells only when it evaluates, or never."""
    if node["type"] == "subexpression" and node["children"][0]["type"] == "not_expression":
        raise ConfigError("! belongs to the name behind it alone; write !(a.b) for a path")
    if node["type"] != "function_expression":
        return
    name, given = node["value"], len(node["children"])
    if name not in NAMES:
        raise ConfigError(f"no function {name}(); there are {', '.join(sorted(NAMES))}")
    takes = FUNCTIONS.FUNCTION_TABLE[name]["signature"]
    is_open = any(argument.get("variadic") for argument in takes)
    if given < len(takes) or (given > len(takes) and not is_open):
        raise ConfigError(f"{name}() takes {len(takes)} argument{'s' * (len(takes) != 1)}, not {given}")


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """The nodes of a syntax tree; literals hold data, not nodes."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += part["children"]


def _plain_path(tree: Any) -> tuple[str, ...]:
    """The keys of an expression that is nothing but keys: most are, and walking them is ten times cheaper."""
    if tree["type"] == "field":
        return (tree["value"],)
    if tree["type"] != "subexpression":
        return ()
    parts = [_plain_path(child) for child in tree["children"]]
    return tuple(key for part in parts for key in part) if all(parts) else ()


def _walking(path: tuple[str, ...]) -> Callable[[Json], Json]:
    def walk(document: Json) -> Json:
        for key in path:
            if not isinstance(document, dict):
                return None
            document = document.get(key)
        return document

    return walk
