"""What things are: traces, claims, verdicts, tallies, alerts, policies. Imports nothing of ours."""
