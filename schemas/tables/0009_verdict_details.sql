-- Where each claim comes from and how it was parted; faithfulness, severity, time by step, what the fingerprint is made
-- of (a JSON object), and what was judged: the answer's hash and the texts it was held against.
ALTER TABLE verdicts
  ADD COLUMN IF NOT EXISTS `claims.source` Array(LowCardinality(String)) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS `claims.subject` Array(String) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS `claims.sentence_start` Array(Nullable(UInt32)) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS `claims.sentence_end` Array(Nullable(UInt32)) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS `claims.split_by` Array(LowCardinality(String)) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS severities Array(LowCardinality(String)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS severity LowCardinality(String),
  ADD COLUMN IF NOT EXISTS faithfulness Nullable(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `timings.step` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `timings.ms` Array(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS splitter LowCardinality(String),
  ADD COLUMN IF NOT EXISTS fingerprint_parts LowCardinality(String),
  ADD COLUMN IF NOT EXISTS answer_hash String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `seen.source` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `seen.doc_id` Array(String) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS `seen.hash` Array(String) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS `seen.chars` Array(UInt32) CODEC(ZSTD(1));
