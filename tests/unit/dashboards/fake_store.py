"""A store in memory with the reads that the pages use, and a small world to show on them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from dashboards.periods import floor
from schemas.alert import Alert, AlertExample, VersionChange
from schemas.draw import DrawnTrace
from schemas.labels import AlertState, ClaimLabel, FailureLabel, Outcome, RiskTier
from schemas.policy import PolicyRecord
from schemas.review import ReviewLabel
from schemas.slice import Slice
from schemas.spend import Spend
from schemas.tally import BUCKET, Tally
from schemas.trace import passage_hash
from schemas.verdict import ClaimVerdict, Evidence, Verdict
from streams.store import Lead, UnmappedShare, WantedLeads
from streams.store.records import ALL_TENANTS, Deploy, FlaggedAnswer, StoreCounts, StoredTrace, Tenants
from tests import builders
from tests.fakes_spend import MemorySpending
from tests.fakes_store_reviews import MemoryReviews

OUTCOMES = tuple(Outcome)


@dataclass
class FakeStore:
    """What was put in comes out; ``broken`` is raised by every read when set."""

    rows: list[Tally] = field(default_factory=list)
    alert_rows: list[Alert] = field(default_factory=list)
    deploy_rows: list[Deploy] = field(default_factory=list)
    stored: list[StoredTrace] = field(default_factory=list)
    policies: list[PolicyRecord] = field(default_factory=list)
    unmapped_rows: list[UnmappedShare] = field(default_factory=list)
    lead_rows: list[Lead] = field(default_factory=list)
    labels: list[ReviewLabel] = field(default_factory=list)
    spend_rows: list[Spend] = field(default_factory=list)
    broken: Exception | None = None

    @property
    def spending(self) -> MemorySpending:
        """Spend with these rows."""
        self._check()
        made = MemorySpending()
        made.insert(self.spend_rows, 1)
        return made

    @property
    def reviews(self) -> MemoryReviews:
        """Reviews with these labels."""
        self._check()
        made = MemoryReviews([], [])
        made.insert_labels(self.labels, tenants=ALL_TENANTS)
        return made

    def tallies(
        self,
        since: datetime,
        until: datetime,
        *,
        step: timedelta = BUCKET,
        by_version: bool = True,  # noqa: ARG002 (the store's own signature)
    ) -> list[Tally]:
        """Rows of the time asked for, moved to the start of their step."""
        self._check()
        chosen = [row for row in self.rows if since <= row.bucket < until]
        return [row.model_copy(update={"bucket": floor(row.bucket, step)}) for row in chosen]

    def alerts(self, *, states: Sequence[AlertState] | None = None, limit: int = 100) -> list[Alert]:
        """The alerts in these states."""
        self._check()
        return [alert for alert in self.alert_rows if states is None or alert.state in states][:limit]

    def alert(self, alert_id: str) -> Alert | None:
        """The alert with this id."""
        return next((alert for alert in self.alerts() if alert.alert_id == alert_id), None)

    def deploys(self, since: datetime) -> list[Deploy]:
        """Version changes since."""
        self._check()
        return [deploy for deploy in self.deploy_rows if deploy.at >= since]

    def flagged(  # noqa: PLR0913 (the store's own signature)
        self,
        *,
        tenants: Tenants,
        intent: str | None = None,
        tier: RiskTier | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
    ) -> list[FlaggedAnswer]:
        """Hallucinated answers that these tenants may see, newest first."""
        self._check()
        found = [
            FlaggedAnswer(trace=item.drawn.trace, draw=item.drawn.draw, verdict=verdict)
            for item in self.stored
            for verdict in item.verdicts[:1]
            if verdict.outcome is Outcome.HALLUCINATED
            and (tenants is ALL_TENANTS or item.drawn.trace.tenant in tenants)
            and intent in {None, item.drawn.trace.intent}
            and tier in {None, item.drawn.trace.tier}
            and (since is None or item.drawn.trace.ts >= since)
            and (until is None or item.drawn.trace.ts < until)
        ]
        return sorted(found, key=lambda answer: answer.trace.ts, reverse=True)[:limit]

    def trace(
        self,
        trace_id: str,
        *,
        tenants: Tenants,
        ts: datetime | None = None,  # noqa: ARG002 (the store's own signature)
    ) -> StoredTrace | None:
        """The trace with this id, if these tenants may see it."""
        self._check()
        for item in self.stored:
            trace = item.drawn.trace
            if trace.trace_id == trace_id and (tenants is ALL_TENANTS or trace.tenant in tenants):
                return item
        return None

    def leads(self, wanted: WantedLeads, *, tenants: Tenants) -> list[Lead]:
        """The leads that these tenants may see."""
        self._check()
        seen = [lead for lead in self.lead_rows if tenants is ALL_TENANTS or lead.trace.tenant in tenants]
        return [lead for lead in seen if lead.trace.ts >= wanted.since][: wanted.limit]

    def unmapped(self, since: datetime, until: datetime) -> list[UnmappedShare]:
        """Rows of that time."""
        self._check()
        return [row for row in self.unmapped_rows if since <= row.hour < until]

    def policy_records(self) -> list[PolicyRecord]:
        """The policy log that was put in."""
        self._check()
        return self.policies

    def counts(self) -> StoreCounts:
        """Counts of what was put in."""
        self._check()
        traffic = sum(row.traffic for row in self.rows)
        moments = [item.drawn.trace.ts for item in self.stored]
        return StoreCounts(
            traces=max(traffic, len(self.stored)),
            drawn=sum(row.drawn for row in self.rows if not row.fingerprint),
            verdicts=sum(row.judged for row in self.rows),
            first_ts=min(moments, default=None),
            last_ts=max(moments, default=None),
            alerts_firing=sum(alert.state is AlertState.FIRING for alert in self.alert_rows),
            generation=1,
        )

    def _check(self) -> None:
        if self.broken:
            raise self.broken


def stored(trace_id: str = "t-1", outcome: Outcome = Outcome.HALLUCINATED, **fields: object) -> StoredTrace:
    """A stored trace with one verdict; ``fields`` override those of the trace."""
    trace = builders.trace(trace_id, **fields)
    verdict = builders.verdict(trace_id, outcome, ts=trace.ts, intent=trace.intent, tier=trace.tier)
    drawn = DrawnTrace(trace=trace, draw=builders.draw(), screening=builders.screening())
    return StoredTrace(drawn=drawn, verdicts=[verdict])


def answer_with(text: str, parts: Sequence[tuple[str, ClaimLabel, str]], passage: str) -> tuple[ClaimVerdict, ...]:
    """Claims of an answer, each with its label and the part of the passage that decided it."""
    claims = []
    for index, (claim, label, evidence) in enumerate(parts):
        at = passage.find(evidence)
        claims.append(
            builders.claim_verdict(
                label,
                claim=builders.claim(claim, text.index(claim), index=index),
                evidence=Evidence(
                    passage=0,
                    doc_id="refunds",
                    passage_hash=passage_hash(passage),
                    start=at,
                    end=at + len(evidence),
                    text=evidence,
                )
                if evidence
                else None,
            )
        )
    return tuple(claims)


def world(now: datetime, *, hours: int = 21 * 24, seed: int = 7) -> FakeStore:
    """Three weeks of six intents in three tiers, with a bad prompt in one of them half a day ago."""
    dice = random.Random(seed)
    store = FakeStore()
    broken_at = now - timedelta(hours=12)
    for number, intent in enumerate(("refunds", "data export", "billing", "shipping", "warranty", "account access")):
        for place, tier in enumerate((RiskTier.HIGH, RiskTier.MEDIUM, RiskTier.LOW)):
            for hour in range(hours):
                bucket = floor(now - timedelta(hours=hour), timedelta(hours=1))
                if intent == "data export" and hour < 8:
                    continue
                is_bad = intent == "refunds" and place == 0 and bucket >= broken_at
                _fill(store, dice, bucket, intent, tier, 30 // (number + 1) + 3 * place, 0.24 if is_bad else 0.05)
    store.deploy_rows = [
        Deploy(at=broken_at, intent="refunds", field="prompt", value="p-2", source="detected"),
        Deploy(at=now - timedelta(days=4), field="app", value="2026.3.1", note="release train", source="mark"),
    ]
    store.alert_rows = [_alert(now, broken_at), _resolved(now)]
    store.stored = [_flagged(number, now) for number in range(24)]
    return store


def _fill(  # noqa: PLR0913, PLR0917 (one value per dimension)
    store: FakeStore, dice: random.Random, bucket: datetime, intent: str, tier: RiskTier, traffic: int, rate: float
) -> None:
    n = max(1, traffic // 3)
    bad = sum(dice.random() < rate for _ in range(n))
    prompt = "p-2" if rate > 0.2 else "p-1"
    shared = {"bucket": bucket, "intent": intent, "tier": tier, "versions": builders.versions(prompt=prompt)}
    pending = int(dice.random() < 0.02)
    store.rows.append(builders.traffic_tally(traffic, drawn=n + pending, pending=pending, **shared))
    outcomes = [0] * len(OUTCOMES)
    outcomes[:2] = [n - bad, bad]
    outcomes[OUTCOMES.index(Outcome.ABSTAINED)] = int(dice.random() < 0.1)
    store.rows.append(builders.tally(n, bad, outcomes=tuple(outcomes), **shared))


def _alert(now: datetime, since: datetime) -> Alert:
    return builders.alert(
        "jump-refunds-high-20260310",
        slice=Slice(intent="refunds", tier=RiskTier.HIGH),
        since=since,
        fired_at=since + timedelta(hours=2),
        updated_at=now,
        rate=builders.rate(0.201, 0.172, 0.234, 812),
        reference=builders.rate(0.05, 0.043, 0.058, 3210),
        ratio=4.02,
        samples=143,
        changes=(VersionChange(field="prompt", before="p-1", after="p-2", at=since),),
        examples=(
            AlertExample(
                trace_id="t-3",
                ts=now - timedelta(hours=3),
                question="How long can I return my order?",
                claim="You can return it within 90 days of delivery.",
                label="contradicted",
                evidence="A refund is possible within 30 days of delivery.",
                doc_id="refunds",
            ),
        ),
    )


def _resolved(now: datetime) -> Alert:
    return builders.alert(
        "jump-billing-low-20260301",
        slice=Slice(intent="billing", tier=RiskTier.LOW),
        state=AlertState.RESOLVED,
        since=now - timedelta(days=9),
        fired_at=now - timedelta(days=9) + timedelta(hours=5),
        resolved_at=now - timedelta(days=8),
        updated_at=now - timedelta(days=8),
    )


def _flagged(number: int, now: datetime) -> StoredTrace:
    passage = builders.PASSAGE_TEXT + " Shipping costs are not paid back. Gift cards cannot be returned."
    text = (
        "Thanks for asking! You can return it within 90 days of delivery [1]. Shipping is free. "
        "Gift cards cannot be returned."
    )
    claims = answer_with(
        text,
        [
            ("Thanks for asking!", ClaimLabel.NOT_FACTUAL, ""),
            (
                "You can return it within 90 days of delivery [1].",
                ClaimLabel.CONTRADICTED,
                "A refund is possible within 30 days of delivery.",
            ),
            ("Shipping is free.", ClaimLabel.UNSUPPORTED, ""),
            ("Gift cards cannot be returned.", ClaimLabel.SUPPORTED, "Gift cards cannot be returned."),
        ],
        passage,
    )
    trace = builders.trace(
        f"t-{number}",
        ts=now - timedelta(minutes=20 * number + 3),
        answer=text,
        tier=RiskTier.HIGH,
        passages=(
            builders.passage(passage),
            builders.passage("Old rules: 90 days.", doc_id="refunds-2023", archived=True),
        ),
    )
    verdict: Verdict = builders.verdict(
        trace.trace_id,
        Outcome.HALLUCINATED,
        ts=trace.ts,
        tier=trace.tier,
        claims=claims,
        took_ms=3.4,
        failures=(FailureLabel.CONTRADICTED_CLAIM, FailureLabel.STALE_SOURCE),
    )
    drawn = DrawnTrace(trace=trace, draw=builders.draw(stratum="low_score"), screening=builders.screening())
    return StoredTrace(drawn=drawn, verdicts=[verdict])
