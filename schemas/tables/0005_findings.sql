-- Structural findings and citation scores beside the failures of a verdict; when a document was first met; the hops of
-- an answer made in several steps (JSON, read only with the whole trace).
ALTER TABLE verdicts
  ADD COLUMN IF NOT EXISTS `findings.rule` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `findings.claim` Array(Nullable(UInt32)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `findings.passage` Array(Nullable(UInt32)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `findings.detail` Array(String) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS citation_precision Nullable(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS citation_recall Nullable(Float64) CODEC(ZSTD(1));

ALTER TABLE traces
  ADD COLUMN IF NOT EXISTS `passages.first_seen_at` Array(Nullable(DateTime64(6, 'UTC'))) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS hops Array(String) CODEC(ZSTD(3));
