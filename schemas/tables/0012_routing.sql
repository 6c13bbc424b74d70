-- What became of each layer of detection (a row of the routing table each), what comparing several answers of the model
-- showed (no source: it was not done), whose word each claim's label is, and how sure a judge is of it.
ALTER TABLE verdicts
  ADD COLUMN IF NOT EXISTS `routing.layer` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `routing.ran` Array(Bool) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `routing.why` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `routing.claims` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `routing.calls` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `routing.cached` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `routing.tokens_in` Array(UInt64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `routing.tokens_out` Array(UInt64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `routing.cost_usd` Array(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `routing.took_ms` Array(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS consistency_source LowCardinality(String),
  ADD COLUMN IF NOT EXISTS consistency_samples UInt32 CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS consistency_votes Nullable(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS consistency_agreement Nullable(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS consistency_unstable_claims Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS consistency_mean_logprob Nullable(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS consistency_is_flagged Bool CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `claims.decided_by` Array(LowCardinality(String)) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS `claims.confidence` Array(Nullable(Float64)) CODEC(ZSTD(3));
