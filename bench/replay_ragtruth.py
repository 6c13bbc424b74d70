"""Replays human-labelled answers through broker, roles and store: quality, rates before and after a deploy, pages.

``python bench/replay_ragtruth.py [--runs x2,x4-qa] [--modes default,power,labels] [--json FILE]``. Needs
GROUNDWATCH_DATA (the labelled records) and, for Apache Kafka, GROUNDWATCH_KAFKA_HOME; training needs scikit-learn.

Runs: ``x2`` doubles the human rate of every intent at a deploy, ``x4-qa`` makes that of qa four times as high.
Modes: ``default`` judges at the policy's own thresholds, ``power`` at the one that finds the run's jump after the
fewest answers (chosen on the other folds), ``labels`` with the human labels as detector: what the pipeline does then.
Every record is judged by weights that were trained without its source (five folds). How many answers a page takes
varies much with their order, so the alert fold alone also runs over more orders with the same verdicts.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from benchkit.brokers import KINDS, broker
from benchkit.folding import pages
from benchkit.folds import fold_weights, load_folds
from benchkit.machine import load
from benchkit.operating import Jump, Scored, best_threshold
from benchkit.pipeline import everything_drawn, settings_for
from benchkit.ragtruth import PLANS, STRONG, TIERS, Plan, Row, data_path, human_rate, native, ragtruth, read_records
from benchkit.ragtruth import traffic as traffic_of
from benchkit.routed import LabelDetector, RoutedDetector, key_of, logit, source_fold, text_folds
from benchkit.table import table

from detectors.evidence.examples import FOLDS
from detectors.screening import Screener
from sampling.policy_file import default_policy
from schemas.errors import GroundwatchError
from schemas.policy import Thresholds
from schemas.tally import bucket_start
from schemas.trace import Trace
from streams.clock import utc_now

MODES = ("default", "power", "labels")
SHARED_THRESHOLD = 0.5
"""Where the folds' own thresholds are moved to in mode ``power``, as a policy has only one."""


def main() -> None:
    """Run what was asked for, one after the other, and print the tables."""
    arguments = parse()
    if arguments.one:
        print(json.dumps(run_one(json.loads(arguments.one))))
        return
    try:
        results = [run for name in arguments.runs for run in run_modes(PLANS[name], arguments)]
    except GroundwatchError as error:
        raise SystemExit(f"replay_ragtruth: {error}") from error
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, ensure_ascii=False))
    report(results)


def parse() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=names(PLANS), default=list(PLANS), help=f"of {', '.join(PLANS)}; default all")
    parser.add_argument("--modes", type=names(MODES), default=list(MODES), help=f"of {', '.join(MODES)}; default all")
    parser.add_argument("--broker", choices=KINDS, default="auto", help="auto: Apache Kafka where its home is set")
    parser.add_argument("--seed", type=int, default=1, help="of the order and times of the answers")
    parser.add_argument("--orders", type=int, default=40, help="more orders of the answers, by the alert fold alone")
    parser.add_argument("--scale", type=float, default=1.0, help="times the traffic; below 1 for a quick look")
    parser.add_argument("--weights", type=Path, default=Path("data/bench-folds"), help="folder to keep fold weights in")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def names(known: Sequence[str] | Mapping[str, Any]) -> Any:
    """An argparse type: a comma-separated choice."""

    def parsed(text: str) -> list[str]:
        chosen = text.split(",")
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not among {', '.join(known)}")
        return chosen

    return parsed


def run_modes(plan: Plan, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """All modes of one plan, each in a process and on a broker of its own."""
    records = ragtruth(read_records(data_path()))
    weights = fold_weights(arguments.weights)
    scored = score(records, RoutedDetector(load_folds(weights), text_folds(records)))
    thresholds = [best_threshold(scored, jumps(records, plan), fold) for fold in range(FOLDS)]
    results = []
    for mode in arguments.modes:
        with (
            tempfile.TemporaryDirectory(prefix="groundwatch-replay-") as folder,
            broker(arguments.broker, Path(folder)) as (name, address),
        ):
            print(f"{plan.name}, {mode}, {name}", flush=True)
            shifts = [logit(SHARED_THRESHOLD) - logit(t) for t in thresholds] if mode == "power" else [0.0] * FOLDS
            spec = {
                "plan": plan.name,
                "mode": mode,
                "seed": arguments.seed,
                "scale": arguments.scale,
                "address": address,
                "folder": str(Path(folder) / "data"),
                "weights": [str(path.resolve()) for path in weights],
                "shifts": shifts,
            }
            result = in_own_process(spec)
        result["broker"] = name
        result["orders"] = more_orders(records, scaled(plan, arguments.scale), result, arguments)
        result["fold_thresholds"] = thresholds if mode == "power" else None
        result["load_at_end"] = load()
        results.append(result)
    return results


def more_orders(
    records: Sequence[Row], plan: Plan, result: Mapping[str, Any], arguments: argparse.Namespace
) -> list[dict[str, int | None]]:
    """Answers until the page in other orders of the same answers; the first is the order that was replayed."""
    deployed = datetime.fromisoformat(result["deployed"])
    seeds = range(arguments.seed, arguments.seed + arguments.orders)
    found = []
    for seed in seeds:
        sent = traffic_of(records, plan, deployed, seed)
        found.append(pages(sent, result["is_flagged"], plan, deployed))
    print(f"{plan.name}, {result['mode']}: {len(found)} orders folded", flush=True)
    return found


def score(records: Sequence[Row], detector: RoutedDetector) -> dict[str, Scored]:
    """Weakest support of every record with a judged claim, by intent."""
    policy = everything_drawn("score")
    rows: dict[str, list[tuple[float, bool, int]]] = {intent: [] for intent in TIERS}
    traces = [Trace.model_validate(native(record, record["id"], utc_now(), {})) for record in records]
    screenings = Screener(detector).screen(traces, [policy] * len(traces))
    for record, screening in zip(records, screenings, strict=True):
        if screening.score is not None:
            rows[record["task"]].append((screening.score, bool(record["hallucinated"]), source_fold(record)))
    return {
        intent: Scored(*(np.array(column) for column in zip(*found, strict=True))) for intent, found in rows.items()
    }


def jumps(records: Sequence[Row], plan: Plan) -> dict[str, Jump]:
    """Human rates before and after, for the intents that the plan changes."""
    strong = [record for record in records if record["model"] in STRONG]
    before = {intent: human_rate([r for r in strong if r["task"] == intent]) for intent in plan.multiples}
    return {intent: Jump(rate, rate * plan.multiples[intent]) for intent, rate in before.items()}


def in_own_process(spec: Mapping[str, Any]) -> dict[str, Any]:
    """One replay; progress goes through, the last line is the result."""
    command = [sys.executable, __file__, "--one", json.dumps(spec)]
    last = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith("{"):
                print(line, end="", flush=True)
            last = line
    if process.returncode:
        raise SystemExit(f"{spec['plan']} {spec['mode']} failed")
    return dict(json.loads(last))


def run_one(spec: Mapping[str, Any]) -> dict[str, Any]:
    """One replay in this process."""
    from benchkit.replaying import Replay, replay  # noqa: PLC0415 - Faust, which the parent does not need

    records = ragtruth(read_records(data_path()))
    plan = scaled(PLANS[spec["plan"]], spec["scale"])
    until = bucket_start(utc_now() - timedelta(minutes=10))
    deployed = until - timedelta(days=plan.days_after)
    if spec["mode"] == "labels":
        thresholds = default_policy().thresholds
        keys = {key_of((p["text"] for p in r["passages"]), r["answer"]): bool(r["hallucinated"]) for r in records}
        detector: Any = LabelDetector(keys)
    else:
        own = Thresholds(supported=SHARED_THRESHOLD, unsupported=SHARED_THRESHOLD, contradicted=1.0)
        thresholds = own if spec["mode"] == "power" else default_policy().thresholds
        folds = load_folds([Path(path) for path in spec["weights"]])
        detector = RoutedDetector(folds, text_folds(records), spec["shifts"])
    job = Replay(
        plan=plan,
        mode=spec["mode"],
        sent=traffic_of(records, plan, deployed, spec["seed"]),
        deployed=deployed,
        until=until,
        policy=everything_drawn("replay", thresholds),
        detector=detector,
    )
    return replay(job, settings_for(Path(spec["folder"]), spec["address"], "ragtruth"))


def scaled(plan: Plan, scale: float) -> Plan:
    """The plan with ``scale`` times the traffic."""
    return Plan(
        plan.name,
        plan.multiples,
        plan.days_before,
        round(plan.per_day_before * scale),
        plan.days_after,
        round(plan.per_day_after * scale),
        round(plan.quiet_per_day * scale),
    )


def report(results: Sequence[Mapping[str, Any]]) -> None:
    """Three tables: quality, rates, pages."""
    print("\nAnswer verdicts against human labels, each record once\n")
    quality = ["run", "mode", "intent", "records", "bad", "judged", "BAcc", "BAcc of all", "precision", "recall", "F1"]
    print(table(quality, [row for result in results for row in quality_rows(result)]))
    print("\nRates before and after the deploy\n")
    rates = ["run", "mode", "intent", "human before", "human after", "apparent before", "apparent after"]
    print(table(rates, [row for result in results for row in rate_rows(result)]))
    print("\nPages\n")
    head = ["run", "mode", "intent", "answers until the page", "hours", "since − deploy", "named", "false"]
    head += ["paged in orders", "answers, quartiles", "false in orders"]
    print(table(head, [row for result in results for row in page_rows(result)]))
    for result in results:
        speed = f"{result['traces']:,} traces in {result['seconds']:.0f} s, {result['traces_per_second']:.0f}/s"
        print(f"{result['plan']} {result['mode']}: {result['broker']}, {speed}, {result['load']}")


def quality_rows(result: Mapping[str, Any]) -> list[list[object]]:
    """One line an intent."""
    fields = ("records", "bad", "judged", "balanced_accuracy", "balanced_accuracy_of_all", "precision", "recall", "f1")
    return [
        [result["plan"], result["mode"], intent, *(found[name] for name in fields)]
        for intent, found in result["quality"].items()
    ]


def rate_rows(result: Mapping[str, Any]) -> list[list[object]]:
    """One line an intent; apparent rates with their 95 % intervals."""
    return [
        [
            result["plan"],
            result["mode"],
            intent,
            f"{found['human_before']['rate']:.3f} (n {found['human_before']['n']:,})",
            f"{found['human_after']['rate']:.3f} (n {found['human_after']['n']:,})",
            interval(found["apparent_before"]),
            interval(found["apparent_after"]),
        ]
        for intent, found in result["slices"].items()
    ]


def interval(rate: Mapping[str, Any]) -> str:
    """A rate in words."""
    if rate["rate"] is None:
        return "nothing judged"
    return f"{rate['rate']:.3f} ({rate['low']:.3f} to {rate['high']:.3f}, n {rate['n']:,})"


def page_rows(result: Mapping[str, Any]) -> list[list[object]]:
    """One line an intent: the page of the replay, then what the other orders gave."""
    return [
        [result["plan"], result["mode"], intent, *page_of(found), *orders_of(result["orders"], intent, found)]
        for intent, found in result["slices"].items()
    ]


def page_of(found: Mapping[str, Any]) -> list[object]:
    """What the replay found."""
    page = found["page"]
    if page is None:
        none = "none due" if found["multiple"] == 1.0 else f"none in {found['human_after']['n']:,}"
        return [none, None, None, None, found["false_pages"]]
    since = f"{page['since_minus_deploy_minutes']:+.0f} min"
    return [page["answers"], page["hours"], since, "; ".join(page["changes"]), found["false_pages"]]


def orders_of(orders: Sequence[Mapping[str, int | None]], intent: str, found: Mapping[str, Any]) -> list[object]:
    """Share of orders with a page, its quartiles with none as the longest, and false pages."""
    delays = [order[intent] for order in orders]
    false = sum(delay is not None and delay < 0 for delay in delays)
    if found["multiple"] == 1.0 or not delays:
        return [None, None, false]
    known = sorted(float("inf") if delay is None else delay for delay in delays if delay is None or delay >= 0)
    quartiles = [known[min(int(q * len(known)), len(known) - 1)] for q in (0.25, 0.5, 0.75)] if known else []
    texts = ["never" if delay == float("inf") else f"{delay:,.0f}" for delay in quartiles]
    share = f"{sum(delay != float('inf') for delay in known)} of {len(delays)}"
    return [share, " / ".join(texts), false]


if __name__ == "__main__":
    main()
