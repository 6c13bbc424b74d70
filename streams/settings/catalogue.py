"""The list of all settings with their limits in words, read from the fields so that it cannot fall out of step."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from streams.settings.fields import ENV_DELIMITER, ENV_PREFIX, Settings
from streams.settings.parts import Role


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting: ``path`` is its place in the file, ``allowed`` its limits in words."""

    path: tuple[str, ...]
    description: str
    default: Any
    allowed: str
    is_secret: bool

    @property
    def key(self) -> str:
        """Dotted name, as messages show it."""
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        """Name of the environment variable that overrides the file."""
        return ENV_PREFIX + ENV_DELIMITER.join(self.path).upper()


@dataclass(frozen=True, slots=True)
class Group:
    """The heading of a nested section."""

    path: tuple[str, ...]
    description: str


def walk(model: type[BaseModel] = Settings, path: tuple[str, ...] = ()) -> Iterator[Entry | Group]:
    """Every group and setting in the order of the file: plain settings of a section before its subsections."""
    nested = {name: section for name, field in model.model_fields.items() if (section := _section(field.annotation))}
    for name, field in model.model_fields.items():
        if name not in nested:
            yield _entry((*path, name), field)
    for name, section in nested.items():
        yield Group((*path, name), (section.__doc__ or "").strip())
        yield from walk(section, (*path, name))


def entries() -> list[Entry]:
    """Every setting."""
    return [item for item in walk() if isinstance(item, Entry)]


def _section(annotation: Any) -> type[BaseModel] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _entry(path: tuple[str, ...], field: FieldInfo) -> Entry:
    return Entry(path, field.description or "", field.default, _allowed(field), SecretStr in _types(field.annotation))


def _types(annotation: Any) -> set[Any]:
    """The plain types that an annotation is made of."""
    inner = [argument for argument in get_args(annotation) if argument is not Ellipsis]
    return set().union(*(_types(argument) for argument in inner)) | {get_origin(annotation)} if inner else {annotation}


def _allowed(field: FieldInfo) -> str:
    """The limits of a setting in words; the first kind that fits names it."""
    annotation = field.annotation
    types = _types(annotation)
    choices = ", ".join(str(choice) or "(empty)" for choice in get_args(annotation))
    kinds = (
        (get_origin(annotation) is Literal, f"one of {choices}"),
        (Role in types, f"any of {', '.join(Role)}"),
        (get_origin(annotation) is tuple, "a list of texts"),
        (bool in types, "true or false"),
        (int in types, _numbers(field, "a whole number")),
        (float in types, _numbers(field, "a number")),
        (type(None) in types, "a path, or nothing"),
    )
    return next((words for fits, words in kinds if fits), "text")


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
