"""Log lines: one event name and fields, to standard error; a field that could carry a user's text never gets out.

The names of such fields are listed here, so that a careless ``log.info("x", answer=…)`` shows a length, not the text.
"""

import logging
import sys
from collections.abc import Callable, MutableMapping
from typing import Any, Literal, TextIO

import structlog

USER_TEXT_FIELDS = frozenset({"question", "answer", "text", "passage", "passages", "prompt", "claim", "value", "body"})
_NOISY_LOGGERS = ("faust", "mode", "aiokafka", "kafka", "httpx", "aiohttp.access", "clickhouse_connect")


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
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_renderers(style, out)],
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
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]
