"""Runs for ``groundwatch gate``: files of native traces, each line the product's answer to a golden question.

A run with a line that cannot be read is refused whole: an answer left out would look like a case that fails for another
reason, or be missed altogether.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from detectors.detector import Detector
from detectors.gate import Answered, CaseResult, Matched, Rules, RunAnswer, evaluate, match_answers, stated_claims
from detectors.layers import Layers
from detectors.screening import Screener
from sampling.policy_file import policy_id_of
from schemas.errors import ConfigError, InvalidMessage
from schemas.golden import GoldenCase
from schemas.labels import RiskTier
from schemas.policy import PolicyDocument
from schemas.trace import Trace, Versions
from schemas.verdict import Verdict
from streams.cli.checking import judge
from streams.cli.recorded import Line, read_lines
from streams.gate.report import RunInfo
from streams.messages import Message
from streams.sources.native import decode_native

MOST_FAULTS = 20
BATCH = 64


@dataclass(frozen=True, slots=True)
class Run:
    """A file of answers, and which case each belongs to."""

    file: Path
    matched: Matched


@dataclass(frozen=True, slots=True)
class Judge:
    """What answers are judged by."""

    detector: Detector
    policy: PolicyDocument
    rules: dict[RiskTier, Rules]
    now: datetime
    above: Layers


def read_run(file: Path, cases: Sequence[GoldenCase], others: Sequence[str], now: datetime) -> Run:
    """The answers of a file by case. Raises ConfigError: every faulty line (the first 20) with what to do."""
    answers: list[RunAnswer] = []
    faults: list[str] = []
    for line in read_lines([file]):
        try:
            answers.append(_answer(line, now))
        except InvalidMessage as error:
            faults.append(f"{line.where}: {error}")
    matched = match_answers(cases, answers, others)
    faults += matched.faults
    if faults:
        more = [f"{file}: and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
        raise ConfigError("\n".join([*faults[:MOST_FAULTS], *more]))
    return Run(file, matched)


def judged_run(
    run: Run, cases: Sequence[GoldenCase], by: Judge, advance: Callable[[int], None]
) -> tuple[list[CaseResult], RunInfo]:
    """The result of every case, in their order, and what the run was; ``advance`` is told of cases as they are done."""
    results: list[CaseResult] = []
    verdicts: list[Verdict] = []
    screener = Screener(by.detector)
    for start in range(0, len(cases), BATCH):
        part = cases[start : start + BATCH]
        answered = [case for case in part if case.case_id in run.matched.by_case]
        traces = [_held_to(case, run.matched.by_case[case.case_id].trace) for case in answered]
        found = judge(traces, by.detector, screener, by.policy, by.now, above=by.above)
        texts = [trace.answer or "" for trace in traces]
        stated = stated_claims(answered, texts, by.detector, by.policy.thresholds)
        by_id = {
            case.case_id: Answered(trace, verdict, said)
            for case, trace, verdict, said in zip(answered, traces, found, stated, strict=True)
        }
        results += [evaluate(case, by_id.get(case.case_id), by.rules) for case in part]
        verdicts += found
        advance(len(part))
    return results, _info(run, verdicts, by.policy)


def _answer(line: Line, now: datetime) -> RunAnswer:
    trace = decode_native(Message("file", 0, line.number, None, line.content, (), now))
    named: object = None
    with suppress(ValueError):  # the decoder read it, so at most a byte order mark or a surrogate stands in the way
        named = json.loads(line.content.decode("utf-8-sig", "replace")).get("golden_case")
    if named is not None and not isinstance(named, str):
        raise InvalidMessage("wrong_type", "golden_case: write the case's id as a text")
    return RunAnswer(line.where, trace, named or "")


def _held_to(case: GoldenCase, trace: Trace) -> Trace:
    """The trace under the case's intent and tier, which decide bars and critical rules."""
    return trace.model_copy(update={"intent": case.intent, "tier": case.tier})


def _info(run: Run, verdicts: Sequence[Verdict], policy: PolicyDocument) -> RunInfo:
    versions = {
        name: tuple(sorted({found for one in verdicts if (found := getattr(one.versions, name))}))
        for name in Versions.model_fields
    }
    return RunInfo(
        file=str(run.file),
        answers=len(run.matched.by_case),
        strangers=len(run.matched.strangers),
        policy=policy.name,
        policy_id=policy_id_of(policy, None),
        fingerprint=verdicts[0].fingerprint if verdicts else "",
        fingerprint_parts=verdicts[0].fingerprint_parts if verdicts else {},
        versions={name: found for name, found in versions.items() if found},
    )
