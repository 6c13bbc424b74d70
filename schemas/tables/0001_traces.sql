-- All traffic: one row a trace and revision, its draw, and what ingest found. Passage texts are stored once, by hash.
-- The key is (5-minute bucket, id): nothing that can change may be in it, or a redelivery becomes a second row.
-- Times are microseconds, so that a trace reads back equal to what was written.
CREATE TABLE IF NOT EXISTS traces (
  ts DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  trace_id String CODEC(ZSTD(1)),
  revision UInt32 CODEC(ZSTD(1)),
  intent LowCardinality(String),
  tier LowCardinality(String),
  tenant LowCardinality(String),
  roles Array(LowCardinality(String)) CODEC(ZSTD(1)),
  locale LowCardinality(String),
  region LowCardinality(String),
  conversation_id String CODEC(ZSTD(1)),
  user_id String CODEC(ZSTD(1)),
  model_version LowCardinality(String),
  prompt_version LowCardinality(String),
  corpus_version LowCardinality(String),
  retriever_version LowCardinality(String),
  app_version LowCardinality(String),
  question String CODEC(ZSTD(3)),
  rewrites Array(String) CODEC(ZSTD(3)),
  answer Nullable(String) CODEC(ZSTD(3)),
  alternatives Array(String) CODEC(ZSTD(3)),
  token_logprobs Array(Float64) CODEC(ZSTD(1)),
  has_passages Bool CODEC(ZSTD(1)),
  passages Nested(
    doc_id String,
    chunk_id String,
    version String,
    hash FixedString(16),
    score Nullable(Float64),
    rank UInt64,
    updated_at Nullable(DateTime64(6, 'UTC')),
    effective_from Nullable(DateTime64(6, 'UTC')),
    archived Bool,
    superseded_by String,
    allowed_roles Array(LowCardinality(String)),
    trust LowCardinality(String),
    cited Nullable(Bool)
  ) CODEC(ZSTD(1)),
  -- The prompt: pieces[1], text of passages[prompt_passages[1]], pieces[2], … (indices from 0).
  has_prompt Bool CODEC(ZSTD(1)),
  prompt_pieces Array(String) CODEC(ZSTD(3)),
  prompt_passages Array(UInt32) CODEC(ZSTD(1)),
  tools Nested(name LowCardinality(String), arguments String, output Nullable(String)) CODEC(ZSTD(3)),
  retrieval_ms Nullable(Float64) CODEC(ZSTD(1)),
  generation_ms Nullable(Float64) CODEC(ZSTD(1)),
  total_ms Nullable(Float64) CODEC(ZSTD(1)),
  feedback String CODEC(ZSTD(3)),
  source_topic LowCardinality(String),
  source_partition Int64 CODEC(ZSTD(1)),
  source_offset Int64 CODEC(Delta, ZSTD(1)),
  source_recorded_at Nullable(DateTime64(6, 'UTC')) CODEC(ZSTD(1)),
  decoder LowCardinality(String),
  close_reason LowCardinality(String),
  late_spans UInt32 CODEC(ZSTD(1)),
  flags Array(LowCardinality(String)) CODEC(ZSTD(1)),
  stratum LowCardinality(String),
  u Float64 CODEC(ZSTD(1)),
  inclusion_probability Float64 CODEC(ZSTD(1)),
  min_probability Float64 CODEC(ZSTD(1)),
  policy_id LowCardinality(String),
  is_drawn Bool CODEC(ZSTD(1)),
  screening_outcome LowCardinality(String),
  screening_score Nullable(Float64) CODEC(ZSTD(1)),
  screening_failures Array(LowCardinality(String)) CODEC(ZSTD(1)),
  screening_fingerprint LowCardinality(String),
  screening_took_ms Float64 CODEC(ZSTD(1)),
  screening_claims String CODEC(ZSTD(3)),
  is_empty_retrieval Bool CODEC(ZSTD(1)),
  INDEX by_id trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
  CONSTRAINT ts_in_range CHECK ts >= toDateTime64('2000-01-01 00:00:00', 6, 'UTC')
    AND ts < toDateTime64('2100-01-01 00:00:00', 6, 'UTC'),
  CONSTRAINT probabilities CHECK inclusion_probability > 0 AND inclusion_probability <= 1
    AND min_probability > 0 AND min_probability <= 1 AND u >= 0 AND u < 1
) ENGINE = ReplacingMergeTree(revision)
PARTITION BY toMonday(ts)
ORDER BY (toStartOfFiveMinutes(ts), trace_id)
SETTINGS ttl_only_drop_parts = 1, $SAFE;

-- seen: the day of the last use. A writer sends a text again on a new day, so a text outlives every trace that shows it.
CREATE TABLE IF NOT EXISTS passages (
  hash FixedString(16),
  seen Date CODEC(ZSTD(1)),
  text String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree(seen)
ORDER BY hash
SETTINGS index_granularity = 256, $SAFE;

-- By trace id, for what must not change when late spans arrive: read one batch a query, hence the small granules.
CREATE TABLE IF NOT EXISTS trace_heads (
  trace_id String CODEC(ZSTD(1)),
  ts DateTime64(6, 'UTC') CODEC(ZSTD(1)),
  content_hash String CODEC(ZSTD(1)),
  stratum LowCardinality(String),
  inclusion_probability Float64 CODEC(ZSTD(1)),
  policy_id LowCardinality(String),
  revision UInt32 CODEC(ZSTD(1)),
  CONSTRAINT probability CHECK inclusion_probability > 0 AND inclusion_probability <= 1
) ENGINE = ReplacingMergeTree(revision)
ORDER BY trace_id
SETTINGS index_granularity = 256, $SAFE;

-- Traces older than retention: no trace row, only this, for ever; counted by day.
CREATE TABLE IF NOT EXISTS expired (
  ts DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  trace_id String CODEC(ZSTD(1)),
  intent LowCardinality(String),
  tier LowCardinality(String)
) ENGINE = ReplacingMergeTree
ORDER BY (toDate32(ts), trace_id)
SETTINGS $SAFE;
