-- What became of each source message: one row a position, so a message that comes again, or a topic made anew, replaces
-- its row and counts once. oldest_ts: earliest event time of its stored traces, since retention drops those by event time.
CREATE TABLE IF NOT EXISTS message_fates (
  topic LowCardinality(String),
  partition Int64 CODEC(ZSTD(1)),
  offset Int64 CODEC(Delta, ZSTD(1)),
  recorded_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  handled_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  fate LowCardinality(String),
  stored UInt32 CODEC(ZSTD(1)),
  duplicates UInt32 CODEC(ZSTD(1)),
  expired UInt32 CODEC(ZSTD(1)),
  refused UInt32 CODEC(ZSTD(1)),
  spans UInt32 CODEC(ZSTD(1)),
  oldest_ts Nullable(DateTime64(6, 'UTC')) CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(handled_at)
ORDER BY (topic, partition, offset)
SETTINGS $SAFE;

-- Traces made of spans that closed without becoming a stored trace: no part of an answer, or nothing that can be stored.
CREATE TABLE IF NOT EXISTS unstored_traces (
  topic LowCardinality(String),
  trace_id String CODEC(ZSTD(1)),
  fate LowCardinality(String),
  closed_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1))
) ENGINE = ReplacingMergeTree(closed_at)
ORDER BY (topic, trace_id)
SETTINGS $SAFE;

-- Which message a trace was first stored from: the same one again is a redelivery, another one a duplicate.
ALTER TABLE trace_heads
  ADD COLUMN IF NOT EXISTS source_topic LowCardinality(String),
  ADD COLUMN IF NOT EXISTS source_partition Int64 DEFAULT -1 CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS source_offset Int64 DEFAULT -1 CODEC(Delta, ZSTD(1));
