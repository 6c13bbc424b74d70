"""The annotated example file and the reference page, both made from the fields."""

import json
import textwrap
from typing import Any

from pydantic import SecretStr

from streams.settings.catalogue import Entry, Group, walk

_HEADER = """\
# Groundwatch configuration: every setting at its default. Made by `groundwatch config example`; a test keeps it so.
# The environment wins over this file: alerts.tick_seconds is GROUNDWATCH_ALERTS__TICK_SECONDS, lists are written a,b,c.
# Sampling, thresholds and rules are not here but in a policy file: `groundwatch policy --help`.
"""
_PAGE = """\
# Configuration

One YAML file (`--config`, else `GROUNDWATCH_CONFIG`, else `groundwatch.yaml` in the working folder) and environment
variables, which win. Unknown keys and values out of bounds are refused with exit code 2. `groundwatch config
check` shows what holds. Made by `groundwatch config reference` from the fields in `streams/settings`.
"""


def annotated_example() -> str:
    """The text of ``groundwatch.yaml``: every setting at its default with its limits and consequence."""
    lines = [_HEADER]
    for item in walk():
        indent = "  " * (len(item.path) - 1)
        lines += _comment(item, indent)
        if isinstance(item, Group):
            lines += [f"{indent}{item.path[-1]}:"]
            continue
        value = _plain(item.default)
        hidden = "# " if value in ("", None, []) else ""
        lines += [f"{indent}{hidden}{item.path[-1]}: {_yaml(value)}".rstrip(), ""]
    return "\n".join(lines).rstrip() + "\n"


def reference_markdown() -> str:
    """The text of ``docs/configuration.md``."""
    lines = [_PAGE, *_table_head()]
    for item in walk():
        if isinstance(item, Group):
            lines += ["", f"## {'.'.join(item.path)}", "", item.description, ""]
            lines += _table_head() if _has_own_settings(item) else []
        else:
            shown = _yaml(_plain(item.default)) or '""'
            lines.append(f"| `{item.key}` | `{shown}` | {item.allowed} | {item.description} |")
    return "\n".join(lines).rstrip() + "\n"


def _has_own_settings(group: Group) -> bool:
    return any(isinstance(item, Entry) and item.path[:-1] == group.path for item in walk())


def _table_head() -> list[str]:
    return ["| setting | default | allowed | meaning |", "| --- | --- | --- | --- |"]


def _comment(item: Entry | Group, indent: str) -> list[str]:
    limits = f" [{item.allowed}]" if isinstance(item, Entry) else ""
    prefix = f"{indent}# "
    return textwrap.wrap(
        item.description + limits, 118, initial_indent=prefix, subsequent_indent=prefix, break_on_hyphens=False
    )


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _yaml(value: Any) -> str:
    """A value on one line; JSON is YAML."""
    return "" if value is None or value == "" else json.dumps(value, ensure_ascii=False)
