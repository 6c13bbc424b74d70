-- How each hop of an answer made in several fared (the hops before the answer, a row each), how many were too many to be
-- checked, and which hop brought each claim of the answer or its evidence.
ALTER TABLE verdicts
  ADD COLUMN IF NOT EXISTS `hops.hop` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `hops.name` Array(String) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS `hops.outcome` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `hops.claims` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `hops.supported` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `hops.unsupported` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `hops.contradicted` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `hops.unclear` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `hops.errors` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `hops.derived` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `hops.left_out` Array(UInt32) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `hops.worst_label` Array(LowCardinality(String)) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `hops.worst` Array(String) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS `hops.worst_why` Array(String) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS `hops.evidence_doc` Array(String) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS `hops.evidence` Array(String) CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS hops_left_out UInt32 CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS `claims.hop` Array(Nullable(UInt32)) CODEC(ZSTD(3));
