-- Messages that a process was reading when it ended without having been told to; a row a death, written by the next
-- process that finds it out. After three deaths a message is set aside unread.
CREATE TABLE IF NOT EXISTS suspects (
  topic String,
  partition Int64,
  offset Int64,
  recorded_ms Int64,
  death String,
  found_at DateTime('UTC')
) ENGINE = ReplacingMergeTree
ORDER BY (topic, partition, offset, recorded_ms, death)
TTL found_at + INTERVAL 8 DAY
SETTINGS $SAFE;
