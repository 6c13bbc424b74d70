"""Records as text for people: complete, in order, and harmless whatever strangers wrote."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType

from sampling.policy_diff import CellTraffic, diff_policies
from schemas.draw import DrawnTrace
from schemas.errors import ConfigError
from schemas.finding import Finding, StructuralRule
from schemas.labels import ClaimLabel, FailureLabel, Layer, Outcome, RiskTier
from schemas.layers import Consistency, LayerReason, LayerRun
from schemas.policy import IntentRules, Sampling, StratumRule, Thresholds
from schemas.verdict import HopVerdict
from streams.cli.options import moment_of
from streams.cli.policy_files import checked_file
from streams.cli.policy_view import describe_diff
from streams.cli.store_view import describe_result, describe_stats, size
from streams.cli.trace_view import answer_in_colour, describe
from streams.store import CheckName, CheckResult, StoredTrace, StoreStats, TableStats
from tests.builders import NOW, claim, claim_verdict, draw, drawn_trace, passage, policy, screening, trace, verdict

HOSTILE = "\x1b[31mred\x00\u202eevil\x9b2J [bold]x[/bold]"


def text(shown: RenderableType) -> str:
    """What a terminal of 200 columns gets."""
    console = Console(width=200, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        console.print(shown)
    return captured.get()


def stored(drawn: DrawnTrace | None = None, **fields: Any) -> StoredTrace:
    """A trace with one verdict that has findings."""
    findings = (Finding(rule=StructuralRule.CITATION_UNKNOWN, claim=0, passage=0, detail="[x-9]"),)
    defaults: dict[str, Any] = {"findings": findings, "failures": (FailureLabel.CITATION_UNKNOWN,)}
    made = verdict(outcome=Outcome.HALLUCINATED, **{**defaults, **fields})
    return StoredTrace(drawn=drawn or drawn_trace(), verdicts=[made])


def test_a_trace_shows_everything_that_explains_its_verdict() -> None:
    """Outcome, claim, label, evidence, finding, draw, versions, what a user would have got."""
    shown = describe(stored(citation_precision=0.5), "Ask us.").plain
    wanted = [
        "t-1", "refunds/medium", "hallucinated", "deliver_trimmed", "citation_unknown", "precision 0.50",
        "unsupported", "[x-9]", "delivers   Ask us.", "u 0.100000 < π 0.2, in the nested subsample, policy p-test",
        "versions", "L0 L1",
    ]  # fmt: skip
    assert [part for part in wanted if part not in shown] == []


def test_a_trace_shows_which_layers_ran_and_why_not() -> None:
    """What they cost, how sure the judge is, and what comparing several answers showed."""
    judged = claim_verdict(ClaimLabel.UNSUPPORTED, decided_by=Layer.L3, confidence=0.9)
    routing = (
        LayerRun(layer=Layer.L2, ran=False, why=LayerReason.NOT_ROUTED),
        LayerRun(
            layer=Layer.L3, ran=True, why=LayerReason.IN_BAND, claims=1, calls=2, cached=3, tokens_in=1900,
            tokens_out=80, cost_usd=0.0012, took_ms=700,
        ),
    )  # fmt: skip
    compared = Consistency(source="resampled", samples=5, votes=2, unstable_claims=(0,), is_flagged=True)
    shown = describe(stored(claims=(judged,), routing=routing, consistency=compared), None).plain
    wanted = [
        "layers     L2 not run: not routed",
        "L3 ran: in band, 1 claim, 2 calls, 3 from the cache, 1,900 tokens in, 80 out, 0.0012 USD, 700.0 ms",
        "samples    unstable: 5 answers compared, the others drawn anew from the recorded prompt; 2 say the same; ",
        "too few support claim 0",
        "the judge's word, confidence 0.90",
    ]
    assert [part for part in wanted if part not in shown] == []
    long = Consistency(source="trace", samples=3, agreement=0.75, mean_logprob=-0.5)
    assert (
        "stable: 3 answers compared, the others in the trace; the others support its claims by 0.75 on average; mean "
        "log-probability of its tokens -0.50"
    ) in describe(stored(consistency=long), None).plain


def test_a_trace_shows_how_each_hop_fared() -> None:
    """Its claims by label, the one that fares worst with its evidence, and how many hops nobody looked at."""
    fine = HopVerdict(hop=0, name="lookup", outcome=Outcome.GROUNDED, claims=2, supported=2, derived=1)
    worse = HopVerdict(
        hop=1, outcome=Outcome.HALLUCINATED, claims=3, supported=1, unsupported=1, errors=1, left_out=4,
        worst_label=ClaimLabel.UNSUPPORTED, worst=f"It costs 5 euros. {HOSTILE}", worst_why="not in the evidence",
        evidence_doc="tool:price", evidence="4 euros",
    )  # fmt: skip
    brought = claim_verdict(ClaimLabel.UNSUPPORTED, hop=1)
    shown = text(describe(stored(claims=(brought,), hops=(fine, worse), hops_left_out=2), None))
    wanted = [
        "hops       1 (lookup) grounded: 2 claims, 2 supported, 1 derived",
        "2 hallucinated: 3 claims, 1 supported, 1 unsupported, 1 errors, 4 not judged",
        "worst: unsupported It costs 5 euros.",
        "evidence: tool:price: 4 euros",
        "and 2 more that were not checked",
        "(hop 2, support",
    ]
    assert [part for part in wanted if part not in shown] == []
    assert [mark for mark in "\x1b\x00\u202e\x9b" if mark in shown] == []


def test_claims_are_coloured_in_the_answer_as_it_was_given() -> None:
    """Offsets hold, also behind characters that are replaced."""
    answer = "\x1bOne. Two wrong."
    bad = claim_verdict(ClaimLabel.CONTRADICTED, claim=claim("Two wrong.", start=6, end=16))
    shown = answer_in_colour(trace(answer=answer), verdict(claims=(bad,)))
    assert "\ufffdOne. Two wrong." == shown.plain
    assert [(6, 16, "bold red")] == [(span.start, span.end, span.style) for span in shown.spans]


def test_a_trace_without_verdict_says_why() -> None:
    """Not drawn, or not yet; what screening found stands in."""
    undrawn = StoredTrace(drawn=drawn_trace(draw=draw(u=0.9, drawn=False)), verdicts=[])
    assert "no verdict: not drawn" in describe(undrawn, None).plain
    assert "u 0.900000 ≥ π 0.2" in describe(undrawn, None).plain
    waiting = StoredTrace(drawn=drawn_trace(screening=screening(score=0.25)), verdicts=[])
    assert "no verdict yet, screening: claims to judge, score 0.25" in describe(waiting, None).plain


@pytest.mark.parametrize(
    ("passages", "says"),
    [(None, "not shown by the trace"), ((), "retrieval gave nothing"), ((passage(archived=True),), "archived")],
)
def test_missing_empty_and_present_passages_are_told_apart(passages: object, says: str) -> None:
    """As the trace tells them apart."""
    drawn = drawn_trace(trace=trace(passages=passages, answer=None))
    shown = describe(stored(drawn), None).plain
    assert says in shown
    assert "(no answer)" in shown


def test_strangers_texts_are_inert_in_every_place() -> None:
    """No escape sequence, no direction mark, no markup, from any field."""
    evil = trace(
        question=HOSTILE, answer=HOSTILE, intent=HOSTILE, tenant=HOSTILE, roles=(HOSTILE,), user_id=HOSTILE,
        passages=(passage(HOSTILE, doc_id=HOSTILE, version=HOSTILE),), flags=(HOSTILE,),
    )  # fmt: skip
    bad = claim_verdict(
        ClaimLabel.UNSUPPORTED, claim=claim(HOSTILE, citations=(HOSTILE,), critical_rule=HOSTILE), why=HOSTILE
    )
    finding = Finding(rule=StructuralRule.QUOTE_NOT_FOUND, detail=HOSTILE)
    shown = text(describe(stored(drawn_trace(trace=evil), claims=(bad,), findings=(finding,)), HOSTILE))
    assert [mark for mark in "\x1b\x00\u202e\x9b" if mark in shown] == []
    assert "[bold]x[/bold]" in shown
    fault = CheckResult(name=CheckName.DUPLICATES, faults=1, examples=(HOSTILE,), note=HOSTILE, fix="do")
    assert "\x1b" not in text(describe_result(fault))


def test_a_fault_names_examples_and_the_fix_and_how_many_more() -> None:
    """A sound check is one line."""
    fault = CheckResult(name=CheckName.TIMES, checked=2000, faults=7, examples=("a", "b"), fix="set the clock")
    lines = describe_result(fault).plain.splitlines()
    assert ["FAULT", "a", "b", "and 5 more", "→ set the clock"] == [
        line.split("  ")[0].strip() or line.strip() for line in lines
    ]
    assert 1 == len(describe_result(CheckResult(name=CheckName.TIMES, checked=5)).plain.splitlines())


@pytest.mark.parametrize(
    ("count", "shown"),
    [(None, "unknown"), (0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2.5e9, "2.5 GB"), (5e15, "5000.0 TB")],
)
def test_sizes_are_short(count: float | None, shown: str) -> None:
    """Decimal units, as disks are sold."""
    assert shown == size(count)


def test_stats_say_when_the_disk_is_full_only_when_that_is_near() -> None:
    """Thousands of days help nobody."""
    table = TableStats(name="traces", rows=10, oldest=NOW, newest=NOW + timedelta(days=2))
    near = StoreStats(tables=(table,), free_bytes=10**9, days_until_full=12.0)
    assert "full in 12 days" in text(describe_stats(near))
    assert "full in" not in text(describe_stats(near.model_copy(update={"days_until_full": 10_000.0})))
    assert "for ever" in text(describe_stats(near))


def test_a_difference_is_told_with_its_consequences() -> None:
    """New series, π by cell, expected numbers, rules."""
    before = policy(sampling=Sampling(strata=(StratumRule(name="weak", score_below=0.3),)))
    after = policy(
        sampling=Sampling(default_probability=0.4),
        thresholds=Thresholds(supported=0.9),
        intents={"billing": IntentRules(citations_required=True)},
    )
    traffic = [CellTraffic(intent="billing", tier=RiskTier.LOW, stratum="rest", traces_per_day=1000)]
    shown = text(describe_diff(diff_policies(before, after, traffic), "p-1", HOSTILE))
    wanted = ["p-1 →", "0.7 → 0.9", "new fingerprint", "- sampling.strata.weak", "0.2", "0.4", "200 → 400 (+100 %)",
              "roughly", "+ intents.billing.citations_required: true"]  # fmt: skip
    assert [part for part in wanted if part not in shown] == []
    assert "\x1b" not in shown
    assert "No difference" in text(describe_diff(diff_policies(after, after), "a", "b"))


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"name: x\nnme: y\n", 2), (b"\xff", None), (None, None), (b"name: x\nsampling: {default_probability: 0}\n", 2)],
)
def test_a_faulty_file_is_told_by_line(tmp_path: Path, content: bytes | None, line: int | None) -> None:
    """Where there is a line to tell."""
    file = tmp_path / "p.yaml"
    if content is not None:
        file.write_bytes(content)
    result = checked_file(file)
    assert (False, line) == (result.is_fine, result.faults[0].line)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("", None), ("6h", NOW - timedelta(hours=6)), ("7d", NOW - timedelta(days=7)),
        ("30m", NOW - timedelta(minutes=30)),
        ("2026-03-10", NOW.replace(hour=0)), ("2026-03-10T13:00+01:00", NOW), ("2026-03-10T12:00Z", NOW),
    ],
)  # fmt: skip
def test_times_are_read_as_people_write_them(written: str, meant: object) -> None:
    """Ago, a day, or a moment with its zone."""
    assert meant == moment_of(written, NOW, "--since")


@pytest.mark.parametrize("written", ["x", "10", "999999d", "2026-03-10T12:00", "2026-13-01", "6 h"])
def test_a_time_that_is_none_says_how_to_write_one(written: str) -> None:
    """Each with an example to copy."""
    with pytest.raises(ConfigError, match="write"):
        moment_of(written, NOW, "--since")
