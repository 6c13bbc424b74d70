"""Text of strangers on a terminal."""

import json

import pytest

from schemas.alert import AlertExample, VersionChange
from streams.cli.alerts import describe
from streams.cli.display import json_line, plain
from tests.builders import NOW, alert


@pytest.mark.parametrize("text", ["a\x1b[2Jb", "a\x00b", "a\ud800b", "a\u202eb", "a\x9bb", "a\rb"])
def test_control_characters_are_shown_as_replacements(text: str) -> None:
    """No cursor moves, no colours, no reversed text, no broken encoding."""
    assert "\ufffd" in plain(text)
    assert len(text) - plain(text).count("\ufffd") == len(plain(text).replace("\ufffd", ""))


def test_ordinary_text_is_unchanged() -> None:
    """Line feeds, tabs, accents, other scripts and their joiners stay."""
    text = "é\n\t日本 [red] می\u200cخواهم"
    assert text == plain(text)


def test_json_line_is_ascii_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Any program can read it line by line, whatever an answer holds."""
    json_line({"text": "a\n\ud800é"})
    written = capsys.readouterr().out
    assert written.isascii()
    assert {"text": "a\n\ud800é"} == json.loads(written)


def test_alert_shows_what_an_engineer_needs() -> None:
    """Slice, rate with interval and n, since when, what changed, and an example beside its evidence."""
    example = AlertExample(
        trace_id="t-9",
        ts=NOW,
        question="Q",
        claim="60 days [bold]",
        label="contradicted",
        evidence="30 days",
        doc_id="refunds",
    )
    change = VersionChange(field="model", before="m-1", after="m-2", at=NOW)
    shown = describe(alert(examples=(example,), changes=(change,))).plain
    expected = [
        "refunds/medium",
        "20.0 % (15.0 to 26.0, n = 180)",
        "2026-03-10 10:00 UTC",
        "m-1 → m-2",
        "[bold]",
        "30 days",
    ]
    assert [part for part in expected if part not in shown] == []
