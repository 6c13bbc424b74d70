"""The list of all settings with their limits in words, read from the fields so that it cannot fall out of step."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from streams.settings.fields import ENV_DELIMITER, ENV_PREFIX, Settings

ITEM = "[]"
"""In a path: each item of a list."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting: ``path`` is its place in the file, ``allowed`` its limits in words.

    A setting of each item of a list of sections has ``[]`` in its path, and no variable of its own.
    """

    path: tuple[str, ...]
    description: str
    default: Any
    allowed: str
    is_secret: bool

    @property
    def key(self) -> str:
        """Dotted name, as messages show it."""
        return dotted(self.path)

    @property
    def is_of_an_item(self) -> bool:
        """Whether this is a setting of the items of a list."""
        return ITEM in self.path

    @property
    def variable(self) -> str:
        """Name of the environment variable that overrides the file."""
        return ENV_PREFIX + ENV_DELIMITER.join(self.path).upper()


@dataclass(frozen=True, slots=True)
class Group:
    """The heading of a nested section."""

    path: tuple[str, ...]
    description: str


def dotted(path: Iterable[str | int]) -> str:
    """A place in the file as messages show it; a number is one of a list."""
    parts = (f"[{part}]" if isinstance(part, int) else part if part == ITEM else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def walk(model: type[BaseModel] = Settings, path: tuple[str, ...] = ()) -> Iterator[Entry | Group]:
    """Every group and setting in the order of the file: plain settings of a section before its subsections."""
    nested: dict[tuple[str, ...], type[BaseModel]] = {}
    for name, field in model.model_fields.items():
        if section := _section(field.annotation):
            nested[name,] = section
            continue
        yield _entry((*path, name), field)
        if ITEM not in path and (section := _item_section(field.annotation)):
            nested[name, ITEM] = section
    for own, section in nested.items():
        yield Group((*path, *own), (section.__doc__ or "").strip())
        yield from walk(section, (*path, *own))


def entries() -> list[Entry]:
    """Every setting that stands alone, those of list items left out."""
    return [item for item in walk() if isinstance(item, Entry) and not item.is_of_an_item]


def _item_section(annotation: Any) -> type[BaseModel] | None:
    """The section that the items of a list are."""
    return _section(get_args(annotation)[0]) if get_origin(annotation) is tuple else None


def _section(annotation: Any) -> type[BaseModel] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _entry(path: tuple[str, ...], field: FieldInfo) -> Entry:
    default = None if field.is_required() else field.default
    return Entry(path, field.description or "", default, _allowed(field), SecretStr in _types(field.annotation))


def _types(annotation: Any) -> set[Any]:
    """The plain types that an annotation is made of."""
    inner = [argument for argument in get_args(annotation) if argument is not Ellipsis]
    return set().union(*(_types(argument) for argument in inner)) | {get_origin(annotation)} if inner else {annotation}


def _allowed(field: FieldInfo) -> str:
    """The limits of a setting in words; the first kind that fits names it."""
    annotation = field.annotation
    types = _types(annotation)
    choices = ", ".join(str(choice) or "(empty)" for choice in get_args(annotation))
    members = ", ".join(str(member) for kind in types if _is_enum(kind) for member in kind)
    kinds = (
        (get_origin(annotation) is Literal, f"one of {choices}"),
        (members != "", f"any of {members}" if get_origin(annotation) is tuple else f"one of {members}"),
        (_item_section(annotation) is not None, "a list of maps"),
        (get_origin(annotation) is tuple, "a list of texts"),
        (get_origin(annotation) is dict, "a map"),
        (bool in types, "true or false"),
        (int in types, _numbers(field, "a whole number")),
        (float in types, _numbers(field, "a number")),
        (type(None) in types, "a path, or nothing"),
    )
    return next((words for fits, words in kinds if fits), "text")


def _is_enum(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, StrEnum)


def _numbers(field: FieldInfo, kind: str) -> str:
    words = []
    for limit in field.metadata:
        match limit:
            case Ge(value):
                words.append(f"at least {value}")
            case Gt(value):
                words.append(f"above {value}")
            case Le(value):
                words.append(f"at most {value}")
            case Lt(value):
                words.append(f"below {value}")
    return f"{kind}, {' and '.join(words)}" if words else kind
