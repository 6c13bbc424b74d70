-- Traces of a stretch of event time by source topic: drawn or not, and what the newest verdict on their newest revision says.
WITH
  fromUnixTimestamp64Micro({first:Int64}, 'UTC') AS first_ts,
  fromUnixTimestamp64Micro({end:Int64}, 'UTC') AS end_ts,
  judgements AS (
    SELECT trace_id, argMax(outcome, rev) AS outcome, max(revision) AS judged_revision
    FROM verdicts FINAL WHERE ts >= first_ts AND ts < end_ts GROUP BY trace_id
  )
SELECT
  source_topic AS topic,
  count() AS stored,
  countIf(ts >= fromUnixTimestamp64Micro({kept:Int64}, 'UTC')) AS kept,
  countIf(is_drawn) AS drawn,
  countIf(is_drawn AND judged_revision < revision) AS pending,
  countIf(is_drawn AND judged_revision >= revision AND startsWith(outcome, 'error:')) AS errors,
  countIf(is_drawn AND judged_revision >= revision AND startsWith(outcome, 'unresolved:')) AS unresolved,
  drawn - pending - errors - unresolved AS judged
FROM (
  SELECT trace_id, ts, source_topic, is_drawn, revision FROM traces FINAL
  WHERE ts >= first_ts AND ts < end_ts AND source_recorded_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
) AS chosen
LEFT JOIN judgements USING (trace_id)
GROUP BY topic ORDER BY topic
