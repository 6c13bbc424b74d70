"""What the policy says about documents: who may see which, and which of them are trusted."""

from typing import Literal

from pydantic import Field

from schemas.base import Record


class RestrictedSource(Record):
    """Documents that only some may see; with neither ``tenants`` nor ``roles``, nobody may.

    ``documents`` is a pattern (RE2, case-insensitive) searched for in the document id. Where both lists are given, the
    trace's tenant must be in the one and one of its roles in the other.
    """

    name: str = Field(min_length=1)
    documents: str = Field(min_length=1)
    tenants: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


class TrustedSource(Record):
    """How far documents are trusted whose id holds ``documents`` (RE2, case-insensitive); the first match counts.

    It wins over what the trace says of a passage.
    """

    name: str = Field(min_length=1)
    documents: str = Field(min_length=1)
    trust: Literal["trusted", "untrusted"]


class SourceRules(Record):
    """Rules about documents; an answer must not rest on untrusted or quite new ones alone."""

    restricted: tuple[RestrictedSource, ...] = Field(default=(), max_length=200)
    trust: tuple[TrustedSource, ...] = Field(default=(), max_length=200)
    first_seen_days: float | None = Field(default=None, gt=0)
    """A document first seen less than so many days before the answer counts as untrusted; None: age is no matter."""
