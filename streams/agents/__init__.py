"""Faust agents: one a role, each only wiring pure functions of the other packages to Kafka and the store."""
