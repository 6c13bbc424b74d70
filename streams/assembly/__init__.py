"""Assembly: the spans of one trace, in any order and from any partition, to one Trace; pure, no Kafka and no clock."""

from streams.assembly.closing import CloseReason, ClosingRules
from streams.assembly.late import Late, take_late
from streams.assembly.open_traces import Closed, OpenTraces
from streams.assembly.prompts import PromptLayout
from streams.assembly.trace import AssemblyRules, assemble

__all__ = [
    "AssemblyRules",
    "CloseReason",
    "Closed",
    "ClosingRules",
    "Late",
    "OpenTraces",
    "PromptLayout",
    "assemble",
    "take_late",
]
