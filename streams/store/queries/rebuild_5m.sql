-- Recomputes whole buckets from the raw rows. Measures are summed from three sources: every trace; every verdict, joined
-- to its trace so that both land in the same cell; and the cells there are now, with zeros, so that a vanished cell
-- becomes zero. A cell is written only where its numbers changed.
INSERT INTO tallies_5m (
  bucket, intent, tier, stratum, model_version, prompt_version, corpus_version, retriever_version, app_version,
  policy_id, fingerprint, traffic, drawn, judged, hallucinated, sum_w, sum_wk, sum_w2, nested_judged,
  nested_hallucinated, histogram, outcomes, claims_scorable, claims_unsupported, claims_contradicted, empty_retrieval,
  over_refusal, citation_failure, pending, generation)
WITH
-- Which tuples are kept depends on the whole hour, so a crowded hour is rebuilt whole.
changed AS (
  SELECT bucket AS b FROM dirty FINAL
  WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND bucket >= toDateTime({first:UInt32}, 'UTC') AND bucket < toDateTime({end:UInt32}, 'UTC')
  UNION DISTINCT
  SELECT toDateTime(arrayJoin({crowded:Array(UInt32)}) + 300 * arrayJoin(range(12)), 'UTC')
),
crowded AS (SELECT toDateTime(arrayJoin({crowded:Array(UInt32)}), 'UTC') AS h),
-- The busiest version tuples of each intent in hours that have too many; the others are folded into one.
kept AS (
  SELECT hour, intent, tags FROM (
    SELECT toStartOfHour(ts) AS hour, toString(intent) AS intent,
      [toString(model_version), toString(prompt_version), toString(corpus_version), toString(retriever_version),
       toString(app_version)] AS tags, count() AS n
    FROM traces FINAL
    WHERE toStartOfFiveMinutes(ts) IN (SELECT b FROM changed) AND toStartOfHour(ts) IN (SELECT h FROM crowded)
    GROUP BY hour, intent, tags
  ) ORDER BY n DESC, tags LIMIT {most:UInt32} BY hour, intent
),
seen AS (
  SELECT trace_id, toStartOfFiveMinutes(ts) AS bucket, intent, tier, stratum, policy_id, is_drawn,
    1 / inclusion_probability AS w, u < min_probability AS is_nested, is_empty_retrieval,
    hasAny(screening_failures, {citations:Array(String)}) AS has_citation_failure,
    [toString(model_version), toString(prompt_version), toString(corpus_version), toString(retriever_version),
     toString(app_version)] AS own,
    if(toStartOfHour(ts) IN (SELECT h FROM crowded) AND (toStartOfHour(ts), toString(intent), own) NOT IN kept,
       ['other', 'other', 'other', 'other', 'other'], own) AS tags
  FROM traces FINAL WHERE toStartOfFiveMinutes(ts) IN (SELECT b FROM changed)
),
found AS (
  SELECT trace_id, toStartOfFiveMinutes(ts) AS bucket, toString(fingerprint) AS fingerprint, toString(outcome) AS outcome,
    outcome IN ('grounded', 'hallucinated') AS is_judged, toFloat64(outcome = 'hallucinated') AS k,
    if(isNull(score), -1, toInt8(least(9, floor(assumeNotNull(score) * 10)))) AS bin,
    countEqual(claims.label, 'unsupported') AS unsupported, countEqual(claims.label, 'contradicted') AS contradicted,
    countEqual(claims.label, 'supported') AS supported,
    has(failures, 'over_refusal') AS has_over_refusal
  FROM verdicts FINAL WHERE toStartOfFiveMinutes(ts) IN (SELECT b FROM changed)
)
SELECT
  bucket, intent, tier, stratum, tags[1], tags[2], tags[3], tags[4], tags[5], policy_id, fingerprint,
  traffic, drawn, judged, hallucinated, sum_w, sum_wk, sum_w2, nested_judged, nested_hallucinated, histogram, outcomes,
  claims_scorable, claims_unsupported, claims_contradicted, empty_retrieval, over_refusal, citation_failure, pending,
  {generation:UInt64}
FROM (
  SELECT bucket, intent, tier, stratum, tags, policy_id, fingerprint,
    sum(p_traffic) AS traffic, sum(p_drawn) AS drawn, sum(p_judged) AS judged, sum(p_k) AS hallucinated,
    sum(p_w) AS sum_w, sum(p_wk) AS sum_wk, sum(p_w2) AS sum_w2,
    sum(p_nested) AS nested_judged, sum(p_nested_k) AS nested_hallucinated,
    CAST(sumForEach(p_histogram), 'Array(UInt32)') AS histogram, CAST(sumForEach(p_outcomes), 'Array(UInt32)') AS outcomes,
    sum(p_scorable) AS claims_scorable, sum(p_unsupported) AS claims_unsupported,
    sum(p_contradicted) AS claims_contradicted, sum(p_empty) AS empty_retrieval, sum(p_over_refusal) AS over_refusal,
    sum(p_citation) AS citation_failure, sum(p_pending) AS pending, max(p_known) AS known
  FROM (
    SELECT bucket, toString(intent) AS intent, toString(tier) AS tier, toString(stratum) AS stratum, tags,
      toString(policy_id) AS policy_id, '' AS fingerprint, toUInt64(1) AS p_traffic, toUInt64(is_drawn) AS p_drawn,
      toUInt64(0) AS p_judged, toFloat64(0) AS p_k, toFloat64(0) AS p_w, toFloat64(0) AS p_wk, toFloat64(0) AS p_w2,
      toUInt64(0) AS p_nested, toFloat64(0) AS p_nested_k,
      CAST([], 'Array(UInt32)') AS p_histogram, CAST([], 'Array(UInt32)') AS p_outcomes,
      toUInt64(0) AS p_scorable, toUInt64(0) AS p_unsupported, toUInt64(0) AS p_contradicted,
      toUInt64(is_empty_retrieval) AS p_empty, toUInt64(0) AS p_over_refusal, toUInt64(has_citation_failure) AS p_citation,
      toUInt64(is_drawn AND (bucket, trace_id) NOT IN (SELECT bucket, trace_id FROM found)) AS p_pending,
      toUInt64(0) AS p_known
    FROM seen
    UNION ALL
    SELECT seen.bucket, toString(seen.intent), toString(seen.tier), toString(seen.stratum), seen.tags,
      toString(seen.policy_id), found.fingerprint, 0, 0,
      toUInt64(is_judged), is_judged * k, is_judged * w, is_judged * w * k, is_judged * w * w,
      toUInt64(is_judged AND is_nested), (is_judged AND is_nested) * k,
      arrayMap(i -> toUInt32(i = bin), range(10)), arrayMap(o -> toUInt32(o = outcome), {outcomes:Array(String)}),
      toUInt64(supported + unsupported + contradicted), toUInt64(unsupported), toUInt64(contradicted),
      0, toUInt64(has_over_refusal), 0, 0, 0
    FROM seen INNER JOIN found ON found.bucket = seen.bucket AND found.trace_id = seen.trace_id
    WHERE seen.is_drawn
    UNION ALL
    SELECT bucket, toString(intent), toString(tier), toString(stratum),
      [toString(model_version), toString(prompt_version), toString(corpus_version), toString(retriever_version),
       toString(app_version)],
      toString(policy_id), toString(fingerprint), 0, 0, 0, 0, 0, 0, 0, 0, 0,
      CAST([], 'Array(UInt32)'), CAST([], 'Array(UInt32)'), 0, 0, 0, 0, 0, 0, 0,
      cityHash64(traffic, drawn, judged, round(hallucinated, 6), round(sum_w, 6), round(sum_wk, 6), round(sum_w2, 6),
        nested_judged, round(nested_hallucinated, 6), histogram, outcomes, claims_scorable, claims_unsupported,
        claims_contradicted, empty_retrieval, over_refusal, citation_failure, pending)
    FROM tallies_5m FINAL WHERE bucket IN (SELECT b FROM changed)
  )
  GROUP BY bucket, intent, tier, stratum, tags, policy_id, fingerprint
)
WHERE known != cityHash64(traffic, drawn, judged, round(hallucinated, 6), round(sum_w, 6), round(sum_wk, 6),
  round(sum_w2, 6), nested_judged, round(nested_hallucinated, 6), histogram, outcomes, claims_scorable,
  claims_unsupported, claims_contradicted, empty_retrieval, over_refusal, citation_failure, pending)
