"""Live traffic for a language model to answer: question and passages of recorded traces, packed into a prompt.

It has an intent of its own, so that what a small model makes up moves no rate of the product, and is routed alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from demo.recipe import Recipe
from demo.stream import live_traces

INTENT = "small-model"
_RULE = "Answer the question in one or two short sentences. Use only what these texts say."
_MOST_PASSAGES = 3
"""A small model reads some 200 tokens a second."""


def questions(now: datetime, seed: int, recipe: Recipe) -> Iterator[dict[str, Any]]:
    """Live traces in English that hold passages, at most three each, with the prompt that a model is to answer.

    Their answers are those of the corpus still; ``answered`` puts another one in.
    """
    for trace in live_traces(now, seed, recipe):
        if trace["locale"].startswith("en") and trace.get("passages"):
            passages = trace["passages"][:_MOST_PASSAGES]
            prompt = packed_prompt(trace["question"], [passage["text"] for passage in passages])
            yield {**trace, "intent": INTENT, "tier": "low", "passages": passages, "packed_prompt": prompt}


def packed_prompt(question: str, texts: Sequence[str]) -> str:
    """The prompt of a plain RAG product."""
    listed = "\n".join(f"- {text}" for text in texts)
    return f"{_RULE}\n\nTexts:\n{listed}\n\nQuestion: {question}"


def answered(
    trace: Mapping[str, Any], at: datetime, model: str, answer: str, logprobs: Sequence[float]
) -> dict[str, Any]:
    """The trace with what the model wrote at that moment, and the natural log-probabilities of its tokens."""
    return {
        **trace,
        "ts": at.isoformat(timespec="milliseconds"),
        "answer": answer,
        "token_logprobs": list(logprobs),
        "versions": {**trace["versions"], "model": model, "prompt": "small-1"},
    }
