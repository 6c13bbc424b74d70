"""How fast the store is with its real columns: ``python bench/store.py [--traces 20000]`` prints a table.

Texts are made from a seed and recur, as passages do in production; times are medians of five on a fresh engine.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from schemas.claim import Claim
from schemas.draw import Draw, DrawnTrace, Screening
from schemas.labels import ClaimLabel, Containment, Layer, Outcome, RiskTier
from schemas.trace import Passage, Source, Timings, Trace, Versions, passage_hash
from schemas.verdict import ClaimJudgement, ClaimVerdict, Evidence, Verdict
from streams.store import ALL_TENANTS, Store

BATCH = 500
DAYS = 21
SIZES = """
SELECT table, sum(data_compressed_bytes) AS bytes, sum(rows) AS n FROM system.parts
WHERE active AND database = currentDatabase()
  AND table IN ('traces', 'verdicts', 'passages', 'tallies_5m', 'tallies_1h')
GROUP BY table ORDER BY table
"""


def main() -> None:
    """Fill a store, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=20_000)
    count = parser.parse_args().traces
    dice = random.Random(1)
    now = datetime.now(UTC)
    vocabulary = ["".join(dice.choices("aeiourstlnmdcp", k=dice.randint(2, 10))) for _ in range(4000)]
    library = [passage(dice, vocabulary, number) for number in range(400)]
    rows = [trace(dice, vocabulary, library, now - timedelta(days=DAYS) * (1 - n / count), n) for n in range(count)]
    verdicts = [verdict(dice, row) for row in rows if row.draw.drawn]
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"chdb://{folder}/store")
        store.migrate()
        measure(store, rows, verdicts, now)
        store.close()


def measure(store: Store, rows: list[DrawnTrace], verdicts: list[Verdict], now: datetime) -> None:
    """Print one line a figure."""
    batches = [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]
    started = time.perf_counter()
    for batch in batches:
        store.insert_traces(batch)
    show("traces inserted a second, batch 500, in order of time", len(rows) / (time.perf_counter() - started))
    started = time.perf_counter()
    for start in range(0, len(verdicts), BATCH):
        store.insert_verdicts(verdicts[start : start + BATCH])
    show("verdicts inserted a second, batch 500", len(verdicts) / (time.perf_counter() - started))
    report = store.rebuild_tallies(now)
    show(f"first rebuild of {report.buckets} buckets, ms", report.took_seconds * 1000)
    show("  the same a hundred buckets, ms", report.took_seconds * 1e5 / report.buckets)
    for buckets in (3, 100):
        show(f"rebuild of {buckets} dirty buckets, ms", median(partial(touched, store, rows, buckets, now)))
    day = timedelta(days=1)
    since = now - DAYS * day
    show("tallies 21 days by hour, ms", timed(lambda: store.tallies(since, now, step=day / 24)))
    show(
        "tallies 21 days by hour, versions merged, ms",
        timed(lambda: store.tallies(since, now, step=day / 24, by_version=False)),
    )
    show("tallies one bucket, ms", timed(lambda: store.tallies(now - timedelta(minutes=5), now)))
    show("flagged 50, ms", timed(lambda: store.flagged(tenants=ALL_TENANTS)))
    show("flagged 10 of one intent, ms", timed(lambda: store.flagged(tenants=ALL_TENANTS, intent="intent-1", limit=10)))
    one = rows[len(rows) // 2].trace
    show("trace by id and time, ms", timed(lambda: store.trace(one.trace_id, tenants=ALL_TENANTS, ts=one.ts)))
    show("trace by id, ms", timed(lambda: store.trace(one.trace_id, tenants=ALL_TENANTS)))
    show("heads of 500, ms", timed(lambda: store.heads([row.trace.trace_id for row in rows[:500]])))
    show("counts, ms", timed(store.counts))
    show("draws without verdict, ms", timed(lambda: store.draws_without_verdict(100)))
    for table in ("traces", "verdicts", "passages"):
        store._connection.command(f"OPTIMIZE TABLE {table} FINAL")  # noqa: SLF001 — constants; for sizes only
    for row in store._connection.query(SIZES):  # noqa: SLF001 — sizes are no read of the product
        show(f"bytes a row of {row['table']} ({row['n']} rows)", row["bytes"] / row["n"])


def touched(store: Store, rows: list[DrawnTrace], buckets: int, now: datetime) -> float:
    """Milliseconds of a rebuild after one row came again in each of ``buckets`` scattered buckets, and no others."""
    store._connection.command("TRUNCATE TABLE dirty")  # noqa: SLF001 — or the overlap rule would rebuild everything
    step = len(rows) // buckets
    store.insert_traces([rows[n * step] for n in range(buckets)])
    return store.rebuild_tallies(now).took_seconds * 1000


def timed(call: Callable[[], object]) -> float:
    """Median milliseconds of five calls."""

    def once() -> float:
        started = time.perf_counter()
        call()
        return (time.perf_counter() - started) * 1000

    return median(once)


def median(once: Callable[[], float]) -> float:
    """Median of five."""
    return statistics.median(once() for _ in range(5))


def show(name: str, value: float) -> None:
    """One line."""
    print(f"{name:60} {value:12,.1f}", flush=True)


def words(dice: random.Random, vocabulary: list[str], characters: int) -> str:
    """Some text of about ``characters``."""
    return " ".join(dice.choices(vocabulary, k=max(1, characters // 7)))


def passage(dice: random.Random, vocabulary: list[str], number: int) -> Passage:
    """A passage of some 900 characters."""
    text = words(dice, vocabulary, 900)
    return Passage(doc_id=f"doc-{number // 4}", chunk_id=f"c-{number}", version="3", text=text, score=dice.random())


def trace(dice: random.Random, vocabulary: list[str], library: list[Passage], ts: datetime, number: int) -> DrawnTrace:
    """A trace with six passages, a packed prompt, an answer of 400 characters and three screened claims."""
    passages = tuple(one.model_copy(update={"rank": rank}) for rank, one in enumerate(dice.sample(library, 6)))
    sentences = [words(dice, vocabulary, 130) + "." for _ in range(3)]
    question = words(dice, vocabulary, 60)
    claims, at = [], 0
    for index, sentence in enumerate(sentences):
        claims.append(Claim(index=index, start=at, end=at + len(sentence), text=sentence))
        at += len(sentence) + 1
    prompt = "Answer from these passages only.\n" + "\n".join(one.text for one in passages) + f"\nQ: {question}"
    probability = dice.choice([0.2, 0.4])
    u = dice.random()
    return DrawnTrace(
        trace=Trace(
            trace_id=f"{dice.getrandbits(128):032x}",
            ts=ts,
            question=question,
            answer=" ".join(sentences),
            passages=passages,
            packed_prompt=prompt,
            intent=f"intent-{dice.randrange(6)}",
            tier=dice.choice(list(RiskTier)),
            conversation_id=f"{dice.getrandbits(64):016x}",
            user_id=f"user-{dice.randrange(5000)}",
            tenant="acme",
            versions=Versions(model="m-1", prompt=f"p-{number // 8000}", corpus="c-9", retriever="r-2", app="1.4"),
            timings=Timings(retrieval_ms=dice.random() * 100, generation_ms=dice.random() * 1000),
            source=Source(topic="rag-traces", partition=number % 6, offset=number, recorded_at=ts),
        ),
        draw=Draw(
            stratum=dice.choice(["rest", "low_score"]),
            u=u,
            inclusion_probability=probability,
            min_probability=0.2,
            policy_id="p-1",
            drawn=u < probability,
        ),
        screening=Screening(
            claims=tuple(claims),
            judgements=tuple(judgement(dice, passages) for _ in claims),
            score=dice.random(),
            fingerprint="evidence-1",
            took_ms=dice.random(),
        ),
    )


def judgement(dice: random.Random, passages: tuple[Passage, ...]) -> ClaimJudgement:
    """Scores with the span that decided."""
    at = dice.randrange(len(passages))
    one, start = passages[at], dice.randrange(600)
    text = one.text[start : start + 150]
    span = Evidence(
        passage=at,
        doc_id=one.doc_id,
        passage_hash=passage_hash(one.text),
        start=start,
        end=start + len(text),
        text=text,
    )
    return ClaimJudgement(support=dice.random(), contradiction=dice.random(), evidence=span, why="overlap")


def verdict(dice: random.Random, row: DrawnTrace) -> Verdict:
    """The verdict that the screening leads to, one in ten hallucinated."""
    is_bad = dice.random() < 0.1
    label = ClaimLabel.UNSUPPORTED if is_bad else ClaimLabel.SUPPORTED
    pairs = zip(row.screening.claims, row.screening.judgements, strict=True)
    return Verdict(
        trace_id=row.trace.trace_id,
        ts=row.trace.ts,
        intent=row.trace.intent,
        tier=row.trace.tier,
        versions=row.trace.versions,
        fingerprint="evidence-1",
        outcome=Outcome.HALLUCINATED if is_bad else Outcome.GROUNDED,
        score=row.screening.score,
        passed=not is_bad,
        containment=Containment.DELIVER_TRIMMED if is_bad else Containment.DELIVER,
        claims=tuple(
            ClaimVerdict(
                claim=claim,
                label=label,
                support=found.support,
                contradiction=found.contradiction,
                evidence=found.evidence,
                why=found.why,
                layers=(Layer.L1,),
            )
            for claim, found in pairs
        ),
        layers=(Layer.L0, Layer.L1),
        verified_at=row.trace.ts + timedelta(seconds=2),
    )


if __name__ == "__main__":
    main()
