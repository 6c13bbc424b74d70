"""Measures the jump test on simulated slices: answers until a page, false pages, recovery, speed of the fold.

Run from the repository root: ``python -m bench.jump_test`` (about a minute) or with ``--full`` (20 minutes).
The noise is the gamma day effect that the test itself assumes: optimistic where days differ in another way.
"""

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from scipy.stats import binom, chi2

from alerts.buckets import ClosedBucket, DeployMark
from alerts.config import MONTH, JumpConfig
from alerts.fold import FoldState, fold
from schemas.alert import Alert
from schemas.labels import AlertState, RiskTier
from schemas.tally import BUCKET, Tally
from schemas.trace import Versions

START = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
OLD, NEW = Versions(model="m-1"), Versions(model="m-2")
TIERS = tuple(RiskTier)
ONE_OF_200 = JumpConfig(minimum_slices=200, jump_share=1.0)
"""One slice with the budget that it has among 200: one false page a month over all of them."""


@dataclass(frozen=True)
class Setting:
    """A stream of slices: answers a day, rate, how much days differ, and the jump in the first slice."""

    per_day: float
    rate: float = 0.05
    day_cv: float = 0.05
    spread: float = 0.0
    """Standard deviation of the log rate between slices."""
    slices: int = 1
    ratio: float = 1.0
    is_deploy: bool = True
    deploys_before: int = 0
    """Harmless deploys marked in the month before; they make the next one bring less budget."""
    baseline_days: int = 28
    horizon_days: int = 28


class Stream:
    """One seeded world of a setting; days have a gamma effect in each slice of its own."""

    def __init__(self, setting: Setting, seed: int) -> None:
        self.setting = setting
        self.rng = np.random.default_rng(seed)
        noise = self.rng.normal(-(setting.spread**2) / 2, setting.spread, setting.slices)
        self.rates = setting.rate * np.exp(noise)
        self._effects = np.ones(setting.slices)

    def buckets(
        self, since: datetime, until: datetime, length: timedelta, *, ratio: float = 1.0, versions: Versions = OLD
    ) -> Iterator[ClosedBucket]:
        """Closed buckets of this length with the rate of the first slice multiplied by ``ratio``."""
        setting, start = self.setting, since
        while start < until:
            if (start - START) % DAY < length and setting.day_cv:
                self._effects = self.rng.gamma(setting.day_cv**-2, setting.day_cv**2, setting.slices)
            factors = np.where(np.arange(setting.slices) == 0, ratio, 1.0)
            judged = self.rng.poisson(setting.per_day * (length / DAY), setting.slices)
            bad = self.rng.binomial(judged, np.minimum(self.rates * self._effects * factors, 0.98))
            yield ClosedBucket(start, _rows(start, judged, bad, versions), length=length)
            start += length


def _rows(start: datetime, judged: np.ndarray, bad: np.ndarray, versions: Versions) -> list[Tally]:
    rows = []
    for number in np.flatnonzero(judged):
        n, k = int(judged[number]), float(bad[number])
        cell = {"bucket": start, "intent": f"i{number}", "tier": TIERS[number % 3], "versions": versions}
        weights = {"sum_w": n, "sum_wk": k, "sum_w2": n, "nested_judged": n, "nested_hallucinated": k}
        rows.append(Tally(**cell, fingerprint="bench", judged=n, hallucinated=k, **weights))
        if len(judged) == 1:  # deploys are looked for in the traffic of single slices only
            rows.append(Tally(**cell, traffic=n, drawn=n))
    return rows


def samples_until_page(setting: Setting, seed: int) -> float:
    """Answers from the jump to firing; inf when not found in the horizon, nan when it fired before the jump."""
    stream, state = Stream(setting, seed), FoldState()
    jump = START + setting.baseline_days * DAY + 10 * HOUR
    marks = {
        START + (setting.baseline_days - 1 - 2 * number) * DAY: (DeployMark(START, "index", str(number)),)
        for number in range(setting.deploys_before)
    }
    for bucket in stream.buckets(START, jump, HOUR):
        marked = ClosedBucket(bucket.start, bucket.tallies, marks.get(bucket.start, ()), HOUR)
        state, alerts = fold(state, marked, ONE_OF_200)
        if _fired(alerts):
            return math.nan
    versions = NEW if setting.is_deploy else OLD
    answers = 0
    for bucket in stream.buckets(
        jump, jump + setting.horizon_days * DAY, BUCKET, ratio=setting.ratio, versions=versions
    ):
        answers += sum(row.judged for row in bucket.tallies)
        state, alerts = fold(state, bucket, ONE_OF_200)
        if _fired(alerts):
            return answers
    return math.inf


def _fired(alerts: Sequence[Alert]) -> list[Alert]:
    return [alert for alert in alerts if alert.state is AlertState.FIRING]


def median_with_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Median and its 95 % interval from order statistics."""
    ordered = sorted(values)
    low = int(binom.ppf(0.025, len(ordered), 0.5))
    return float(np.median(ordered)), ordered[max(low - 1, 0)], ordered[min(len(ordered) - low, len(ordered) - 1)]


def report_jumps(runs: int, seed: int) -> None:
    """Median answers until the page, one slice with the budget of one in 200."""
    print("\n## Answers until the page, p0 = 5 %, day CV 5 %\n")
    print("| answers a day | jump | deploys a month | median (95 % interval) | found | before the jump | target |")
    print("|---|---|---|---|---|---|---|")
    rows = [
        (Setting(1000, ratio=2.0, deploys_before=9), "10", "≤ 550"),
        (Setting(1000, ratio=2.0), "1", "≤ 550"),
        (Setting(1000, ratio=2.0, is_deploy=False), "not at a deploy", "600"),
        (Setting(1000, ratio=4.0, deploys_before=9), "10", "≤ 75"),
        (Setting(1000, ratio=4.0), "1", "≤ 75"),
        (Setting(1000, ratio=1.5, deploys_before=9), "10", "1698"),
        (Setting(300, ratio=4.0), "1", "about ≤ 100"),
        (Setting(100, ratio=2.0, deploys_before=9), "10", "446"),
        (Setting(100, ratio=4.0, deploys_before=9), "10", "67"),
    ]
    for setting, deploys, target in rows:
        found = [samples_until_page(setting, seed + number) for number in range(runs)]
        before = sum(math.isnan(one) for one in found)
        valid = [one for one in found if not math.isnan(one)]
        median, low, high = median_with_interval(valid)
        share = sum(math.isfinite(one) for one in valid) / len(valid)
        print(
            f"| {setting.per_day:.0f} | ×{setting.ratio} | {deploys} | {median:.0f} ({low:.0f} to {high:.0f}) "
            f"| {share:.2f} | {before} of {runs} | {target} |",
            flush=True,
        )


def report_false_pages(worlds: int, seed: int, cvs: Sequence[float]) -> None:
    """False pages of 200 stationary slices, from the very first day on and once references are mature."""
    print("\n## False pages a month over 200 stationary slices (target ≤ 1, of it 0.6 for jumps)\n")
    print("| answers a day | day CV | first 28 days, from day 0 (95 % interval) | days 28 to 60 | worlds |")
    print("|---|---|---|---|---|")
    for cv in cvs:
        for per_day in (20, 100, 1000):
            setting = Setting(per_day, day_cv=cv, spread=0.4, slices=200)
            fired: list[Alert] = []
            for number in range(worlds):
                state = FoldState()
                for bucket in Stream(setting, seed + number).buckets(START, START + 60 * DAY, 4 * HOUR):
                    state, alerts = fold(state, bucket, JumpConfig())
                    fired += _fired(alerts)
            early = sum(alert.updated_at <= START + 28 * DAY for alert in fired)
            first = _per_month(early, worlds * 28 * DAY / MONTH)
            later = _per_month(len(fired) - early, worlds * 32 * DAY / MONTH)
            print(f"| {per_day} | {cv} | {first} | {later} | {worlds} |", flush=True)


def _per_month(count: int, months: float) -> str:
    low = chi2.ppf(0.025, 2 * count) / 2 if count else 0.0
    high = chi2.ppf(0.975, 2 * count + 2) / 2
    return f"{count / months:.2f} ({low / months:.2f} to {high / months:.2f})"


def report_recovery(runs: int, seed: int) -> None:
    """Hours from the fix to resolved after a week at the raised rate, and resolutions that came too early."""
    print("\n## Recovery: seven days at the raised rate, then back\n")
    print("| answers a day | jump | resolved too early | median hours after the fix | target |")
    print("|---|---|---|---|---|")
    for per_day, ratio, target in ((1000, 2.0, 14), (1000, 4.0, 3.5), (100, 4.0, 31)):
        early, hours = 0, []
        for number in range(runs):
            stream, state = Stream(Setting(per_day), seed + number), FoldState()
            jump = START + 28 * DAY
            fix, end = jump + 7 * DAY + 10 * HOUR, jump + 21 * DAY
            for bucket in stream.buckets(START, jump, HOUR):
                state, _ = fold(state, bucket, ONE_OF_200)
            for bucket in stream.buckets(jump, fix, 12 * BUCKET, ratio=ratio, versions=NEW):
                state, alerts = fold(state, bucket, ONE_OF_200)
                early += sum(alert.state is AlertState.RESOLVED for alert in alerts)
            for bucket in stream.buckets(fix, end, 6 * BUCKET):
                state, alerts = fold(state, bucket, ONE_OF_200)
                if any(alert.state is AlertState.RESOLVED for alert in alerts):
                    hours.append((bucket.end - fix) / HOUR)
                    break
        median = f"{float(np.median(hours)):.1f} ({len(hours)} of {runs})" if hours else "never"
        print(f"| {per_day} | ×{ratio} | {early} of {runs} | {median} | {target} |", flush=True)


def report_speed(seed: int) -> None:
    """Processor seconds for 10,000 buckets × slices that all hold answers, five-minute buckets, 200 slices."""
    setting = Setting(3000, slices=200, spread=0.4)
    buckets = list(Stream(setting, seed).buckets(START, START + 12 * HOUR, BUCKET))
    rows = sum(len(bucket.tallies) for bucket in buckets)
    started, state = time.process_time(), FoldState()
    for bucket in buckets:
        state, _ = fold(state, bucket, JumpConfig())
    seconds = time.process_time() - started
    print(f"\n## Speed\n\n{rows} series-buckets in {seconds:.2f} processor seconds,")
    print(f"{seconds / rows * 1e4:.2f} s per 10,000\n", flush=True)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="enough runs for tight intervals")
    parser.add_argument("--seed", type=int, default=1000, help="first seed; others follow")
    options = parser.parse_args()
    report_speed(options.seed)
    report_jumps(200 if options.full else 25, options.seed)
    report_recovery(100 if options.full else 5, options.seed)
    report_false_pages(10 if options.full else 1, options.seed, (0.05, 0.1) if options.full else (0.05,))


if __name__ == "__main__":
    main()
