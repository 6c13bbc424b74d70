-- Run again whenever its finished text changes: retention from the settings, vocabularies from the enums.
ALTER TABLE traces MODIFY TTL toDateTime(ts) + INTERVAL $RETENTION_DAYS DAY;
ALTER TABLE verdicts MODIFY TTL toDateTime(ts) + INTERVAL $RETENTION_DAYS DAY;
ALTER TABLE trace_heads MODIFY TTL toDateTime(ts) + INTERVAL $RETENTION_DAYS DAY;
ALTER TABLE passages MODIFY TTL seen + INTERVAL $PASSAGE_DAYS DAY;
ALTER TABLE message_fates MODIFY TTL toDateTime(handled_at) + INTERVAL $RETENTION_DAYS DAY;
ALTER TABLE unstored_traces MODIFY TTL toDateTime(closed_at) + INTERVAL $RETENTION_DAYS DAY;
ALTER TABLE spend MODIFY TTL minute + INTERVAL $RETENTION_DAYS DAY;
ALTER TABLE budget_shares MODIFY TTL hour + INTERVAL $RETENTION_DAYS DAY;
ALTER TABLE judge_cache MODIFY TTL written_at + INTERVAL $RETENTION_DAYS DAY;
ALTER TABLE dirty MODIFY TTL toDateTime(inserted_at) + INTERVAL $RETENTION_DAYS DAY;
ALTER TABLE tallies_5m MODIFY TTL bucket + INTERVAL $RETENTION_DAYS DAY;
ALTER TABLE tallies_1h MODIFY TTL bucket + INTERVAL $HOURLY_DAYS DAY;
ALTER TABLE traces DROP CONSTRAINT IF EXISTS words_known;
ALTER TABLE traces ADD CONSTRAINT IF NOT EXISTS words_known CHECK tier IN ($TIERS)
  AND (screening_outcome = '' OR screening_outcome IN ($OUTCOMES))
  AND hasAll([$FAILURES], screening_failures);
ALTER TABLE verdicts DROP CONSTRAINT IF EXISTS words_known;
ALTER TABLE verdicts ADD CONSTRAINT IF NOT EXISTS words_known CHECK tier IN ($TIERS) AND outcome IN ($OUTCOMES)
  AND containment IN ($CONTAINMENTS) AND hasAll([$FAILURES], failures)
  AND hasAll([$CLAIM_LABELS], claims.label) AND hasAll(['', $CLAIM_SOURCES], claims.source)
  AND hasAll([$CLAIM_SOURCES], seen.source) AND severity IN ('', $SEVERITIES) AND hasAll([$SEVERITIES], severities)
  AND hasAll([$LAYERS], routing.layer) AND hasAll([$LAYER_REASONS], routing.why)
  AND hasAll(['', $LAYERS], claims.decided_by) AND hasAll([$OUTCOMES], hops.outcome)
  AND hasAll(['', $CLAIM_LABELS], hops.worst_label);
ALTER TABLE alerts DROP CONSTRAINT IF EXISTS words_known;
ALTER TABLE alerts ADD CONSTRAINT IF NOT EXISTS words_known CHECK state IN ($ALERT_STATES);
