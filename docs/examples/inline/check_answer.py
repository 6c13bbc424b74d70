"""Ask Groundwatch before an answer is sent (docs/inline.md). Needs httpx, and nothing of Groundwatch."""

import os

import httpx

URL = os.environ.get("GROUNDWATCH_URL", "http://127.0.0.1:8642")
TOKEN = {"Authorization": f"Bearer {os.environ.get('GROUNDWATCH_CHECK_TOKEN', '')}"}


def text_to_send(question: str, answer: str, passages: list[dict[str, str]], tier: str = "high") -> str:
    """What the user may read: the answer, the answer without its bad claims, or the policy's fallback text."""
    asked = {"question": question, "answer": answer, "passages": passages, "intent": "returns", "tier": tier}
    try:
        reply = httpx.post(f"{URL}/v1/check", json=asked, headers=TOKEN, timeout=2.0)
    except httpx.HTTPError:
        return answer if tier != "high" else "Please ask our support team."  # nobody was there: your own decision
    if reply.status_code not in {200, 503}:  # 503: too busy, with the decision of the policy
        raise RuntimeError(reply.text)  # the request is wrong; the text says where, and what to do
    return str(reply.json()["text"])
