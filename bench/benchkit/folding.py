"""Many replays by the alert fold alone: one replay has one order of answers, and delays spread widely with it.

Verdicts of the records come from a replay through the whole pipeline; the fold is pure, so only order and times differ.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from alerts.buckets import ClosedBucket
from alerts.config import JumpConfig
from alerts.folder import Folder
from alerts.rules import jump_rule
from benchkit.ragtruth import TIERS, Plan, Sent
from schemas.tally import Tally, bucket_start
from schemas.trace import Versions

FINGERPRINT = "replayed"


def pages(
    sent: Sequence[Sent], is_flagged: Mapping[str, bool], plan: Plan, deployed: datetime
) -> dict[str, int | None]:
    """Answers between the deploy and the first page, by intent; None for no page, negative for one before the deploy.

    ``is_flagged`` holds the judged records; answers without one (abstained and the like) are traffic alone. For intents
    that the plan leaves alone any page counts as false and is given as −1.
    """
    found = Folder(jump_rule(JumpConfig())).advance(buckets(sent, is_flagged), sent[-1].ts)
    fired = {intent: [a.fired_at for a in found if a.slice.intent == intent and a.fired_at] for intent in TIERS}
    return {intent: _answers(sent, intent, min(times, default=None), plan, deployed) for intent, times in fired.items()}


def _answers(sent: Sequence[Sent], intent: str, at: datetime | None, plan: Plan, deployed: datetime) -> int | None:
    if at is None:
        return None
    if intent not in plan.multiples or at <= deployed:
        return -1
    return sum(one.intent == intent and deployed <= one.ts < at for one in sent)


def buckets(sent: Sequence[Sent], is_flagged: Mapping[str, bool]) -> list[ClosedBucket]:
    """The closed buckets of the traffic, with tallies as the store would hold them at π = 1."""
    groups: dict[datetime, dict[tuple[str, Versions], list[Sent]]] = defaultdict(lambda: defaultdict(list))
    for one in sent:
        groups[bucket_start(one.ts)][one.intent, Versions(**one.trace["versions"])].append(one)
    return [
        ClosedBucket(
            start, [row for key, members in groups[start].items() for row in _rows(start, *key, members, is_flagged)]
        )
        for start in sorted(groups)
    ]


def _rows(
    start: datetime, intent: str, versions: Versions, members: Sequence[Sent], is_flagged: Mapping[str, bool]
) -> list[Tally]:
    key = {"bucket": start, "intent": intent, "tier": TIERS[intent], "versions": versions}
    flags = Counter(is_flagged[one.record_id] for one in members if one.record_id in is_flagged)
    judged, bad = flags.total(), flags[True]
    traffic = Tally(**key, traffic=len(members), drawn=len(members))
    if not judged:
        return [traffic]
    sums = {"sum_w": judged, "sum_wk": bad, "sum_w2": judged, "nested_judged": judged, "nested_hallucinated": bad}
    return [traffic, Tally(**key, fingerprint=FINGERPRINT, judged=judged, hallucinated=bad, **sums)]
