-- Supports of the claims in the newest verdict of each drawn trace of a stretch of event time, in hundredths, by stratum.
WITH
  fromUnixTimestamp64Micro({since:Int64}, 'UTC') AS first_ts,
  fromUnixTimestamp64Micro({until:Int64}, 'UTC') AS end_ts,
  newest AS (
    SELECT trace_id, argMax(claims.support, (rev, fingerprint)) AS supports,
      argMax(claims.error, (rev, fingerprint)) AS errors
    FROM verdicts FINAL WHERE ts >= first_ts AND ts < end_ts GROUP BY trace_id
  )
SELECT intent, tier, stratum, count() AS answers, sum(in_error) AS failed,
  sumMap(
    arrayMap(support -> toUInt8(least(floor(assumeNotNull(support) * 100), 99)), scored),
    arrayMap(support -> toUInt64(1), scored)
  ) AS bins
FROM (
  SELECT trace_id, intent, tier, stratum FROM traces FINAL WHERE ts >= first_ts AND ts < end_ts AND is_drawn
) AS drawn
INNER JOIN (
  SELECT trace_id, arrayFilter(support -> support IS NOT NULL, supports) AS scored,
    arrayCount(error -> error != '', errors) AS in_error
  FROM newest
) AS judged USING (trace_id)
GROUP BY intent, tier, stratum ORDER BY intent, tier, stratum
