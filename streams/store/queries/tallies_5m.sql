SELECT intDiv(toUInt32(bucket), {step:UInt32}) * {step:UInt32} AS start, intent, tier, stratum,
  if({by_version:Bool}, model_version, '') AS model, if({by_version:Bool}, prompt_version, '') AS prompt,
  if({by_version:Bool}, corpus_version, '') AS corpus, if({by_version:Bool}, retriever_version, '') AS retriever,
  if({by_version:Bool}, app_version, '') AS app, if({by_version:Bool}, policy_id, '') AS policy, fingerprint,
  sum(t.traffic) AS traffic, sum(t.drawn) AS drawn, sum(t.judged) AS judged, sum(t.hallucinated) AS hallucinated,
  sum(t.sum_w) AS sum_w, sum(t.sum_wk) AS sum_wk, sum(t.sum_w2) AS sum_w2, sum(t.nested_judged) AS nested_judged,
  sum(t.nested_hallucinated) AS nested_hallucinated, sumForEach(t.histogram) AS histogram,
  sumForEach(t.outcomes) AS outcomes, sum(t.claims_scorable) AS claims_scorable,
  sum(t.claims_unsupported) AS claims_unsupported, sum(t.claims_contradicted) AS claims_contradicted,
  sum(t.empty_retrieval) AS empty_retrieval, sum(t.over_refusal) AS over_refusal,
  sum(t.citation_failure) AS citation_failure, sum(t.pending) AS pending
FROM tallies_5m AS t FINAL
WHERE bucket >= toDateTime({since:UInt32}, 'UTC') AND bucket < toDateTime({until:UInt32}, 'UTC')
GROUP BY start, intent, tier, stratum, model, prompt, corpus, retriever, app, policy, fingerprint
-- A vanished cell stays as zeros.
HAVING traffic > 0 OR arraySum(outcomes) > 0
ORDER BY start, intent, tier, stratum, model, prompt, corpus, retriever, app, policy, fingerprint
