"""What a deploy mark must say, and how a wrong one is refused."""

import json
from datetime import timedelta
from typing import Any

import pytest

from schemas.errors import ConfigError
from streams.deploys import deploy_of, is_same, read_deploy
from streams.store import Deploy
from tests.builders import NOW

GIVEN = {"field": "model", "value": "m-2"}


def test_field_and_value_are_enough() -> None:
    """Now, for all intents, by nobody in particular."""
    assert Deploy(at=NOW, intent="*", field="model", value="m-2") == deploy_of(GIVEN, NOW)


def test_everything_can_be_said() -> None:
    """Times are read with their zone; spaces around words are none of them."""
    said = {"at": "2026-03-10T12:30:00+01:00", "intent": " refunds ", "field": "prompt", "value": "p 2", "note": "n"}
    wanted = Deploy(
        at=NOW - timedelta(minutes=30), intent="refunds", field="prompt", value="p 2", note="n", author="ci"
    )
    assert wanted == read_deploy(json.dumps({**said, "author": "ci"}).encode(), NOW)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"field": "modle"}, "field = 'modle': use one of model, prompt, corpus, retriever, app"),
        ({"field": None}, "field = '': use one of"),
        ({"value": " "}, "value: say what is running"),
        ({"value": 3}, "value: give a text in quotes, not int"),
        ({"value": "x" * 257}, "value: 257 characters; at most 256"),
        ({"note": "x" * 1001}, "note: 1001 characters"),
        ({"vlaue": "m-2"}, "'vlaue': no such field; there are at, intent, field, value, note, author"),
        ({"at": "2026-03-10T12:00:00"}, "at: give a time with its zone"),
        ({"at": 1773144000}, "at: give a time with its zone"),
        ({"at": "2026-03-10T12:05:01Z"}, "is still to come; mark a deploy when it happens"),
        ({"at": "1999-12-31T00:00:00Z"}, "is before 2000"),
    ],
)
def test_a_wrong_mark_says_field_and_fix(change: dict[str, Any], says: str) -> None:
    """A mark with a slip would be one that nobody ever sees."""
    with pytest.raises(ConfigError) as refused:
        deploy_of({**GIVEN, **change}, NOW)
    assert says in str(refused.value)


def test_clocks_may_differ_by_minutes() -> None:
    """A pipeline's clock is its own."""
    ahead = NOW + timedelta(minutes=5)
    assert ahead == deploy_of({**GIVEN, "at": ahead.isoformat()}, NOW).at


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b"[" * 100_000, b"field=model"])
def test_a_body_that_is_no_object_shows_one(body: bytes) -> None:
    """Whatever was sent."""
    with pytest.raises(ConfigError, match="send for instance"):
        read_deploy(body, NOW)


def test_a_mark_is_known_by_time_intent_field_and_value() -> None:
    """Note and author may be put right."""
    one = deploy_of(GIVEN, NOW)
    assert is_same(one, deploy_of({**GIVEN, "note": "again", "author": "ana"}, NOW))
    assert not is_same(one, deploy_of({**GIVEN, "intent": "refunds"}, NOW))
