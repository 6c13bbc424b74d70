-- What judges and resampling cost: a row a worker, minute, intent, tier, layer and route. A row that is sent again with a
-- higher rev replaces the one before, so that a retry counts nothing twice.
CREATE TABLE IF NOT EXISTS spend (
  minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
  worker LowCardinality(String),
  intent LowCardinality(String),
  tier LowCardinality(String),
  layer LowCardinality(String),
  route LowCardinality(String),
  rev UInt64 CODEC(Delta, ZSTD(1)),
  calls UInt64 CODEC(ZSTD(1)),
  cached UInt64 CODEC(ZSTD(1)),
  refused UInt64 CODEC(ZSTD(1)),
  tokens_in UInt64 CODEC(ZSTD(1)),
  tokens_out UInt64 CODEC(ZSTD(1)),
  refused_tokens UInt64 CODEC(ZSTD(1)),
  usd Float64 CODEC(ZSTD(1)),
  refused_usd Float64 CODEC(ZSTD(1)),
  took_ms Float64 CODEC(ZSTD(1)),
  slowest_ms Float64 CODEC(ZSTD(1)),
  CONSTRAINT usd_is_money CHECK usd >= 0 AND isFinite(usd)
) ENGINE = ReplacingMergeTree(rev)
PARTITION BY toMonday(minute)
ORDER BY (minute, worker, intent, tier, layer, route)
SETTINGS ttl_only_drop_parts = 1, $SAFE;

-- How far each worker may go in an hour, by pot: written before it goes there, so that all together stay in the budget.
CREATE TABLE IF NOT EXISTS budget_shares (
  hour DateTime('UTC'),
  pot String,
  worker String,
  rev UInt64,
  tokens Float64,
  usd Float64,
  may_tokens Float64,
  may_usd Float64,
  written_at DateTime64(6, 'UTC')
) ENGINE = ReplacingMergeTree(rev)
ORDER BY (hour, pot, worker)
SETTINGS $SAFE;

-- What a judge said, by hash of everything that it was asked and of what decides its answer.
CREATE TABLE IF NOT EXISTS judge_cache (
  key String,
  written_at DateTime('UTC') CODEC(Delta, ZSTD(1)),
  record String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree(written_at)
ORDER BY key
SETTINGS $SAFE;
