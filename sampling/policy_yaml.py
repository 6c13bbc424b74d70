"""YAML text to plain data that remembers its lines, so that every complaint about a policy file names one.

Only what a policy needs is read: one document, plain scalars, no anchors, tags or duplicate keys.
"""

from dataclasses import dataclass, field

import yaml

from schemas.errors import ConfigError

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 20
Path = tuple[str | int, ...]
Data = None | bool | int | float | str | list["Data"] | dict[str, "Data"]

_PREFIX = "tag:yaml.org,2002:"
_PLAIN = {_PREFIX + name for name in ("null", "bool", "int", "float")}
_TEXT = {_PREFIX + name for name in ("str", "timestamp", "value")}


@dataclass(frozen=True, slots=True)
class Located:
    """Plain data and the line (from 1) of every key and list item, by its path."""

    data: Data
    lines: dict[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int:
        """Line of ``path``, or of its nearest parent that the text contains; 1 for the whole text."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def load(text: str) -> Located:
    """The data of one YAML document of at most 256 Ki characters. Raises ConfigError naming line, key and fix."""
    if len(text) > MAX_CHARACTERS:
        message = f"the file has {len(text)} characters; a policy has at most {MAX_CHARACTERS}"
        raise ConfigError(message)
    try:
        _refuse_tricks(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        message = f"line {line}: not YAML: {error.problem or error.context}; check indentation, colons and quotes"
        raise ConfigError(message) from error
    except (yaml.YAMLError, ValueError) as error:
        message = "line 1: the file holds characters that YAML does not allow; save it as plain UTF-8 text"
        raise ConfigError(message) from error
    located = Located(None)
    return located if node is None else Located(_data(node, (), located.lines), located.lines)


def _refuse_tricks(text: str) -> None:
    """Aliases can grow a short file without limit, and deep nesting exhausts the stack."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            message = f"line {line}: anchors and aliases (& and *) are not read; write the value out, or quote the text"
            raise ConfigError(message)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            message = f"line {line}: nested deeper than {MAX_DEPTH} levels; check brackets and indentation"
            raise ConfigError(message)


def _data(node: yaml.Node, path: Path, lines: dict[Path, int]) -> Data:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, lines)
    if isinstance(node, yaml.SequenceNode):
        return [_data(item, (*path, index), lines) for index, item in enumerate(node.value)]
    return _scalar(node, path)


def _mapping(node: yaml.MappingNode, path: Path, lines: dict[Path, int]) -> dict[str, Data]:
    data: dict[str, Data] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode) or key_node.tag not in _TEXT:
            message = f"line {line}: key {_shown(key_node)} is not text; put it in quotes"
            raise ConfigError(message)
        key = key_node.value
        if key in data:
            message = f"line {line}: key {key!r} is given twice (first on line {lines[*path, key]}); keep one"
            raise ConfigError(message)
        lines[*path, key] = line
        data[key] = _data(value_node, (*path, key), lines)
    return data


def _scalar(node: yaml.Node, path: Path) -> Data:
    if node.tag in _TEXT:
        return str(node.value)
    try:
        if node.tag in _PLAIN:
            value: Data = yaml.SafeLoader("").construct_object(node)
            return value
    except (ValueError, KeyError):
        pass
    message = f"line {node.start_mark.line + 1}: {dotted(path)} = {_shown(node)} is not a value that a policy can hold"
    raise ConfigError(f"{message}; put text in quotes")


def dotted(path: Path) -> str:
    """A path as people write it: ``sampling.strata[0].name``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".") or "(file)"


def _shown(node: yaml.Node) -> str:
    return repr(node.value)[:60] if isinstance(node, yaml.ScalarNode) else "(a list or mapping)"
