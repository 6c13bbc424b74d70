"""From an answer to a verdict: claims, structural checks, detectors, outcome, containment; no Kafka, store or clock."""
