"""The OpenAPI document of the check, made from the models, so that it cannot say anything else than the code does."""

from functools import lru_cache
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema

from streams.inline.reply import CheckReply
from streams.inline.request import CheckRequest

CHECK_PATH = "/v1/check"
OPENAPI_PATH = "/v1/openapi.json"
_ABOUT = (
    "What should happen to an answer before it is sent. The decision is that of the policy in force; nothing of the "
    "request is stored. See docs/inline.md."
)
_EXAMPLE = {
    "question": "How long can I return a lamp?",
    "answer": "You can return a lamp within 90 days of delivery.",
    "passages": [
        {
            "doc_id": "returns",
            "text": "Lamps may be returned within 30 days of delivery.",
            "url": "https://help.example.com/returns",
        }
    ],
    "intent": "returns",
    "tier": "high",
}


class Problem(BaseModel):
    """Why a request was refused."""

    error: str = Field(description="What is wrong, where, and what to do.")


@lru_cache(maxsize=1)
def openapi_document() -> dict[str, Any]:
    """The document, in version 3.1 of OpenAPI."""
    _, schemas = models_json_schema(
        [(CheckRequest, "validation"), (CheckReply, "serialization"), (Problem, "serialization")],
        ref_template="#/components/schemas/{model}",
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "Groundwatch: check an answer before it is sent", "version": version("groundwatch")},
        "paths": {CHECK_PATH: {"post": _check()}},
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _check() -> dict[str, Any]:
    busy = _answer(
        "CheckReply", "As for 200, unchecked: too many checks at a time. A `Problem` while no policy is known."
    )
    return {
        "operationId": "check",
        "summary": "Check one answer",
        "description": _ABOUT,
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": _schema("CheckRequest"), "example": _EXAMPLE}},
        },
        "responses": {
            "200": _answer("CheckReply", "The decision, judged or by the policy's rule for failures (`checked`)."),
            "400": _answer("Problem", "The body is no JSON."),
            "401": _answer("Problem", "The token is missing or wrong."),
            "413": _answer("Problem", "The body is too large."),
            "422": _answer("Problem", "A field is wrong; the text names it and the fix."),
            "503": {
                **busy,
                "headers": {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}},
                "content": {"application/json": {"schema": {"anyOf": [_schema("CheckReply"), _schema("Problem")]}}},
            },
        },
    }


def _answer(model: str, description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": _schema(model)}}}


def _schema(model: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model}"}
