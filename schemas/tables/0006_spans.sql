-- Spans of assembled traces, for as long as late ones may come: a late span is merged with these into a new revision.
-- The key is what makes two copies of a span the same copy. is_first: it was there when the trace was first emitted; a
-- copy that comes again later must not make it a late one.
CREATE TABLE IF NOT EXISTS spans (
  trace_id String CODEC(ZSTD(1)),
  span_id String CODEC(ZSTD(1)),
  content_hash String CODEC(ZSTD(1)),
  stored_at DateTime('UTC') CODEC(Delta, ZSTD(1)),
  is_first UInt8 CODEC(ZSTD(1)),
  record String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree(is_first)
PARTITION BY toDate(stored_at)
ORDER BY (trace_id, span_id, content_hash)
TTL stored_at + INTERVAL 3 DAY
SETTINGS index_granularity = 256, ttl_only_drop_parts = 1, $SAFE;

-- Where reading stood when the mark was written: a restarted worker knows whether its partition was read to the end.
ALTER TABLE watermarks ADD COLUMN IF NOT EXISTS next_offset Int64 DEFAULT -1;
