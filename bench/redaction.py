"""What redaction costs: ``nice python bench/redaction.py``.

First whole traces: the human-labelled records of GROUNDWATCH_DATA, each with its passages. Then texts of 200,000
characters that are as dear as a text can be. CPU time, the best of three.
"""

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchkit.machine import load
from benchkit.ragtruth import data_path, read_records
from benchkit.table import table

from schemas.trace import Passage, Trace
from streams.redaction.redactor import redactor_of
from streams.settings.privacy import Privacy

ROUNDS = 3
CHARS = 200_000
REDACTOR = redactor_of(Privacy(), b"0123456789abcdef" * 2)
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def dear_texts() -> Iterator[tuple[str, str]]:
    """Texts that are nothing but what has to be looked at."""
    rng = Random(7)
    units: dict[str, Callable[[int], str]] = {
        "plain prose": lambda _: "You can return it within 30 days of delivery.",
        "e-mail addresses": lambda at: f"name{at}@firma{at}.example",
        "card numbers": lambda _: str(rng.randrange(4 * 10**15, 5 * 10**15)),
        "phone numbers": lambda _: f"0{rng.randrange(20, 999)} {rng.randrange(10**6, 10**8)}",
        "numbers of eleven digits": lambda _: str(rng.randrange(10**10, 10**11)),
        "numbers of one to eight digits": lambda _: str(rng.randrange(10 ** rng.randrange(1, 9))),
        "at signs": lambda _: "@",
    }
    for name, unit in units.items():
        count = CHARS // (len(unit(0)) + 1) + 1
        yield name, " ".join(unit(at) for at in range(count))[:CHARS]


def best_of(run: Callable[[], object]) -> float:
    """Seconds of CPU time."""
    found = []
    for _ in range(ROUNDS):
        began = process_time()
        run()
        found.append(process_time() - began)
    return min(found)


def main() -> None:
    """Measure and print two tables."""
    print(f"load before: {load()}")
    traces = [
        Trace(
            trace_id=str(number),
            ts=NOW,
            question=record["question"] or "",
            answer=record["answer"],
            passages=tuple(Passage(text=one["text"]) for one in record["passages"]),
            user_id=f"user-{number}",
        )
        for number, record in enumerate(read_records(data_path()))
    ]
    chars = sum(len(one.answer or "") + sum(len(passage.text) for passage in one.passages or ()) for one in traces)
    seconds = best_of(lambda: [REDACTOR.redact_trace(one) for one in traces])
    each = (len(traces), chars / len(traces), seconds / len(traces) * 1e6, seconds / chars * 1e9)
    print(table(("traces", "characters each", "µs each", "µs a KB"), [each]))
    rows = []
    for name, text in dear_texts():
        seconds = best_of(partial(REDACTOR.redact_text, text))
        rows.append((name, seconds / len(text) * 1e9))
    print(table(("text", "µs a KB"), rows))


if __name__ == "__main__":
    main()
