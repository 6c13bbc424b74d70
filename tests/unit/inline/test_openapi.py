"""The OpenAPI document: valid, and in step with what is served."""

import json

from openapi_spec_validator import OpenAPIV31SpecValidator

from streams.inline.openapi import CHECK_PATH, openapi_document
from streams.inline.reply import CheckReply
from streams.inline.request import CheckRequest, read_request


def test_document_is_openapi_3_1() -> None:
    """As a tool that makes clients of it will read it; references included."""
    OpenAPIV31SpecValidator(openapi_document()).validate()


def test_models_are_those_of_the_code() -> None:
    """Every field of request and reply, with the required ones."""
    schemas = openapi_document()["components"]["schemas"]
    assert [*CheckRequest.model_fields] == [*schemas["CheckRequest"]["properties"]]
    assert ["answer", "passages"] == schemas["CheckRequest"]["required"]
    assert [*CheckReply.model_fields] == [*schemas["CheckReply"]["properties"]]


def test_example_is_a_request() -> None:
    """Copied from the document, it works."""
    content = openapi_document()["paths"][CHECK_PATH]["post"]["requestBody"]["content"]["application/json"]
    assert "returns" == read_request(json.dumps(content["example"]).encode()).intent
