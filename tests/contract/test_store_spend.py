"""What judges cost and what they said, as every store keeps it: memory, embedded engine, a server over HTTP."""

from datetime import datetime, timedelta
from typing import Any

from schemas.labels import ClaimLabel, Layer, Outcome, RiskTier
from schemas.spend import ALL, BudgetShare, ClaimSupports, Cost, Spend, SpendSum
from schemas.trace import Source
from schemas.verdict import ClaimJudgement, Verdict
from streams.store import Store
from tests.builders import NOW, claim, claim_verdict, draw, drawn_trace, evidence, trace, verdict
from tests.fakes_store import MemoryStore

Subject = MemoryStore | Store
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
ONE = Cost(calls=2, cached=1, tokens_in=900, tokens_out=60, usd=0.25, took_ms=1200.0, slowest_ms=800.0)


def spend(cost: Cost = ONE, **fields: Any) -> Spend:
    """A minute of a worker."""
    given = {"worker": "w-1", "minute": NOW, "intent": "refunds", "tier": RiskTier.HIGH, "layer": Layer.L3}
    return Spend(**{**given, "route": "*/*", **fields, "cost": cost})


def sums(store: Subject, step: timedelta = HOUR) -> list[SpendSum]:
    """Everything in the two hours around noon."""
    return store.spending.sums(NOW - HOUR, NOW + HOUR, step=step)


def summed(start: datetime, cost: Cost, **fields: Any) -> SpendSum:
    """What is read of it."""
    given = {"intent": "refunds", "tier": RiskTier.HIGH, "layer": Layer.L3, "route": "*/*", **fields}
    return SpendSum(start=start, cost=cost, **given)


def test_row_that_is_sent_again_replaces_and_never_doubles(store: Subject) -> None:
    """A retry after a lost answer, and the same minute with more in it."""
    more = ONE.plus(Cost(calls=1, refused=3, refused_tokens=90, refused_usd=0.125))
    store.spending.insert([spend()], 1)
    store.spending.insert([spend()], 2)
    assert [summed(NOW, ONE)] == sums(store)
    store.spending.insert([spend(more)], 3)
    store.spending.insert([spend()], 2)  # an older row that comes late
    assert [summed(NOW, more)] == sums(store)


def test_workers_and_minutes_add_up(store: Subject) -> None:
    """By what is asked for: an hour or a minute; the slowest call is the slowest of all."""
    slow = Cost(calls=1, tokens_in=10, took_ms=9000.0, slowest_ms=9000.0)
    rows = [spend(), spend(slow, worker="w-2"), spend(minute=NOW + MINUTE), spend(minute=NOW - MINUTE)]
    store.spending.insert(rows, 1)
    assert [summed(NOW - HOUR, ONE), summed(NOW, ONE.plus(slow).plus(ONE))] == sums(store)
    assert [NOW - MINUTE, NOW, NOW + MINUTE] == [row.start for row in sums(store, MINUTE)]


def test_intents_tiers_layers_and_routes_are_told_apart(store: Subject) -> None:
    """And what lies outside the time asked for is left out, its end included."""
    rows = [
        spend(),
        spend(intent="billing 😀 'x'"),
        spend(tier=RiskTier.LOW),
        spend(layer=Layer.L4),
        spend(route="refunds/high"),
        spend(minute=NOW + HOUR),
        spend(minute=NOW - HOUR - MINUTE),
    ]
    store.spending.insert(rows, 1)
    found = sums(store)
    assert sorted(str(summed(NOW, ONE, **fields)) for fields in _fields()) == sorted(map(str, found))


def _fields() -> list[dict[str, Any]]:
    odd = {"intent": "billing 😀 'x'"}
    return [{}, odd, {"tier": RiskTier.LOW}, {"layer": Layer.L4}, {"route": "refunds/high"}]


def test_share_of_a_worker_is_the_one_written_last(store: Subject) -> None:
    """By hour, pot and worker; earlier hours are left out where they are not asked for."""
    old = BudgetShare(worker="w-1", hour=NOW, pot=ALL, tokens=10, may_tokens=100, written_at=NOW)
    new = old.model_copy(update={"tokens": 20.0, "usd": 0.5, "may_usd": 0.75, "written_at": NOW + MINUTE})
    rows = [old, old.model_copy(update={"worker": "w-2"}), old.model_copy(update={"hour": NOW - HOUR})]
    store.spending.insert_shares([*rows, old.model_copy(update={"pot": "refunds/*"})], 1)
    store.spending.insert_shares([new], 2)
    assert [new, rows[1], old.model_copy(update={"pot": "refunds/*"})] == store.spending.shares(NOW)
    assert 4 == len(store.spending.shares(NOW - HOUR))


def test_judgements_come_back_as_they_were_said(store: Subject) -> None:
    """With what the judge pointed at; the newest counts, and what nobody said is not there."""
    said = ClaimJudgement(
        support=0.5, evidence=evidence(), why="says so", label=ClaimLabel.SUPPORTED, confidence=0.9, layer=Layer.L3
    )
    other = ClaimJudgement(label=ClaimLabel.UNCLEAR, layer=Layer.L3)
    store.judgements.insert({"a": other, "b": other}, NOW)
    store.judgements.insert({"a": said}, NOW + MINUTE)
    assert {"a": said, "b": other} == store.judgements.read(["a", "b", "c"])
    assert {} == store.judgements.read([])


def test_half_characters_in_a_judgement_reject_nothing(store: Subject) -> None:
    """A judge may quote a text that cannot be stored as it is."""
    store.judgements.insert({"a": ClaimJudgement(label=ClaimLabel.SUPPORTED, why="caf\ud83d\x00")}, NOW)
    assert ClaimLabel.SUPPORTED == store.judgements.read(["a"])["a"].label


def test_supports_are_of_the_newest_verdict_on_drawn_answers(store: Subject) -> None:
    """By stratum, in hundredths; claims without a score are none, and what lies outside the time is left out."""

    def scored(trace_id: str, *supports: float | None, **fields: Any) -> Verdict:
        claims = tuple(claim_verdict(support=one, claim=claim(index=i)) for i, one in enumerate(supports))
        return verdict(trace_id, **{"verified_at": NOW, "claims": claims, **fields})

    store.insert_traces(
        [
            drawn_trace("a"),
            drawn_trace("b", draw=draw(stratum="rest")),
            drawn_trace("undrawn", draw=draw(drawn=False, u=0.9)),
            drawn_trace("early", ts=NOW - 2 * HOUR),
            drawn_trace("waiting"),
        ]
    )
    store.insert_verdicts(
        [
            scored("a", 0.1, 0.2),
            scored("a", 0.5, 0.509, None, 1.0, verified_at=NOW + MINUTE, fingerprint="newer"),
            scored("b", claims=(claim_verdict(ClaimLabel.UNCLEAR, support=None, error=Outcome.ERROR_BUDGET),)),
            scored("undrawn", 0.5),
            scored("early", 0.5, ts=NOW - 2 * HOUR),
        ]
    )
    found = {row.stratum: row for row in store.spending.supports(NOW - HOUR, NOW + HOUR)}
    stratum = draw().stratum
    assert [2, 1] == [sum(getattr(row, name) for row in found.values()) for name in ("answers", "failed")]
    assert {50: 2, 99: 1} == {place: count for place, count in enumerate(found[stratum].bins) if count}
    assert [] == store.spending.supports(NOW + HOUR, NOW + 2 * HOUR)


def test_claim_that_found_no_money_is_a_missing_outcome(store: Subject) -> None:
    """Coverage counts its answer among the errors, tallies under its reason and never among the judged."""
    source = Source(topic="traces", partition=0, offset=1, recorded_at=NOW)
    store.insert_traces([drawn_trace("a", trace=trace("a", source=source))])
    store.insert_verdicts([verdict("a", Outcome.ERROR_BUDGET, verified_at=NOW)])
    states = store.fates.states(NOW - HOUR, kept_since=NOW - HOUR)["traces"]
    assert (1, 0, 1, 0) == (states.drawn, states.judged, states.errors, states.pending)
    store.rebuild_tallies(NOW + HOUR)
    (tally,) = [row for row in store.tallies(NOW - HOUR, NOW + HOUR) if row.fingerprint]
    assert (0, 1) == (tally.judged, tally.outcomes[list(Outcome).index(Outcome.ERROR_BUDGET)])


def test_part_of_a_hundredth_counts_in_part() -> None:
    """A band may begin anywhere."""
    bins = tuple(4 if place == 50 else 0 for place in range(100))
    one = ClaimSupports(intent="i", tier=RiskTier.LOW, stratum="rest", answers=2, bins=bins)
    assert [4.0, 1.0, 0.0, 4.0] == [
        round(one.within(*band), 9) for band in ((0, 1), (0.5, 0.5025), (0, 0.5), (0.5, 0.6))
    ]
