-- One row a trace and detector fingerprint. Claims are Nested: a redone verdict with fewer claims leaves no orphans.
-- rev: trace revision, then time of verification; a verdict on an older revision never replaces one on a newer.
CREATE TABLE IF NOT EXISTS verdicts (
  ts DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  trace_id String CODEC(ZSTD(1)),
  fingerprint LowCardinality(String),
  rev UInt64 CODEC(Delta, ZSTD(1)),
  revision UInt32 CODEC(ZSTD(1)),
  intent LowCardinality(String),
  tier LowCardinality(String),
  model_version LowCardinality(String),
  prompt_version LowCardinality(String),
  corpus_version LowCardinality(String),
  retriever_version LowCardinality(String),
  app_version LowCardinality(String),
  outcome LowCardinality(String),
  failures Array(LowCardinality(String)) CODEC(ZSTD(1)),
  score Nullable(Float64) CODEC(ZSTD(1)),
  passed Bool CODEC(ZSTD(1)),
  containment LowCardinality(String),
  layers Array(LowCardinality(String)) CODEC(ZSTD(1)),
  took_ms Float64 CODEC(ZSTD(1)),
  cost_usd Float64 CODEC(ZSTD(1)),
  verified_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  claims Nested(
    index UInt32,
    span_start UInt32,
    span_end UInt32,
    text String,
    is_factual Bool,
    critical_rule LowCardinality(String),
    citations Array(String),
    label LowCardinality(String),
    support Nullable(Float64),
    contradiction Nullable(Float64),
    why String,
    layers Array(LowCardinality(String)),
    error LowCardinality(String),
    evidence_passage Nullable(UInt32),
    evidence_doc String,
    evidence_hash String,
    evidence_start UInt32,
    evidence_end UInt32,
    evidence_text String
  ) CODEC(ZSTD(3)),
  INDEX by_id trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
  CONSTRAINT ts_in_range CHECK ts >= toDateTime64('2000-01-01 00:00:00', 6, 'UTC')
    AND ts < toDateTime64('2100-01-01 00:00:00', 6, 'UTC'),
  CONSTRAINT score_ok CHECK score IS NULL OR (score >= 0 AND score <= 1),
  CONSTRAINT fingerprint_named CHECK fingerprint != ''
) ENGINE = ReplacingMergeTree(rev)
PARTITION BY toMonday(ts)
ORDER BY (toStartOfFiveMinutes(ts), trace_id, fingerprint)
SETTINGS ttl_only_drop_parts = 1, $SAFE;
