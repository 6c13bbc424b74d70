"""Kafka connections: how to reach a broker, our own topics, publishing, and the embedded broker.

Whoever imports this reads messages whose header names are no text, instead of failing at them for ever.
"""

from streams.broker.odd_headers import install

install()
