"""The pipeline on a sample, in memory: screening, what the policy would draw, and verdicts on all of it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from detectors.detector import Detector
from detectors.screening import Screener
from detectors.verification import verify
from sampling.draw import u_of
from sampling.effective import EffectivePolicy
from sampling.strata import citation_count, stratum_of
from schemas.draw import Draw, DrawnTrace, Screening
from schemas.labels import ClaimLabel, Outcome, RiskTier
from schemas.policy import PolicyDocument
from schemas.trace import Passage, Trace
from schemas.verdict import ClaimVerdict, Verdict
from streams.attach.reading import Built, Reading, counts_of, share
from streams.attach.report import Cost, DryRun, Flagged, OutcomeRow, TierDraw, Unresolved

MAX_FLAGGED = 10
JUDGING_SECONDS = 12.0
"""For a person who waits; a sample of long contexts is judged in part."""
MAX_CHARS_OF_A_TRACE = 500_000
"""A larger one alone may take seconds."""
_BATCH = 8
_SHUFFLE = b"attach"
_WARM_UP = Trace(
    trace_id="warm-up",
    ts=datetime(2026, 1, 1, tzinfo=UTC),
    answer="Returns are free.",
    passages=(Passage(text="Returns are free."),),
)
NO_JUDGE = "no judge is configured: no model calls, no fees"
MAX_CHARS = 300
DAY_SECONDS = 86_400
_EVERY_TRACE = Draw(stratum="rest", u=0.0, inclusion_probability=1.0, min_probability=1.0, policy_id="", drawn=True)
_BAD = (ClaimLabel.CONTRADICTED, ClaimLabel.UNSUPPORTED)
_OWN_COLUMNS = (Outcome.GROUNDED, Outcome.HALLUCINATED, Outcome.UNCLEAR)


@dataclass(frozen=True, slots=True)
class Means:
    """What judging takes. ``finish`` is what every trace goes through before anything of it is kept or shown.

    ``clock`` counts seconds from any origin. ``left_out`` are the layers that the settings add to the detector, in
    words, and ``judge`` what a judge would cost: models would hardly get through a sample while a person waits, and
    nothing of it is sent to an endpoint.
    """

    detector: Detector
    policy: EffectivePolicy
    finish: Callable[[Trace], Trace]
    now: datetime
    clock: Callable[[], float]
    left_out: tuple[str, ...] = ()
    judge: str = NO_JUDGE


@dataclass(slots=True)
class Trial:
    """Screenings and verdicts of whole traces (of any, where none is whole), in one order.

    ``torn`` were cut by the edges of the sample; ``skipped`` are too large for a look, or time was up.
    """

    built: list[Built] = field(default_factory=list)
    screenings: list[Screening] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    torn: int = 0
    skipped: int = 0
    screen_seconds: float = 0.0
    verify_seconds: float = 0.0


def run_trial(reading: Reading, means: Means) -> Trial:
    """Screen and verify in memory, whatever the policy would have drawn, in a random order until the time is up."""
    whole = sorted(reading.whole, key=lambda one: u_of(one.trace.trace_id, _SHUFFLE))
    taken = quick_ones(whole) or sorted(whole, key=_chars)[:1]
    trial = Trial(torn=len(reading.built) - len(whole))
    screener = Screener(means.detector)
    screener.screen([_WARM_UP], [means.policy.document])  # reads the weights, which is no part of what a trace costs
    deadline = means.clock() + JUDGING_SECONDS
    for first in range(0, len(taken), _BATCH):
        if means.clock() > deadline:
            break
        _judge(trial, taken[first : first + _BATCH], screener, means)
    trial.skipped = len(whole) - len(trial.built)
    return trial


def cites(reading: Reading, policy: PolicyDocument) -> list[bool]:
    """Of the whole traces that are read quickly, whether their answers cite anything."""
    traces = [one.trace for one in quick_ones(reading.whole)]
    screenings = Screener(None).screen(traces, [policy] * len(traces))
    return [bool(citation_count(trace, screening)) for trace, screening in zip(traces, screenings, strict=True)]


def quick_ones(built: Sequence[Built]) -> list[Built]:
    """Those that are no matter of seconds."""
    return [one for one in built if _chars(one) <= MAX_CHARS_OF_A_TRACE]


def _judge(trial: Trial, batch: Sequence[Built], screener: Screener, means: Means) -> None:
    finished = [replace(one, trace=means.finish(one.trace)) for one in batch]
    traces = [one.trace for one in finished]
    policies = [means.policy.document] * len(traces)
    began = means.clock()
    screenings = screener.screen(traces, policies)
    screened_at = means.clock()
    drawn = [
        DrawnTrace(trace=trace, draw=_EVERY_TRACE, screening=screening)
        for trace, screening in zip(traces, screenings, strict=True)
    ]
    trial.verdicts += verify(drawn, policies, means.detector, means.now)
    trial.verify_seconds += means.clock() - screened_at
    trial.screen_seconds += screened_at - began
    trial.screenings += screenings
    trial.built += finished


def _chars(built: Built) -> int:
    """What judging has to read."""
    trace = built.trace
    return sum(len(passage.text) for passage in trace.passages or ()) + len(trace.answer or "")


def dry_run(trial: Trial, fixes: Mapping[str, str]) -> DryRun:
    """What the verdicts say, for people; ``fixes`` by outcome."""
    cells: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for verdict in trial.verdicts:
        cells[verdict.intent, verdict.tier].append(verdict.outcome)
    rows = [_row(intent, tier, outcomes) for (intent, tier), outcomes in cells.items()]
    bad = [verdict for verdict in trial.verdicts if verdict.outcome is Outcome.HALLUCINATED]
    reasons = counts_of(verdict.outcome for verdict in trial.verdicts if verdict.outcome.is_unresolved)
    return DryRun(
        judged=len(trial.verdicts),
        torn=trial.torn,
        skipped=trial.skipped,
        outcomes=tuple(sorted(rows, key=lambda row: (-row.traces, row.intent, row.tier))),
        flagged=tuple(_each_once(map(_flagged, bad)))[:MAX_FLAGGED],
        unresolved=tuple(
            Unresolved(reason=reason, traces=count, share=share(count, len(trial.verdicts)), fix=fixes.get(reason, ""))
            for reason, count in reasons
        ),
    )


def _row(intent: str, tier: str, outcomes: Sequence[Outcome]) -> OutcomeRow:
    counts = Counter(outcomes)
    unresolved = sum(outcome.is_unresolved for outcome in outcomes)
    named = {outcome.value: counts[outcome] for outcome in _OWN_COLUMNS}
    other = len(outcomes) - unresolved - sum(named.values())
    return OutcomeRow(intent=intent, tier=tier, traces=len(outcomes), other=other, unresolved=unresolved, **named)


def _each_once(flagged: Iterable[Flagged]) -> Iterator[Flagged]:
    """One answer for each claim: what goes wrong a hundred times is one thing to look at."""
    claims: set[str] = set()
    for one in flagged:
        if one.claim not in claims:
            claims.add(one.claim)
            yield one


def _flagged(verdict: Verdict) -> Flagged:
    bad = [claim for claim in verdict.claims if claim.label in _BAD]
    worst: ClaimVerdict | None = min(bad, key=lambda claim: claim.support or 0.0, default=None)
    evidence = worst.evidence.text if worst and worst.evidence else ""
    return Flagged(
        trace_id=verdict.trace_id,
        intent=verdict.intent,
        tier=verdict.tier,
        outcome=verdict.outcome,
        failures=verdict.failures,
        claim=(worst.claim.text if worst else "")[:MAX_CHARS],
        evidence=evidence[:MAX_CHARS],
    )


def cost(reading: Reading, trial: Trial, means: Means, rates: Mapping[str, float]) -> Cost:
    """What verifying costs: the expected share drawn of what was screened, and measured times on this machine.

    ``rates`` are messages a second by topic; under the empty name, of all together. Empty where they are not known.
    """
    policy = means.policy
    by_tier: dict[RiskTier, list[tuple[str, float]]] = defaultdict(list)
    for one, screening in zip(trial.built, trial.screenings, strict=True):
        trace = one.trace
        stratum = stratum_of(trace, screening, policy.document.sampling.strata)
        by_tier[trace.tier].append((stratum, policy.probability(trace.intent, trace.tier, stratum)))
    drawn_share = _mean([probability for own in by_tier.values() for _, probability in own])
    messages, traces = len(reading.seen), len(reading.built)
    times: dict[str, float] = {
        "decode_ms": _each_ms(reading.decode_seconds, messages),
        "assemble_ms": _each_ms(reading.assemble_seconds, traces),
        "screen_ms": _each_ms(trial.screen_seconds, len(trial.built)),
        "verify_ms": _each_ms(trial.verify_seconds, len(trial.built)),
    }
    return Cost(
        policy=policy.document.name,
        tiers=tuple(_tier(tier, by_tier[tier]) for tier in RiskTier if by_tier[tier]),
        drawn_share=drawn_share,
        left_out=means.left_out,
        judge=means.judge,
        **times,
        **_daily(reading, rates, drawn_share, times),
    )


def _daily(
    reading: Reading, rates: Mapping[str, float], drawn_share: float, times: Mapping[str, float]
) -> dict[str, float | None]:
    if not rates:
        return {"traces_per_day": None, "drawn_per_day": None, "cpu_seconds_per_day": None}
    messages = sum(rates.values()) * DAY_SECONDS
    traces = sum(rate * reading.traces_a_message(topic) for topic, rate in rates.items()) * DAY_SECONDS
    milliseconds = (
        messages * times["decode_ms"]
        + traces * (times["assemble_ms"] + times["screen_ms"])
        + traces * drawn_share * times["verify_ms"]
    )
    return {
        "traces_per_day": round(traces),
        "drawn_per_day": round(traces * drawn_share),
        "cpu_seconds_per_day": round(milliseconds / 1000, 1),
    }


def _tier(tier: RiskTier, own: Sequence[tuple[str, float]]) -> TierDraw:
    strata = dict(counts_of(stratum for stratum, _ in own))
    return TierDraw(tier=tier, traces=len(own), drawn_share=_mean([p for _, p in own]), strata=strata)


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def _each_ms(seconds: float, count: int) -> float:
    return round(1000 * seconds / count, 3) if count else 0.0
