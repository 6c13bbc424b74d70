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
    for name, arguments in _called(tree):
        _check_call(name, arguments)
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


def _check_call(name: str, arguments: int) -> None:
    """The library itself tells of these only when it evaluates."""
    if name not in NAMES:
        raise ConfigError(f"no function {name}(); there are {', '.join(sorted(NAMES))}")
    takes = FUNCTIONS.FUNCTION_TABLE[name]["signature"]
    is_open = any(argument.get("variadic") for argument in takes)
    if arguments < len(takes) or (arguments > len(takes) and not is_open):
        raise ConfigError(f"{name}() takes {len(takes)} argument{'s' * (len(takes) != 1)}, not {arguments}")


def _called(node: Any) -> Iterator[tuple[str, int]]:
    """The functions called anywhere in an expression, with the number of arguments."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if part.get("type") == "function_expression":
                yield part["value"], len(part["children"])
            waiting += [child for key, child in part.items() if key != "value" or part.get("type") != "literal"]
        elif isinstance(part, list):
            waiting += part


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
