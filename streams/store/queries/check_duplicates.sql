-- Ids stored under several times. A part of the ids at a time: those of a large store do not fit into memory.
SELECT count() AS checked, countIf(n > 1) AS faults,
  groupArrayIf({limit:UInt32})(trace_id, n > 1) AS examples FROM (
  SELECT trace_id, count() AS n FROM traces FINAL
  WHERE ts >= toDateTime({first:UInt32}, 'UTC')
      AND ts < toDateTime({end:UInt32}, 'UTC') AND cityHash64(trace_id) % {parts:UInt32} = {part:UInt32}
  GROUP BY trace_id
)
