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
  SELECT trace_id, toStartOfFiveMinutes(ts) AS bucket, toString(traces.intent) AS intent, toString(traces.tier) AS tier,
    toString(traces.stratum) AS stratum, toString(traces.policy_id) AS policy_id, is_drawn,
    1 / inclusion_probability AS w, u < min_probability AS is_nested, is_empty_retrieval,
    hasAny(screening_failures, {citations:Array(String)}) AS has_citation_failure,
    [toString(model_version), toString(prompt_version), toString(corpus_version), toString(retriever_version),
     toString(app_version)] AS own,
    if(toStartOfHour(ts) IN (SELECT h FROM crowded) AND (toStartOfHour(ts), toString(intent), own) NOT IN kept,
       ['other', 'other', 'other', 'other', 'other'], own) AS tags
  FROM traces FINAL WHERE toStartOfFiveMinutes(ts) IN (SELECT b FROM changed)
),
-- Verdicts by trace, so that each side is read once; a trace without any is pending if it was drawn.
found AS (
  SELECT toStartOfFiveMinutes(ts) AS bucket, trace_id, groupArray((
    toString(fingerprint), toUInt64(outcome IN ('grounded', 'hallucinated')), toFloat64(outcome = 'hallucinated'),
    arrayMap(i -> toUInt32(isNotNull(score) AND i = least(9, floor(assumeNotNull(score) * 10))), range(10)),
    arrayMap(o -> toUInt32(o = outcome), {outcomes:Array(String)}),
    countEqual(claims.label, 'supported'), countEqual(claims.label, 'unsupported'),
    countEqual(claims.label, 'contradicted'), toUInt64(has(failures, 'over_refusal')))) AS verdicts
  FROM verdicts FINAL WHERE toStartOfFiveMinutes(ts) IN (SELECT b FROM changed)
  GROUP BY bucket, trace_id
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
    SELECT bucket, intent, tier, stratum, tags, policy_id, v.1 AS fingerprint,
      toUInt64(v.1 = '') AS p_traffic, toUInt64(v.1 = '' AND is_drawn) AS p_drawn,
      v.2 AS p_judged, v.2 * v.3 AS p_k, v.2 * w AS p_w, v.2 * w * v.3 AS p_wk, v.2 * w * w AS p_w2,
      v.2 * is_nested AS p_nested, v.2 * is_nested * v.3 AS p_nested_k, v.4 AS p_histogram, v.5 AS p_outcomes,
      v.6 + v.7 + v.8 AS p_scorable, v.7 AS p_unsupported, v.8 AS p_contradicted,
      toUInt64(v.1 = '' AND is_empty_retrieval) AS p_empty, v.9 AS p_over_refusal,
      toUInt64(v.1 = '' AND has_citation_failure) AS p_citation,
      toUInt64(v.1 = '' AND is_drawn AND empty(verdicts)) AS p_pending, toUInt64(0) AS p_known
    FROM (
      SELECT seen.bucket AS bucket, intent, tier, stratum, tags, policy_id, is_drawn, w, is_nested, is_empty_retrieval,
        has_citation_failure, verdicts,
        -- One part for the traffic row, one for each verdict; a verdict on a trace that was not drawn is in no rate.
        arrayPushFront(if(is_drawn, verdicts, []), (
          '', toUInt64(0), toFloat64(0), CAST([], 'Array(UInt32)'), CAST([], 'Array(UInt32)'), toUInt64(0), toUInt64(0),
          toUInt64(0), toUInt64(0))) AS parts
      FROM seen LEFT JOIN found ON found.bucket = seen.bucket AND found.trace_id = seen.trace_id
    )
    ARRAY JOIN parts AS v
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
