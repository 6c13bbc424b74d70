-- A trace that closed without an answer and was stored later, by late spans, counts as stored.
SELECT topic, fate, count() AS traces FROM unstored_traces FINAL
WHERE closed_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
  AND trace_id NOT IN (SELECT trace_id FROM trace_heads WHERE trace_id IN (SELECT trace_id FROM unstored_traces))
GROUP BY topic, fate ORDER BY topic, fate
