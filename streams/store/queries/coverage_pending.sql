-- Without FINAL: a draw never changes, and the largest revision is the same before and after a merge.
SELECT trace_id FROM (
  SELECT trace_id, max(revision) AS stored, 0 AS judged FROM traces
  WHERE is_drawn AND source_recorded_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') GROUP BY trace_id
  UNION ALL
  SELECT trace_id, 0 AS stored, max(revision) AS judged FROM verdicts GROUP BY trace_id
)
GROUP BY trace_id HAVING max(stored) > max(judged)
ORDER BY trace_id LIMIT {limit:UInt32}
