"""What is sent to whom, and how it reads."""

import io
from datetime import timedelta
from typing import Any

import pytest

from alerts.notify import Reason, Sent, StdoutNotifier, decide, headline, render
from alerts.notify.plain import plain
from schemas.alert import UNMAPPED_RULE, Alert, AlertExample, VersionChange
from schemas.errors import NotifierUnavailable
from schemas.labels import AlertState
from schemas.slice import Slice
from tests.builders import NOW, alert, rate

FIRED = Sent("a", AlertState.FIRING, "chat")
ESCAPE = "\x1b]8;;http://evil\x07click\x1b[2J"


def example(number: int = 1, /, **fields: Any) -> AlertExample:
    """A flagged claim with its evidence."""
    return AlertExample(
        **{
            "trace_id": f"t-{number}",
            "question": "How long?",
            "claim": f"You have {number}0 days.",
            "label": "contradicted",
            "evidence": "A refund is possible within 30 days.",
            "doc_id": "refunds",
            **fields,
        },
        ts=NOW,
    )


def change(value: str, posterior: float, hours: int = 2) -> VersionChange:
    """A model change some hours ago."""
    at = NOW - timedelta(hours=hours)
    return VersionChange(field="model", before="m-1", after=value, at=at, posterior=posterior)


@pytest.mark.parametrize(
    ("state", "sent", "expected"),
    [
        (AlertState.FIRING, [], Reason.NEW),
        (AlertState.FIRING, [FIRED], Reason.ALREADY_SENT),
        (AlertState.FIRING, [FIRED._replace(receiver="mail")], Reason.NEW),
        (AlertState.FIRING, [FIRED._replace(alert_id="b")], Reason.NEW),
        (AlertState.RESOLVED, [FIRED], Reason.STATE_CHANGED),
        (AlertState.RESOLVED, [], Reason.NOT_PAGED),
        (AlertState.STALE, [FIRED], Reason.STATE_CHANGED),
        (AlertState.INACTIVE, [FIRED], Reason.STATE_CHANGED),
        (AlertState.INACTIVE, [], Reason.NOT_PAGED),
        (AlertState.PENDING, [], Reason.NOT_PAGED),
        (AlertState.LEARNING, [FIRED], Reason.NOT_PAGED),
    ],
)
def test_each_state_is_sent_once_to_each_receiver(state: AlertState, sent: list[Sent], expected: Reason) -> None:
    """Pending pages nobody, and the end is only told to whom the beginning was told."""
    assert expected is decide(alert("a", state=state), "chat", sent)


def test_history_is_not_sent() -> None:
    """What was found more than a day late pages nobody."""
    assert Reason.HISTORICAL is decide(alert("a", is_historical=True), "chat", [])


def test_silence_holds_back_what_would_be_sent() -> None:
    """A silenced alert is not sent, and says so only when it would have been."""
    assert Reason.SILENCED is decide(alert("a"), "chat", [], is_silenced=True)
    assert Reason.ALREADY_SENT is decide(alert("a"), "chat", [FIRED], is_silenced=True)


def test_text_tells_what_an_on_call_engineer_needs() -> None:
    """Slice, rate with interval and n, reference, ratio, onset, change, examples and link, in a few lines."""
    paged = alert(
        "jump-1",
        rate=rate(0.2, 0.15, 0.26, 180),
        changes=(change("m-2", 0.97),),
        examples=tuple(example(number) for number in range(1, 5)),
    )
    text = render(paged, page_url="http://127.0.0.1:8080/")
    for part in (
        "FIRING",
        "refunds, medium risk",
        "20.0% against 5.0% (×4.0)",
        "20.0% (95% interval 15.0% to 26.0%, n = 180)",
        "since      2026-03-10 10:00 UTC, fired 2026-03-10 12:00 UTC after 180 verified answers",
        "changed    model m-1 → m-2 at 2026-03-10 10:00 UTC",
        "3. contradicted: “You have 30 days.”",
        "evidence (refunds): “A refund is possible within 30 days.”",
        "http://127.0.0.1:8080/alerts/jump-1",
    ):
        assert part in text
    assert "You have 40 days." not in text
    assert len(text.splitlines()) <= 15


def test_resolved_rate_is_said_to_be_that_of_the_episode() -> None:
    """Nobody should read the rate of the bad days as the one of now."""
    assert "RESOLVED: the rate is back · refunds, medium risk · over the episode 20.0%" in headline(
        alert(state=AlertState.RESOLVED)
    )


def test_unclear_causes_are_listed_with_their_probability() -> None:
    """Below the bar nobody is named alone."""
    text = render(alert(changes=(change("m-3", 0.55), change("m-2", 0.3, hours=4))))
    assert "perhaps    model m-1 → m-3 at 2026-03-10 10:00 UTC (probability 55%)" in text
    assert "perhaps    model m-1 → m-2 at 2026-03-10 08:00 UTC (probability 30%)" in text


def test_two_fields_of_one_release_share_a_line() -> None:
    """A release of model and prompt is one cause."""
    both = (change("m-2", 0.9), change("p-2", 0.9).model_copy(update={"field": "prompt", "before": ""}))
    assert "changed    model m-1 → m-2, prompt (none) → p-2 at" in render(alert(changes=both))


def test_rate_without_answers_reads_as_unknown() -> None:
    """Nothing judged is not nothing wrong."""
    text = render(alert(state=AlertState.STALE, ratio=None, rate=rate().model_copy(update={"rate": None, "n": 0})))
    assert "unknown" in text
    assert "no recovery" in text


@pytest.mark.parametrize("field", ["claim", "evidence", "label", "doc_id", "trace_id"])
def test_untrusted_text_moves_no_cursor_and_breaks_no_line(field: str) -> None:
    """Escapes, newlines and direction marks of answers do not reach the terminal."""
    text = render(alert(examples=(example(1, **{field: f"a{ESCAPE}\u202e\r\nFIRING fake"}),)))
    assert not [character for character in text if character < " " and character != "\n"]
    assert "\u202e" not in text
    assert not [line for line in text.splitlines()[1:] if line.startswith("FIRING")]


def test_untrusted_intent_is_made_plain() -> None:
    """Names of intents come from traces as well."""
    text = render(alert(slice=Slice(intent=ESCAPE, tier="high")))
    assert "\x1b" not in text


def test_plain_text_is_cut_at_its_limit() -> None:
    """A long answer takes one line of bounded length; joiners of Persian and emoji stay."""
    assert ("x" * 9 + "…", "می\u200cخواهم") == (plain("x" * 100, 10), plain("می\u200cخواهم"))


def test_stream_that_cannot_encode_shows_question_marks() -> None:
    """An ASCII terminal is no reason to lose an alert."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    StdoutNotifier(stream).notify(alert())
    assert b"refunds, medium risk" in raw.getvalue()


def test_closed_stream_is_unavailable() -> None:
    """The alert is kept for later."""
    stream = io.StringIO()
    stream.close()
    with pytest.raises(NotifierUnavailable):
        StdoutNotifier(stream).notify(alert())


def unmapped(state: AlertState) -> Alert:
    """An alert about traces without an intent."""
    share, limit = rate(0.34, 0.34, 0.34, 1234), rate(0.2, 0.2, 0.2, 0)
    return alert("unmapped-1", rule=UNMAPPED_RULE, state=state, rate=share, reference=limit, samples=1234)


def test_unmapped_traffic_reads_as_such_with_what_to_do() -> None:
    """No word of hallucinated answers, and no interval: all traffic was counted."""
    text = render(unmapped(AlertState.FIRING), page_url="http://h")
    assert text.startswith("FIRING: traces without an intent · 34.0% of 1,234 traces in an hour, limit 20.0%\n")
    wanted = (
        "fired 2026-03-10 12:00 UTC\n",
        "`groundwatch intents unmapped`",
        "`sources`",
        "http://h/alerts/unmapped-1",
    )
    assert [part for part in wanted if part not in text] == []
    assert [part for part in ("hallucinated", "interval", "version change", "verified") if part in text] == []


@pytest.mark.parametrize("state", AlertState)
def test_every_state_of_unmapped_traffic_can_be_said(state: AlertState) -> None:
    """Advice only while somebody has to act on it."""
    text = render(unmapped(state))
    assert (state in {AlertState.FIRING, AlertState.STALE}) == ("do         " in text)
