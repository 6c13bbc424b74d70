-- A tally table beside a recount from traces and verdicts, in 5 minutes or hours. Cells that agree are left out.
WITH
mine AS (
  SELECT trace_id AS id, toStartOfFiveMinutes(ts) AS at5, toString(intent) AS i, toString(tier) AS t,
    toString(stratum) AS s, $policy AS p, is_drawn, 1 / inclusion_probability AS w, u < min_probability AS nested,
    is_empty_retrieval AS hollow, hasAny(screening_failures, {citations:Array(String)}) AS cites
  FROM traces FINAL WHERE ts >= toDateTime({first:UInt32}, 'UTC') AND ts < toDateTime({end:UInt32}, 'UTC')
),
theirs AS (
  SELECT trace_id AS id, toStartOfFiveMinutes(ts) AS at5, toString(fingerprint) AS f, outcome, score,
    arrayCount(l -> l = 'supported', claims.label) AS good, arrayCount(l -> l = 'unsupported', claims.label) AS bare,
    arrayCount(l -> l = 'contradicted', claims.label) AS wrong, has(failures, 'over_refusal') AS refused
  FROM verdicts FINAL WHERE ts >= toDateTime({first:UInt32}, 'UTC') AND ts < toDateTime({end:UInt32}, 'UTC')
)
SELECT at, i, t, s, p, f, mine_total, kept_total FROM (
  SELECT at, i, t, s, p, f, sumForEach(arrayMap(x -> if(is_mine, x, 0.), m)) AS mine_total,
    sumForEach(arrayMap(x -> if(is_mine, 0., x), m)) AS kept_total
  FROM (
    SELECT toUInt32($start5) AS at, i, t, s, p, '' AS f, true AS is_mine,
      arrayResize(arrayMap(x -> toFloat64(x), [
        toUInt8(1), toUInt8(is_drawn), toUInt8(is_drawn) * ((at5, id) NOT IN (SELECT at5, id FROM theirs)),
        toUInt8(hollow), toUInt8(cites)]), {width:UInt32}, toFloat64(0)) AS m
    FROM mine
    UNION ALL
    SELECT toUInt32($start5), i, t, s, p, f, true,
      arrayConcat(
        [toFloat64(0), 0., 0., 0., 0., toFloat64(n), toFloat64(n * k), n * w, n * w * k, n * w * w,
         toFloat64(n * nested), toFloat64(n * k * nested), toFloat64(good + bare + wrong), toFloat64(bare),
         toFloat64(wrong), toFloat64(refused)],
        arrayMap(b -> toFloat64(isNotNull(score) AND b = least(9, floor(assumeNotNull(score) * 10))),
          range({bins:UInt32})),
        arrayMap(o -> toFloat64(o = outcome), {outcomes:Array(String)}))
    FROM (
      SELECT mine.*, f, outcome, score, good, bare, wrong, refused,
        outcome IN ('grounded', 'hallucinated') AS n, outcome = 'hallucinated' AS k
      FROM mine INNER JOIN theirs ON mine.at5 = theirs.at5 AND mine.id = theirs.id WHERE is_drawn
    )
    UNION ALL
    SELECT toUInt32(bucket), toString(intent), toString(tier), toString(stratum), $kept_policy, toString(fingerprint),
      false,
      arrayConcat(
        [toFloat64(traffic), toFloat64(drawn), toFloat64(pending), toFloat64(empty_retrieval),
         toFloat64(citation_failure), toFloat64(judged), hallucinated, sum_w, sum_wk, sum_w2, toFloat64(nested_judged),
         nested_hallucinated, toFloat64(claims_scorable), toFloat64(claims_unsupported), toFloat64(claims_contradicted),
         toFloat64(over_refusal)],
        arrayMap(x -> toFloat64(x), arrayResize(histogram, {bins:UInt32}, 0)),
        arrayMap(x -> toFloat64(x), arrayResize(outcomes, length({outcomes:Array(String)}), 0)))
    FROM $table FINAL WHERE bucket >= toDateTime({first:UInt32}, 'UTC') AND bucket < toDateTime({end:UInt32}, 'UTC')
  )
  GROUP BY at, i, t, s, p, f
)
WHERE arrayExists((a, b) -> abs(a - b) > 1e-9 * (abs(a) + abs(b)) + 1e-6, mine_total, kept_total)
ORDER BY at, i, t, s, p, f
LIMIT {most:UInt32}
