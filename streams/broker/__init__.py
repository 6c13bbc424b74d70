"""Kafka connections: how to reach a broker, our own topics, publishing, and the embedded broker."""
