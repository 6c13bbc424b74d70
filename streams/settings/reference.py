"""The annotated example file and the reference page, both made from the fields."""

import json
import textwrap
from typing import Any

from pydantic import BaseModel, SecretStr

from streams.settings.catalogue import ITEM, Entry, Group, dotted, walk

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
    lists = {item.path[:-1] for item in walk() if isinstance(item, Group) and item.path[-1] == ITEM}
    for item in walk():
        if item.path in lists:
            continue  # shown with the keys of its items
        if ITEM not in item.path and lines[-1].startswith("#     "):
            lines.append("")
        lines += _item_lines(item) if ITEM in item.path else _setting_lines(item)
    return "\n".join(lines).rstrip() + "\n"


def _setting_lines(item: Entry | Group) -> list[str]:
    indent = "  " * (len(item.path) - 1)
    comment = _comment(item, f"{indent}# ")
    if isinstance(item, Group):
        return [*comment, f"{indent}{item.path[-1]}:"]
    value = _plain(item.default)
    hidden = "# " if value in ("", None, []) else ""
    return [*comment, f"{indent}{hidden}{item.path[-1]}: {_yaml(value)}".rstrip(), ""]


def _item_lines(item: Entry | Group) -> list[str]:
    """The keys of a list's items, as a comment: a list has no items until somebody writes some."""
    if isinstance(item, Group):
        return [*_comment(item, "# "), f"# {item.path[-2]}:", "#   -"]
    value = _yaml(_plain(item.default))
    return [*_comment(item, "#     # "), f"#     {item.path[-1]}: {value}".rstrip()]


def reference_markdown() -> str:
    """The text of ``docs/configuration.md``."""
    lines = [_PAGE, *_table_head()]
    for item in walk():
        if isinstance(item, Group):
            lines += ["", f"## {dotted(item.path)}", "", item.description, ""]
            lines += _table_head() if _has_own_settings(item) else []
        else:
            shown = _yaml(_plain(item.default)) or '""'
            in_cell = shown.replace("|", "\\|")  # else it would end the cell, in code as well
            lines.append(f"| `{item.key}` | `{in_cell}` | {item.allowed} | {item.description} |")
    return "\n".join(lines).rstrip() + "\n"


def _has_own_settings(group: Group) -> bool:
    return any(isinstance(item, Entry) and item.path[:-1] == group.path for item in walk())


def _table_head() -> list[str]:
    return ["| setting | default | allowed | meaning |", "| --- | --- | --- | --- |"]


def _comment(item: Entry | Group, prefix: str) -> list[str]:
    limits = f" [{item.allowed}]" if isinstance(item, Entry) else ""
    return textwrap.wrap(
        item.description + limits, 118, initial_indent=prefix, subsequent_indent=prefix, break_on_hyphens=False
    )


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _yaml(value: Any) -> str:
    """A value on one line; JSON is YAML."""
    return "" if value is None or value == "" else json.dumps(value, ensure_ascii=False)
