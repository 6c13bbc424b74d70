"""Replies of a judge: every sane form of one JSON object is read, and nothing else is a verdict."""

import json

import pytest

from detectors.judge.reply import JudgeLabel, JudgeReply, read_verdict, schema
from detectors.replies import ReplyRefused
from schemas.labels import ClaimLabel
from tests.judge_parts import CLAIM, reply

PASSAGES = 3
BARE = {"claim": CLAIM, "evidence": ["P1"], "reason": "P1 says so.", "label": "supported", "confidence": 0.9}


def read(text: str, claim: str = CLAIM) -> JudgeReply:
    """The verdict in a reply on our claim."""
    return read_verdict(text, claim, PASSAGES)


def test_a_reply_as_it_was_asked_for_is_read_whole() -> None:
    """Label, evidence by place, confidence and reason."""
    found = read(reply("contradicted", evidence=["P2", "P1"]))

    assert (JudgeLabel.CONTRADICTED, (2, 1), 0.9, "P1 says so.") == (
        found.label,
        found.evidence,
        found.confidence,
        found.reason,
    )


SANE = [
    ("a code fence", f"```json\n{reply()}\n```"),
    ("a fence without a language", f"\n```\n{reply()}\n```\n"),
    ("a byte order mark", "\ufeff" + reply()),
    ("a thought in front", f"<think>The claim {{says}} so.</think>\n{reply()}"),
    ("a list of one", f"[{reply()}]"),
    ("inside of another object", json.dumps({"result": BARE})),
    ("a list inside of an object", json.dumps({"claims": [BARE]})),
    ("flat beside it", json.dumps({"claim": CLAIM, "verdict": {k: v for k, v in BARE.items() if k != "claim"}})),
    ("upper case", reply("SUPPORTED")),
    ("keys in upper case", json.dumps({key.upper(): value for key, value in BARE.items()})),
    ("a full stop", reply("Supported.")),
    ("another word for the label", reply("entailed")),
    ("verdict for label", json.dumps({**{k: v for k, v in BARE.items() if k != "label"}, "verdict": "supported"})),
    ("a quoted number", reply(confidence="0.9")),
    ("a decimal comma", reply(confidence="0,9")),
    ("per cent", reply(confidence="90 %")),
    ("evidence as text", reply(evidence="P1")),
    ("evidence as a number", reply(evidence=1)),
    ("evidence in brackets", reply(evidence=["[p1]"])),
    ("evidence as objects", reply(evidence=[{"id": "P1", "text": "…"}])),
    ("reasons as a list", json.dumps({**{k: v for k, v in BARE.items() if k != "reason"}, "reasons": ["P1 says so."]})),
    ("something beside", reply(note="x", thoughts=["a", "b"])),
    ("the claim in quotes, without its citation", reply(text="“You can return it  within 30 days of delivery”")),
    ("ours among others", json.dumps([{**BARE, "claim": "It is blue.", "label": "unsupported"}, BARE])),
]


@pytest.mark.parametrize("text", [text for _, text in SANE], ids=[name for name, _ in SANE])
def test_any_sane_form_is_read(text: str) -> None:
    """Models send what they like; as long as it is one verdict on our claim, it counts."""
    found = read(text)

    assert (JudgeLabel.SUPPORTED, (1,), 0.9, "P1 says so.") == (
        found.label,
        found.evidence,
        found.confidence,
        found.reason,
    )


@pytest.mark.parametrize("value", [None, ""])
def test_a_label_without_confidence_or_reason_is_a_verdict(value: str | None) -> None:
    """What is missing is missing, and no number is made up."""
    found = read(reply("unsupported", confidence=None, evidence=value, reason=None))

    assert (None, (), "") == (found.confidence, found.evidence, found.reason)


REFUSED = [
    ("prose", "parse", "The claim is supported by P1."),
    ("a label in prose", "parse", "label: SUPPORTED"),
    ("a score in prose", "parse", "Out of 10 I give 3."),
    ("a bare word", "parse", '"supported"'),
    ("a bare number", "parse", "0.9"),
    ("a boolean", "parse", "true"),
    ("nothing", "parse", ""),
    ("an empty object", "parse", "{}"),
    ("an empty list", "parse", "[]"),
    ("prose around it", "parse", f"Here is the verdict: {reply()}"),
    ("prose around a fence", "parse", f"Here it is:\n```json\n{reply()}\n```\nI hope this helps."),
    ("two objects in a row", "parse", f"{reply()}\n{reply()}"),
    ("cut off", "parse", reply()[:-20]),
    ("a boolean for a label", "parse", reply(label="x").replace('"x"', "true")),
    ("a label that is none", "parse", reply("partially supported")),
    ("two labels under one name", "parse", reply()[:-1] + ', "label": "contradicted"}'),
    ("two names that differ", "parse", reply(verdict="contradicted")),
    ("a confidence that is a word", "parse", reply(confidence="high")),
    ("a confidence that is a boolean", "parse", reply(confidence=True)),
    ("a confidence out of range", "parse", reply(confidence=9)),
    ("a confidence that is no number", "parse", reply(confidence=0.5).replace("0.5", "NaN")),
    ("ids that are none", "parse", reply(evidence=["the first one"])),
    ("a boolean for an id", "parse", reply(evidence=[True])),
    ("too deep", "parse", "[" * 5_000 + "]" * 5_000),
    ("nested too often", "parse", '{"a": ' * 9 + reply() + "}" * 9),
    ("no claim", "parse", '{"label": "unsupported"}'),
    ("another claim", "claim", reply(text="You can return it within 60 days of delivery.")),
    ("a claim cut short", "claim", reply(text="You can return it")),
    ("ours twice", "claim", f"[{reply()}, {reply('contradicted')}]"),
    ("an unknown passage", "evidence", reply(evidence=["P1", "P4"])),
    ("passage zero", "evidence", reply(evidence=["P0"])),
    ("support by nothing", "evidence", reply(evidence=[])),
    ("contradiction by nothing", "evidence", reply("contradicted", evidence=None)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "text"), [(reason, text) for _, reason, text in REFUSED], ids=[name for name, *_ in REFUSED]
)
def test_anything_else_is_no_verdict(reason: str, text: str) -> None:
    """Prose is never a verdict and a number out of it never a score; the model is told what to mend."""
    with pytest.raises(ReplyRefused) as caught:
        read(text)

    assert reason == caught.value.reason
    assert str(caught.value)


def test_the_fault_is_told_without_what_was_written() -> None:
    """A secret in a reply does not come back in the next prompt or a log, except for ids and labels of ours."""
    with pytest.raises(ReplyRefused) as caught:
        read(reply("s3cret"))

    assert "s3cret" not in str(caught.value)


def test_the_schema_asks_for_what_is_read() -> None:
    """Every field is required, as strict structured output wants it; unverifiable is our unclear."""
    assert set(JudgeReply.model_fields) == set(schema()["required"])
    assert [label.value for label in JudgeLabel] == schema()["properties"]["label"]["enum"]
    assert {ClaimLabel.SUPPORTED, ClaimLabel.CONTRADICTED, ClaimLabel.UNSUPPORTED, ClaimLabel.UNCLEAR} == {
        label.claim_label for label in JudgeLabel
    }


def test_a_claim_in_a_script_without_words_is_matched_too() -> None:
    """Signs alone are compared as they are."""
    assert JudgeLabel.SUPPORTED is read(reply(text="退款需三十天。"), "退款需三十天。").label
    with pytest.raises(ReplyRefused):
        read(reply(text="退款需六十天。"), "退款需三十天。")
    with pytest.raises(ReplyRefused):
        read(reply(text="!!"), "?!")
