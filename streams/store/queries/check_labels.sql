-- Rows with a word that no vocabulary of this version has.
SELECT count() AS checked, countIf(is_bad) AS faults,
  groupArrayIf({limit:UInt32})(id, is_bad) AS examples FROM (
  SELECT trace_id AS id, tier NOT IN {tiers:Array(String)}
    OR (screening_outcome != '' AND screening_outcome NOT IN {outcomes:Array(String)})
    OR NOT hasAll({failures:Array(String)}, screening_failures) AS is_bad
  FROM traces FINAL WHERE ts >= toDateTime({first:UInt32}, 'UTC') AND ts < toDateTime({end:UInt32}, 'UTC')
  UNION ALL
  SELECT trace_id, tier NOT IN {tiers:Array(String)} OR outcome NOT IN {outcomes:Array(String)}
    OR containment NOT IN {containments:Array(String)} OR NOT hasAll({failures:Array(String)}, failures)
    OR NOT hasAll({layers:Array(String)}, layers) OR NOT hasAll({labels:Array(String)}, claims.label)
    OR NOT hasAll(arrayPushBack({outcomes:Array(String)}, ''), claims.error)
    OR NOT hasAll({layers:Array(String)}, arrayFlatten(claims.layers))
    OR NOT hasAll(arrayPushBack({layers:Array(String)}, ''), claims.decided_by)
    OR NOT hasAll({layers:Array(String)}, routing.layer) OR NOT hasAll({reasons:Array(String)}, routing.why)
    OR NOT hasAll({outcomes:Array(String)}, hops.outcome)
    OR NOT hasAll(arrayPushBack({labels:Array(String)}, ''), hops.worst_label)
    OR NOT hasAll({rules:Array(String)}, findings.rule)
    OR NOT hasAll(arrayPushBack({sources:Array(String)}, ''), claims.source)
    OR NOT hasAll({sources:Array(String)}, seen.source)
    OR NOT hasAll({severities:Array(String)}, severities)
    OR severity NOT IN arrayPushBack({severities:Array(String)}, '')
  FROM verdicts FINAL WHERE ts >= toDateTime({first:UInt32}, 'UTC') AND ts < toDateTime({end:UInt32}, 'UTC')
)
