-- The policy log, a copy of the topic that outlives an embedded broker. entry = '' is the newest heartbeat.
CREATE TABLE IF NOT EXISTS policy (
  entry String,
  rev Int64,
  published_at DateTime64(6, 'UTC'),
  record String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree(rev)
ORDER BY entry
SETTINGS $SAFE;

-- How far ingest is, per source partition; written_at decides which row is the newest.
CREATE TABLE IF NOT EXISTS watermarks (
  topic String,
  partition Int64,
  event_time DateTime64(6, 'UTC'),
  is_idle Bool,
  written_at DateTime64(6, 'UTC')
) ENGINE = ReplacingMergeTree(written_at)
ORDER BY (topic, partition)
SETTINGS $SAFE;

-- rev is in the key: every state an alert ever had stays readable, and the largest rev is the present one.
CREATE TABLE IF NOT EXISTS alerts (
  alert_id String,
  rev Int64,
  state LowCardinality(String),
  updated_at DateTime64(6, 'UTC'),
  record String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree(rev)
ORDER BY (alert_id, rev)
SETTINGS $SAFE;

-- What people did: acks, silences, closes, re-anchors. Append-only.
CREATE TABLE IF NOT EXISTS alert_actions (
  at DateTime64(6, 'UTC'),
  action_id String,
  record String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree
ORDER BY (at, action_id)
SETTINGS $SAFE;

-- Deploys, marked by people or detected.
CREATE TABLE IF NOT EXISTS deploys (
  at DateTime64(6, 'UTC'),
  intent String,
  field String,
  value String,
  note String,
  source LowCardinality(String)
) ENGINE = ReplacingMergeTree
ORDER BY (at, intent, field, value)
SETTINGS $SAFE;
