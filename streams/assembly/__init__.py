"""Assembly: the spans of one trace, in any order and from any partition, to one Trace; pure, no Kafka and no clock."""

from streams.assembly.closing import ClosingRules
from streams.assembly.open_traces import Closed, OpenTraces
from streams.assembly.prompts import PromptLayout
from streams.assembly.trace import AssemblyRules, assemble

__all__ = ["AssemblyRules", "Closed", "ClosingRules", "OpenTraces", "PromptLayout", "assemble"]
