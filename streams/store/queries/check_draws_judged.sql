-- Drawn traces without a verdict on their newest revision; stuck ones lie in a bucket that has been quiet.
SELECT count() AS checked, countIf(is_pending) AS pending, countIf(is_pending AND is_quiet) AS faults,
  groupArrayIf({limit:UInt32})(trace_id, is_pending AND is_quiet) AS examples,
  groupArrayIf({limit:UInt32})(trace_id, is_pending) AS waiting
FROM (
  SELECT trace_id, max(stored) > max(judged) AS is_pending,
    min(bucket) NOT IN (
      SELECT bucket FROM dirty WHERE inserted_at > now64(3, 'UTC') - INTERVAL {quiet:UInt32} SECOND) AS is_quiet
  FROM (
    SELECT trace_id, toStartOfFiveMinutes(ts) AS bucket, revision AS stored, 0 AS judged
    FROM traces FINAL WHERE is_drawn AND ts >= toDateTime({first:UInt32}, 'UTC')
        AND ts < toDateTime({end:UInt32}, 'UTC')
    UNION ALL
    SELECT trace_id, toStartOfFiveMinutes(ts), 0, revision FROM verdicts FINAL
      WHERE ts >= toDateTime({first:UInt32}, 'UTC')
        AND ts < toDateTime({end:UInt32}, 'UTC')
  )
  GROUP BY trace_id HAVING max(stored) > 0 ORDER BY min(bucket), trace_id
)
