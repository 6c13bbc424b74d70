-- Traces with a passage whose text is not stored.
WITH used AS (SELECT DISTINCT arrayJoin(`passages.hash`) AS h FROM traces FINAL
  WHERE ts >= toDateTime({first:UInt32}, 'UTC')
    AND ts < toDateTime({end:UInt32}, 'UTC')),
lost AS (SELECT h FROM used WHERE h NOT IN (SELECT hash FROM passages WHERE hash IN (SELECT h FROM used)))
SELECT count() AS checked, countIf(is_bad) AS faults,
  groupArrayIf({limit:UInt32})(trace_id, is_bad) AS examples FROM (
  SELECT trace_id, hasAny(`passages.hash`, (SELECT groupArray(h) FROM lost)) AS is_bad
  FROM traces FINAL WHERE ts >= toDateTime({first:UInt32}, 'UTC')
      AND ts < toDateTime({end:UInt32}, 'UTC') ORDER BY ts, trace_id
)
