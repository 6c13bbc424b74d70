-- Recomputes whole hours from the 5-minute tallies, without the policy; written only where the numbers changed.
INSERT INTO tallies_1h (
  bucket, intent, tier, stratum, model_version, prompt_version, corpus_version, retriever_version, app_version,
  fingerprint, traffic, drawn, judged, hallucinated, sum_w, sum_wk, sum_w2, nested_judged, nested_hallucinated,
  histogram, outcomes, claims_scorable, claims_unsupported, claims_contradicted, empty_retrieval, over_refusal,
  citation_failure, pending, generation)
WITH
changed AS (
  SELECT DISTINCT toStartOfHour(bucket) AS h FROM dirty FINAL
  WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND bucket >= toDateTime({first:UInt32}, 'UTC') AND bucket < toDateTime({end:UInt32}, 'UTC')
),
buckets AS (SELECT h + 300 * arrayJoin(range(12)) AS b FROM changed)
SELECT
  hour, intent, tier, stratum, model, prompt, corpus, retriever, app, fingerprint,
  traffic, drawn, judged, hallucinated, sum_w, sum_wk, sum_w2, nested_judged, nested_hallucinated, histogram, outcomes,
  claims_scorable, claims_unsupported, claims_contradicted, empty_retrieval, over_refusal, citation_failure, pending,
  {generation:UInt64}
FROM (
  SELECT hour, intent, tier, stratum, model, prompt, corpus, retriever, app, fingerprint,
    sum(p_traffic) AS traffic, sum(p_drawn) AS drawn, sum(p_judged) AS judged, sum(p_k) AS hallucinated,
    sum(p_w) AS sum_w, sum(p_wk) AS sum_wk, sum(p_w2) AS sum_w2,
    sum(p_nested) AS nested_judged, sum(p_nested_k) AS nested_hallucinated,
    CAST(sumForEach(p_histogram), 'Array(UInt32)') AS histogram, CAST(sumForEach(p_outcomes), 'Array(UInt32)') AS outcomes,
    sum(p_scorable) AS claims_scorable, sum(p_unsupported) AS claims_unsupported,
    sum(p_contradicted) AS claims_contradicted, sum(p_empty) AS empty_retrieval, sum(p_over_refusal) AS over_refusal,
    sum(p_citation) AS citation_failure, sum(p_pending) AS pending, max(p_known) AS known
  FROM (
    SELECT toStartOfHour(bucket) AS hour, intent, tier, stratum, model_version AS model, prompt_version AS prompt,
      corpus_version AS corpus, retriever_version AS retriever, app_version AS app, fingerprint,
      traffic AS p_traffic, drawn AS p_drawn, judged AS p_judged, hallucinated AS p_k, sum_w AS p_w, sum_wk AS p_wk,
      sum_w2 AS p_w2, nested_judged AS p_nested, nested_hallucinated AS p_nested_k, histogram AS p_histogram,
      outcomes AS p_outcomes, claims_scorable AS p_scorable, claims_unsupported AS p_unsupported,
      claims_contradicted AS p_contradicted, empty_retrieval AS p_empty, over_refusal AS p_over_refusal,
      citation_failure AS p_citation, pending AS p_pending, toUInt64(0) AS p_known
    FROM tallies_5m FINAL WHERE bucket IN (SELECT b FROM buckets)
    UNION ALL
    SELECT bucket, intent, tier, stratum, model_version, prompt_version, corpus_version, retriever_version, app_version,
      fingerprint, 0, 0, 0, 0, 0, 0, 0, 0, 0, CAST([], 'Array(UInt32)'), CAST([], 'Array(UInt32)'), 0, 0, 0, 0, 0, 0, 0,
      cityHash64(traffic, drawn, judged, round(hallucinated, 6), round(sum_w, 6), round(sum_wk, 6), round(sum_w2, 6),
        nested_judged, round(nested_hallucinated, 6), histogram, outcomes, claims_scorable, claims_unsupported,
        claims_contradicted, empty_retrieval, over_refusal, citation_failure, pending)
    FROM tallies_1h FINAL WHERE bucket IN (SELECT h FROM changed)
  )
  GROUP BY hour, intent, tier, stratum, model, prompt, corpus, retriever, app, fingerprint
)
WHERE known != cityHash64(traffic, drawn, judged, round(hallucinated, 6), round(sum_w, 6), round(sum_wk, 6),
  round(sum_w2, 6), nested_judged, round(nested_hallucinated, 6), histogram, outcomes, claims_scorable,
  claims_unsupported, claims_contradicted, empty_retrieval, over_refusal, citation_failure, pending)
