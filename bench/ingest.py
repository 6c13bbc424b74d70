"""Traces a second through ingest, beside a bare consumer of the same bytes, one that parses them, and parts of ingest.

``python bench/ingest.py [--runs 3] [--broker auto] [--corpus NAME] [--variant NAME] [--json FILE]``. Each measurement
is a process of its own on a fresh broker with a fresh embedded store, default policy and one ingest role; 500 messages
are read before anything is counted. Variants take turns, so that a busy minute hits all of them.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchkit.brokers import KINDS
from benchkit.intakeparts import BARE, STORE, WITHOUT_L1, measure
from benchkit.intakerun import Measured, on_fresh_broker, without_broker
from benchkit.intakework import CORPORA, Corpus, messages
from benchkit.machine import load
from benchkit.table import table

WITH_L1 = "with L1"
NEW, RECURRING = "new passages", "recurring passages"
PARSING = "parsing"
VARIANTS = (
    *((variant, NEW) for variant in BARE),
    *((variant, passages) for variant in (STORE, WITHOUT_L1, WITH_L1) for passages in (NEW, RECURRING)),
)
Key = tuple[str, str, str]


def main() -> None:
    """Run all variants and print the table."""
    arguments = parse()
    if arguments.one:
        measure(*arguments.one)
        return
    before = load()
    found: dict[Key, list[Measured]] = {}
    for run in range(arguments.runs):
        for corpus in CORPORA:
            if arguments.corpus in (None, corpus.name):
                turn(corpus, arguments, found, run)
    report(found, before, arguments.json)


def parse() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="measurements per variant and size; medians are shown")
    parser.add_argument("--broker", choices=KINDS, default="auto", help="auto: Apache Kafka where its home is set")
    parser.add_argument("--corpus", choices=[corpus.name for corpus in CORPORA], help="only this one")
    parser.add_argument("--variant", choices=[*BARE, STORE, WITHOUT_L1, WITH_L1], action="append", help="only these")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error("--runs must be 1 or more")
    return arguments


def turn(corpus: Corpus, arguments: argparse.Namespace, found: dict[Key, list[Measured]], run: int) -> None:
    """Each variant once, with the same bytes."""
    values = {passages: list(messages(corpus, are_new=passages == NEW)) for passages in (NEW, RECURRING)}
    script = Path(__file__)
    for variant, passages in VARIANTS:
        if arguments.variant and variant not in arguments.variant:
            continue
        if variant == STORE:
            measured = without_broker(script, variant, values[passages])
        else:
            measured = on_fresh_broker(script, arguments.broker, variant, values[passages])
        found.setdefault((corpus.name, variant, passages), []).append(measured)
        print(
            f"{corpus.name}, {variant}, {passages}, run {run + 1}: {measured.by_clock:,.0f}/s by the clock, "
            f"{measured.by_processor:,.0f} a CPU second, {measured.peak_mib:,.0f} MiB at the peak",
            flush=True,
        )


def report(found: Mapping[Key, Sequence[Measured]], before: str, target: Path | None) -> None:
    """Medians, and each variant as a share of the bare consumer that parses."""
    rows = []
    for (corpus, variant, passages), measured in found.items():
        clock = median(one.by_clock for one in measured)
        processor = median(one.by_processor for one in measured)
        parsed = found.get((corpus, PARSING, NEW), [])
        rows.append(
            [
                corpus,
                variant if variant in BARE else f"{variant}, {passages}",
                clock,
                min(one.by_clock for one in measured),
                max(one.by_clock for one in measured),
                processor,
                clock / median(one.by_clock for one in parsed) if parsed else None,
                processor / median(one.by_processor for one in parsed) if parsed else None,
                median(one.peak_mib for one in measured),
            ]
        )
    brokers = {one.broker for measured in found.values() for one in measured} - {"no broker"}
    print(f"\n{', '.join(sorted(brokers))}; {before} before, {load()} after\n")
    head = ["traces", "variant", "/s by the clock", "lowest", "highest", "/s a CPU second", "of parsing", "of its CPU"]
    print(table([*head, "peak MiB"], rows))
    if target:
        figures = [
            {"corpus": corpus, "variant": variant, "passages": passages, "runs": [asdict(one) for one in measured]}
            for (corpus, variant, passages), measured in found.items()
        ]
        target.write_text(json.dumps({"before": before, "after": load(), "figures": figures}, indent=1))


if __name__ == "__main__":
    main()
