"""Personal data through a real process on the embedded broker: none of it reaches a topic of ours or the store."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from streams.broker.topics import DEADLETTER, DRAWN, SPANS, VERDICTS
from streams.store import ALL_TENANTS, Store
from tests.integration.running import produce, read_all, running
from tests.openinference import hex_id, message, request, root

TOPIC = "traces"
SECRETS = ("ada@lind.example", "+49 30 5551234", "DE89 3704 0044 0532 0130 00", "4111 1111 1111 1111", "user-204")
CONTACT = f"Write to {SECRETS[0]}, call {SECRETS[1]}, pay to {SECRETS[2]} or by card {SECRETS[3]}."
SETTINGS = {
    "GROUNDWATCH_PRIVACY__DEAD_LETTER": "hash",
    "GROUNDWATCH_ASSEMBLY__GRACE_SECONDS": "1",
    "GROUNDWATCH_ASSEMBLY__QUIET_SECONDS": "3",
}


def whole(trace_id: str, at: datetime) -> bytes:
    """A trace of a tier that the shipped policy draws in full, with secrets in each text."""
    fields = {
        "trace_id": trace_id,
        "ts": at.isoformat(),
        "question": f"Is {SECRETS[0]} right?",
        "answer": f"Yes. {CONTACT}",
        "passages": [{"doc_id": "contact", "text": CONTACT}],
        "packed_prompt": CONTACT,
        "tool_calls": [{"name": "find", "arguments": json.dumps({"mail": SECRETS[0]}), "output": CONTACT}],
        "feedback": f"good, {SECRETS[0]}",
        "user_id": SECRETS[4],
        "tier": "high",
        "intent": "contact",
    }
    return json.dumps(fields).encode()


@pytest.mark.integration
@pytest.mark.timeout(180)
def test_personal_data_stays_on_the_source_topic(tmp_path: Path) -> None:
    """Whole traces, spans and what cannot be read; the answer is still judged, and its contact still found right."""
    at = datetime.now(UTC) - timedelta(minutes=2)
    bad = f"no JSON, but {CONTACT}".encode()
    spans = [*request("spans", at)[:2], root("spans", at, user__id=SECRETS[4], output__value=f"Yes. {CONTACT}")]
    with running(tmp_path / "data", None, TOPIC, **SETTINGS) as run:
        values = [whole("t-1", at), message(spans), bad]
        produce(run.bootstrap_servers, TOPIC, [(SECRETS[0].encode(), value) for value in values])
        run.wait_for(lambda: run.get("/api/v1/counts")["traces"] == 2, 60, "traces")
        run.wait_for(lambda: run.get("/api/v1/counts")["verdicts"] >= 1, 60, "verdicts")
        sent = {
            topic: read_all(run.bootstrap_servers, topic, least, 5)
            for topic, least in ((DRAWN, 1), (VERDICTS, 1), (SPANS, 1), (DEADLETTER, 1))
        }
        assert 0 == run.stop()
        log = run.log_path.read_text(errors="replace")
    told = [
        f"{topic}: {secret}"
        for topic, letters in sent.items()
        for letter in letters
        for secret in SECRETS
        if secret.encode() in b"".join([letter.key or b"", letter.value or b"", *(part for _, part in letter.headers)])
    ]
    assert [] == told
    assert [] == [secret for secret in SECRETS if secret in log]
    store = Store.open(f"chdb://{tmp_path / 'data' / 'store'}", read_only=True)
    try:
        traces = [store.trace(name, tenants=ALL_TENANTS) for name in ("t-1", hex_id("spans", 16))]
    finally:
        store.close()
    for stored in traces:
        assert stored is not None
        assert [] == [secret for secret in SECRETS if secret in stored.drawn.trace.model_dump_json()]
    first = traces[0]
    assert first is not None
    assert first.drawn.trace.user_id.startswith("[USER_")
    assert first.drawn.trace.passages is not None
    assert first.drawn.trace.answer == f"Yes. {first.drawn.trace.passages[0].text}"
    assert {"gw-hash", "gw-length"} < {name for name, _ in sent[DEADLETTER][0].headers}
