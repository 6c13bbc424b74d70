"""What is done with each field of traces and spans, and with dead letters."""

from typing import Any

import pytest
from pydantic import SecretStr

from detectors.structural.readable import find_unreadable
from schemas.errors import ConfigError
from schemas.labels import Outcome
from schemas.span import ChatMessage, Feedback, Span, SpanKind
from schemas.trace import Hop, Passage, ToolCall, Trace
from streams.agents.deadletter import DeadLetter, to_outgoing
from streams.messages import Message
from streams.redaction.kinds import Handling
from streams.redaction.letters import concealing
from streams.redaction.redactor import Redactor, redactor_of
from streams.settings.privacy import Privacy, PrivacyFields
from streams.sources.raw import Decoded
from tests.builders import NOW, trace
from tests.spans import root, span

SALT = b"0123456789abcdef" * 2
MAIL = "max@firma.de"
TEXT_FIELDS = ("question", "answer", "passages", "prompt", "tool_arguments", "tool_outputs", "feedback")


def redactor(**fields: Handling) -> Redactor:
    """With these handlings, and the defaults."""
    return redactor_of(Privacy(fields=PrivacyFields(**fields)), SALT)


def full_trace(**fields: Any) -> Trace:
    """A trace with an address in each of its texts."""
    plain: dict[str, Any] = {
        "question": f"q {MAIL}",
        "rewrites": (f"r {MAIL}",),
        "answer": f"a {MAIL}",
        "passages": (Passage(doc_id=f"mail/{MAIL}", chunk_id="c", text=f"p {MAIL}", allowed_roles=("staff",)),),
        "packed_prompt": f"s {MAIL}",
        "tool_calls": (ToolCall(name="send", arguments=f"t {MAIL}", output=f"o {MAIL}"),),
        "hops": (Hop(name="h", question=f"hq {MAIL}", passages=(0,), output=f"ho {MAIL}"),),
        "alternatives": (f"b {MAIL}",),
        "feedback": f"f {MAIL}",
        "user_id": MAIL,
        "conversation_id": "c-1",
        "roles": ("staff",),
    }
    return trace(**{**plain, **fields})


def full_span(kind: SpanKind = SpanKind.LLM) -> Span:
    """A span with an address in each of its texts."""
    return span(
        "s",
        kind,
        input=f"i {MAIL}",
        output=f"o {MAIL}",
        query=f"q {MAIL}",
        documents=(Passage(text=f"p {MAIL}"),),
        messages=(ChatMessage(role="user", content=f"m {MAIL}"),),
        completions=(f"c {MAIL}",),
        tool=ToolCall(name="t", arguments=f"t {MAIL}", output=f"o {MAIL}"),
        feedback=(Feedback(name="thumb", value=f"v {MAIL}", comment=f"c {MAIL}"),),
        user_id=MAIL,
        conversation_id="c-1",
    )


def test_by_default_no_text_of_a_trace_keeps_an_address() -> None:
    """Every field that people fill, and ids that may hold a mailbox."""
    found = redactor().redact_trace(full_trace())
    assert MAIL not in found.model_dump_json()
    mark = redactor().redact_text(MAIL)
    assert (f"q {mark}", f"a {mark}", f"f {mark}") == (found.question, found.answer, found.feedback)
    assert found.passages is not None
    assert (f"mail/{mark}", "c", f"p {mark}") == (
        found.passages[0].doc_id, found.passages[0].chunk_id, found.passages[0].text
    )  # fmt: skip
    assert ("staff",) == found.roles == found.passages[0].allowed_roles


@pytest.mark.parametrize("kind", list(SpanKind))
def test_by_default_no_text_of_a_span_keeps_an_address(kind: SpanKind) -> None:
    """Of every kind."""
    found = redactor().redact_span(full_span(kind))
    assert MAIL not in found.model_dump_json()
    assert "c-1" not in found.conversation_id


def test_what_holds_nothing_to_take_out_stays_the_very_same() -> None:
    """No copies for most traces."""
    plain = trace(user_id="", conversation_id="")
    assert redactor().redact_trace(plain) is plain
    step = root()
    assert redactor().redact_span(step) is step


def test_ids_of_people_are_hashed_with_the_key() -> None:
    """Countable, not to be looked up; the same id gives the same hash in spans and traces, another key another one."""
    one = redactor().redact_trace(full_trace())
    assert one.user_id == redactor().redact_span(full_span()).user_id
    assert one.user_id != redactor().redact_trace(full_trace(user_id="other")).user_id
    assert one.user_id != redactor_of(Privacy(), b"another key" * 4).redact_trace(full_trace()).user_id
    assert one.user_id.startswith("[USER_")
    assert "" == redactor().redact_trace(full_trace(user_id="")).user_id


def test_a_key_of_its_own_takes_the_place_of_the_salt() -> None:
    """So it can be changed without another sample."""
    own = Privacy(key=SecretStr("a key of at least thirty-two characters"))
    assert redactor_of(own, SALT).redact_text(MAIL) == redactor_of(own, b"another salt" * 4).redact_text(MAIL)
    assert redactor_of(own, SALT).redact_text(MAIL) != redactor().redact_text(MAIL)


@pytest.mark.parametrize("handling", list(Handling))
def test_twice_is_once(handling: Handling) -> None:
    """A trace made of redacted spans may be redacted again."""
    own = redactor(**dict.fromkeys(PrivacyFields.model_fields, handling))
    once = own.redact_trace(full_trace())
    assert once == own.redact_trace(once)
    step = own.redact_span(full_span())
    assert step == own.redact_span(step)


@pytest.mark.parametrize("field", TEXT_FIELDS)
def test_keep_leaves_that_field_alone(field: str) -> None:
    """The others are redacted."""
    own = redactor(**{field: Handling.KEEP})
    found = own.redact_trace(full_trace())
    assert MAIL in found.model_dump_json()
    assert MAIL not in redactor().redact_trace(found).model_dump_json()


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"answer": Handling.DROP}, Outcome.UNRESOLVED_NO_CONTENT),
        ({"answer": Handling.HASH}, Outcome.UNRESOLVED_REDACTED),
        ({"passages": Handling.HASH}, Outcome.UNRESOLVED_REDACTED),
        ({}, None),
    ],
)
def test_what_cannot_be_judged_any_more_is_unresolved(fields: dict[str, Handling], outcome: Outcome | None) -> None:
    """Never grounded, never hallucinated."""
    assert outcome is find_unreadable(redactor(**fields).redact_trace(full_trace()))


@pytest.mark.parametrize("marker", ["__REDACTED__", "[REDACTED]", "*****"])
def test_what_the_producer_hid_stays_hidden(marker: str) -> None:
    """Its own marker is known and stays."""
    hidden = redactor().redact_trace(full_trace(answer=marker))
    assert (marker, Outcome.UNRESOLVED_REDACTED) == (hidden.answer, find_unreadable(hidden))


def test_dropped_passages_are_unknown_not_empty() -> None:
    """An empty list would say that retrieval found nothing."""
    found = redactor(passages=Handling.DROP).redact_trace(full_trace())
    assert (None, ("passages_dropped",), ()) == (found.passages, found.flags, found.hops[0].passages)
    step = redactor(passages=Handling.DROP).redact_span(full_span(SpanKind.RETRIEVER))
    assert (None, None, ("passages_dropped",)) == (step.documents, step.output, step.flags)


def test_a_dropped_answer_says_so_on_the_spans_that_gave_it() -> None:
    """A retriever gives none."""
    own = redactor(answer=Handling.DROP)
    found = own.redact_span(full_span(SpanKind.LLM))
    assert (None, (), ("no_content",)) == (found.output, found.completions, found.flags)
    assert () == own.redact_span(full_span(SpanKind.RETRIEVER)).flags


def test_hashed_roles_still_tell_who_may_read() -> None:
    """Those of the asker and those of the passages are hashed alike."""
    found = redactor(roles=Handling.HASH).redact_trace(full_trace())
    assert found.passages is not None
    assert ("staff",) != found.roles == found.passages[0].allowed_roles


def test_a_number_that_the_passage_proves_is_replaced_in_the_answer() -> None:
    """Or a right answer would become a wrong one."""
    found = redactor().redact_trace(
        trace(answer="It is 912 345 678.", passages=(Passage(text="Telefon: 912 345 678"),))
    )
    assert found.passages is not None
    assert found.answer == f"It is {found.passages[0].text.removeprefix('Telefon: ')}."


def test_all_of_a_message_is_redacted() -> None:
    """Spans and traces."""
    found = redactor().redact_decoded(Decoded(spans=(full_span(),), traces=(full_trace(),)))
    assert MAIL not in found.spans[0].model_dump_json() + found.traces[0].model_dump_json()


def test_settings_that_cannot_be_meant_are_refused() -> None:
    """With the value and the fix."""
    with pytest.raises(ConfigError, match=r"privacy\.keep: 'hello' is not found"):
        redactor_of(Privacy(keep=("hello",)), SALT)
    with pytest.raises(ConfigError, match=r"privacy\.phone_regions: no phone numbers are known for 'XX'"):
        redactor_of(Privacy(phone_regions=("XX",)), SALT)


def letter(value: bytes | None = b"max@firma.de") -> DeadLetter:
    """A message that is no trace."""
    message = Message("traces", 3, 7, b"max", value, (("user", b"max"),), NOW)
    return DeadLetter(message, "not_json", "(message): no JSON", "ingest")


def test_a_dead_letter_keeps_hashes_or_drops_what_came() -> None:
    """Position and reason stay in each case."""
    kept = to_outgoing(concealing("keep", b"k")(letter()), 1000)
    assert (b"max", b"max@firma.de", b"max") == (kept.key, kept.value, dict(kept.headers)["user"])
    for handling in ("hash", "drop"):
        sent = to_outgoing(concealing(handling, b"k")(letter()), 1000)
        headers = dict(sent.headers)
        assert (b"", None, b"3", b"7", b"not_json") == (
            sent.key, sent.value, headers["gw-partition"], headers["gw-offset"], headers["gw-reason"]
        )  # fmt: skip
        assert handling.encode() == headers["gw-concealed"]
        assert b"max" not in b"".join(headers.values())
        assert ("gw-length" in headers, "gw-hash" in headers, "user" in headers) == (handling == "hash",) * 2 + (False,)


def test_hashes_of_dead_letters_need_the_key() -> None:
    """Who guesses the content cannot check the guess."""
    one = concealing("hash", b"k")(letter()).about
    assert one == concealing("hash", b"k")(letter()).about
    assert one != concealing("hash", b"other")(letter()).about
    assert ("gw-length", b"0") in concealing("hash", b"k")(letter(None)).about
