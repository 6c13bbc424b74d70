-- Times ahead of the clock, and verdicts that were given before their answer.
SELECT count() AS checked, countIf(is_bad) AS faults,
  groupArrayIf({limit:UInt32})(trace_id, is_bad) AS examples FROM (
  SELECT trace_id, ts > toDateTime({latest:UInt32}, 'UTC') AS is_bad FROM traces FINAL
    WHERE ts >= toDateTime({first:UInt32}, 'UTC')
      AND ts < toDateTime({end:UInt32}, 'UTC')
  UNION ALL
  SELECT trace_id, verified_at > toDateTime({latest:UInt32}, 'UTC') OR verified_at < ts - INTERVAL 10 MINUTE
  FROM verdicts FINAL WHERE ts >= toDateTime({first:UInt32}, 'UTC') AND ts < toDateTime({end:UInt32}, 'UTC')
)
