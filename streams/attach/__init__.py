"""Looking at a topic, or a file of its messages, before anything is set up: what it holds, what that allows, the cost.

Reads, and never writes: no consumer group, no commit, no topic. Everything but ``topics`` is pure.
"""

from streams.attach.dump import read_dump
from streams.attach.report import Attached
from streams.attach.sample import Sample
from streams.attach.study import Study, study
from streams.attach.topics import Wanted, read_topics
from streams.attach.trial import Means

__all__ = ["Attached", "Means", "Sample", "Study", "Wanted", "read_dump", "read_topics", "study"]
