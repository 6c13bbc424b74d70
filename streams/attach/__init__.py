"""Looking at a topic, or a file of its messages, before anything is set up: what it holds, what that allows, the cost.

Reads, and never writes: no consumer group, no commit, no topic. Everything but ``topics`` is pure. Nothing is imported
here, since the command line shows the report without needing a Kafka client.
"""
