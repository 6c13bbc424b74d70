"""L3: a language model judges single claims by the passages alone; what goes wrong has a reason and is no verdict."""

from detectors.judge.calling import Counts, Line
from detectors.judge.examples import Example, golden_examples, shipped_examples
from detectors.judge.judge import Limits, LlmJudge
from detectors.judge.prompting import JudgePrompt

__all__ = [
    "Counts",
    "Example",
    "JudgePrompt",
    "Limits",
    "Line",
    "LlmJudge",
    "golden_examples",
    "shipped_examples",
]
