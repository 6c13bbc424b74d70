-- Tallies are rebuilt, never added to: the views below only note which buckets got rows, and when.
CREATE TABLE IF NOT EXISTS dirty (
  bucket DateTime('UTC'),
  inserted_at DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(inserted_at)
ORDER BY bucket
SETTINGS $SAFE;

CREATE MATERIALIZED VIEW IF NOT EXISTS dirty_by_traces TO dirty AS
SELECT toStartOfFiveMinutes(ts) AS bucket, max(now64(3, 'UTC')) AS inserted_at FROM traces GROUP BY bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS dirty_by_verdicts TO dirty AS
SELECT toStartOfFiveMinutes(ts) AS bucket, max(now64(3, 'UTC')) AS inserted_at FROM verdicts GROUP BY bucket;

-- fingerprint = '': all traffic (traffic, drawn, pending, empty_retrieval, citation_failure); else one detector's verdicts.
CREATE TABLE IF NOT EXISTS tallies_5m (
  bucket DateTime('UTC') CODEC(Delta, ZSTD(1)),
  intent LowCardinality(String),
  tier LowCardinality(String),
  stratum LowCardinality(String),
  model_version LowCardinality(String),
  prompt_version LowCardinality(String),
  corpus_version LowCardinality(String),
  retriever_version LowCardinality(String),
  app_version LowCardinality(String),
  policy_id LowCardinality(String),
  fingerprint LowCardinality(String),
  traffic UInt64 CODEC(ZSTD(1)),
  drawn UInt64 CODEC(ZSTD(1)),
  judged UInt64 CODEC(ZSTD(1)),
  hallucinated Float64 CODEC(ZSTD(1)),
  sum_w Float64 CODEC(ZSTD(1)),
  sum_wk Float64 CODEC(ZSTD(1)),
  sum_w2 Float64 CODEC(ZSTD(1)),
  nested_judged UInt64 CODEC(ZSTD(1)),
  nested_hallucinated Float64 CODEC(ZSTD(1)),
  histogram Array(UInt32) CODEC(ZSTD(1)),
  outcomes Array(UInt32) CODEC(ZSTD(1)),
  claims_scorable UInt64 CODEC(ZSTD(1)),
  claims_unsupported UInt64 CODEC(ZSTD(1)),
  claims_contradicted UInt64 CODEC(ZSTD(1)),
  empty_retrieval UInt64 CODEC(ZSTD(1)),
  over_refusal UInt64 CODEC(ZSTD(1)),
  citation_failure UInt64 CODEC(ZSTD(1)),
  pending UInt64 CODEC(ZSTD(1)),
  generation UInt64 CODEC(ZSTD(1)),
  INDEX by_generation generation TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(generation)
PARTITION BY toMonday(bucket)
ORDER BY (bucket, intent, tier, stratum, model_version, prompt_version, corpus_version, retriever_version, app_version,
  policy_id, fingerprint)
SETTINGS ttl_only_drop_parts = 1, $SAFE;

-- Long baselines. Without policy_id; intent first, since that is how pages and tests read 90 days and more.
CREATE TABLE IF NOT EXISTS tallies_1h (
  bucket DateTime('UTC') CODEC(Delta, ZSTD(1)),
  intent LowCardinality(String),
  tier LowCardinality(String),
  stratum LowCardinality(String),
  model_version LowCardinality(String),
  prompt_version LowCardinality(String),
  corpus_version LowCardinality(String),
  retriever_version LowCardinality(String),
  app_version LowCardinality(String),
  fingerprint LowCardinality(String),
  traffic UInt64 CODEC(ZSTD(1)),
  drawn UInt64 CODEC(ZSTD(1)),
  judged UInt64 CODEC(ZSTD(1)),
  hallucinated Float64 CODEC(ZSTD(1)),
  sum_w Float64 CODEC(ZSTD(1)),
  sum_wk Float64 CODEC(ZSTD(1)),
  sum_w2 Float64 CODEC(ZSTD(1)),
  nested_judged UInt64 CODEC(ZSTD(1)),
  nested_hallucinated Float64 CODEC(ZSTD(1)),
  histogram Array(UInt32) CODEC(ZSTD(1)),
  outcomes Array(UInt32) CODEC(ZSTD(1)),
  claims_scorable UInt64 CODEC(ZSTD(1)),
  claims_unsupported UInt64 CODEC(ZSTD(1)),
  claims_contradicted UInt64 CODEC(ZSTD(1)),
  empty_retrieval UInt64 CODEC(ZSTD(1)),
  over_refusal UInt64 CODEC(ZSTD(1)),
  citation_failure UInt64 CODEC(ZSTD(1)),
  pending UInt64 CODEC(ZSTD(1)),
  generation UInt64 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(generation)
PARTITION BY toStartOfMonth(bucket)
ORDER BY (intent, bucket, tier, stratum, model_version, prompt_version, corpus_version, retriever_version, app_version,
  fingerprint)
SETTINGS ttl_only_drop_parts = 1, $SAFE;

-- Finished rebuilds. A rebuild cut off half-way has tally rows but no row here, so the next one does it again.
CREATE TABLE IF NOT EXISTS rebuilds (
  name LowCardinality(String),
  generation UInt64
) ENGINE = ReplacingMergeTree(generation)
ORDER BY name
SETTINGS $SAFE;
