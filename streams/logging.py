"""Log lines: one event name and fields, to standard error; a field that could carry a user's text never gets out.

The names of such fields are listed here, so that a careless ``log.info("x", answer=…)`` shows a length, not the text.
Ids and names do get out, and they are a stranger's too: cut, and without anything that could end a line or style a
terminal. Of an error that is not ours only the type is shown, since libraries quote what they could not read.
"""

import logging
import sys
import traceback
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, Literal, TextIO

import structlog

from schemas.errors import GroundwatchError

MAX_FIELD_CHARS = 300
USER_TEXT_FIELDS = frozenset({"question", "answer", "text", "passage", "passages", "prompt", "claim", "value", "body"})
_NOISY_LOGGERS = ("faust", "mode", "aiokafka", "kafka", "httpx", "httpx2", "aiohttp.access", "clickhouse_connect")


def configure_logging(
    level: Literal["debug", "info", "warning", "error"],
    style: Literal["auto", "console", "json"],
    stream: TextIO | None = None,
) -> None:
    """Set up structlog and the standard library's loggers for this process; ``stream`` defaults to standard error.

    Libraries are heard from warning on, or from info on at level ``debug``: they would drown one line per trace.
    """
    out = stream or sys.stderr
    number = logging.getLevelNamesMapping()[level.upper()]
    shared = _shared_processors()
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                show_exception,
                make_inert,
                *_renderers(style, out),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)
    for name in _NOISY_LOGGERS:
        logging.getLogger(name).setLevel(logging.INFO if level == "debug" else max(number, logging.WARNING))


def hide_user_text(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace what users or documents may have written by its length."""
    for name in USER_TEXT_FIELDS & event.keys():
        event[name] = f"<{len(event[name])} characters>" if isinstance(event[name], str) else "<hidden>"
    return event


def make_inert(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Cut long texts, also within lists and mappings, and replace control and direction characters in all of them."""
    for name, value in event.items():
        if name != "exception":
            event[name] = _inert(value)
    return event


def show_exception(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Put the traceback of ``exc_info`` into ``exception``: places and types, and texts of our own errors alone."""
    found = event.pop("exc_info", None)
    if found is True:
        found = sys.exc_info()
    error = found[1] if isinstance(found, tuple) else found
    if isinstance(error, BaseException):
        event["exception"] = _traceback_text(error)
    return event


def _inert(value: Any) -> Any:
    if isinstance(value, str):
        cut = value if len(value) <= MAX_FIELD_CHARS else f"{value[:MAX_FIELD_CHARS]}…"
        return cut if cut.isprintable() else "".join(char if char.isprintable() else "\ufffd" for char in cut)
    if isinstance(value, Mapping):
        return {_inert(key): _inert(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_inert(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float)) else _inert(str(value))


def _traceback_text(error: BaseException) -> str:
    lines: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        frames = traceback.extract_tb(current.__traceback__)
        lines += [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        lines.append(_named(current))
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n".join(lines)


def _named(error: BaseException) -> str:
    name = type(error).__qualname__
    if isinstance(error, GroundwatchError):
        return f"{name}: {_inert(str(error))}"
    if isinstance(error, OSError) and error.strerror:
        return f"{name}: {error.strerror}"
    return name


def _shared_processors() -> list[Callable[..., Any]]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        hide_user_text,
    ]


def _renderers(style: str, out: TextIO) -> list[Callable[..., Any]]:
    if style == "console" or (style == "auto" and out.isatty()):
        return [structlog.dev.ConsoleRenderer(colors=out.isatty())]
    return [structlog.processors.JSONRenderer(default=str)]
