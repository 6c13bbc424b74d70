-- Trace heads without a trace.
SELECT count() AS checked, countIf(is_bad) AS faults,
  groupArrayIf({limit:UInt32})(trace_id, is_bad) AS examples FROM (
  SELECT trace_id, (ts, trace_id) NOT IN (SELECT ts, trace_id FROM traces FINAL
    WHERE ts >= toDateTime({first:UInt32}, 'UTC')
      AND ts < toDateTime({end:UInt32}, 'UTC')) AS is_bad
  FROM trace_heads FINAL WHERE ts >= toDateTime({first:UInt32}, 'UTC')
      AND ts < toDateTime({end:UInt32}, 'UTC') ORDER BY ts, trace_id
)
