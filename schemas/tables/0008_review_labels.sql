-- What reviewers said. Append-only and without TTL: whoever labels again adds a row, and the same label twice is one row.
-- claim = -1: the whole answer.
CREATE TABLE IF NOT EXISTS review_labels (
  trace_id String CODEC(ZSTD(1)),
  ts DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  claim Int32 CODEC(ZSTD(1)),
  reviewer String CODEC(ZSTD(1)),
  at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  label LowCardinality(String),
  intent String CODEC(ZSTD(1)),
  tier LowCardinality(String),
  tenant String CODEC(ZSTD(1)),
  record String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree
ORDER BY (trace_id, ts, claim, reviewer, at, label)
SETTINGS index_granularity = 256, $SAFE;

-- Answers that outlive retention, whole as JSON: those that a person reviewed. rev: trace revision, then the newest
-- verdict's time; the copy of an older state never replaces one of a newer.
CREATE TABLE IF NOT EXISTS kept_answers (
  trace_id String CODEC(ZSTD(1)),
  ts DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  rev UInt64 CODEC(ZSTD(1)),
  tenant String CODEC(ZSTD(1)),
  reason LowCardinality(String),
  record String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree(rev)
ORDER BY (trace_id, ts)
SETTINGS index_granularity = 256, $SAFE;
