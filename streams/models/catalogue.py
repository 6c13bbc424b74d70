"""The models that we know by name, read from ``catalogue.yaml``."""

import re
from functools import cache
from importlib import resources
from typing import Annotated

import yaml
from pydantic import AfterValidator, Field

from detectors.models.folder import Layout
from schemas.base import Record
from streams.models.files import check_file_name
from streams.settings.models import NAME, WORDS

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
REVISION = re.compile(r"[0-9a-f]{40}")
"""A full commit: names of branches and tags move, and short hashes may come to mean another."""
Files = dict[Annotated[str, AfterValidator(check_file_name)], Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]]
"""Names of files and the SHA-256 that each must have; empty where it is not known."""


class Part(Record):
    """Files of one repository of a hub; ``revision`` is empty where whoever pulls must give it."""

    hub_id: str = Field(pattern=f"^{HUB_ID.pattern}$")
    revision: str = Field(default="", pattern=f"^({REVISION.pattern})?$")
    licence: str = Field(min_length=1)
    files: Files = Field(min_length=1)


class CatalogueModel(Part):
    """A model that we know; ``foundation`` are files of the one that it was made from, where it needs them."""

    name: str = Field(pattern=f"^{NAME.pattern}$")
    about: str = Field(min_length=1)
    layout: Layout
    foundation: Part | None = None


def parse_catalogue(text: str) -> dict[str, CatalogueModel]:
    """The models by name. Raises pydantic's ValidationError for an entry that is none, ValueError for a name twice."""
    found: dict[str, CatalogueModel] = {}
    for entry in yaml.safe_load(text):
        model = CatalogueModel.model_validate(entry)
        if model.name in found or model.name in WORDS:
            message = f"catalogue: the name {model.name} is taken"
            raise ValueError(message)
        found[model.name] = model
    return found


@cache
def catalogue() -> dict[str, CatalogueModel]:
    """The models that ship with us as names, by name."""
    return parse_catalogue(resources.files("streams.models").joinpath("catalogue.yaml").read_text(encoding="utf-8"))
