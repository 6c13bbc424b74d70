"""Claims by a language model: optional, held to the answer's own words, and never less than the rules would give."""

from detectors.claims.llm.splitting import FAILURES, LlmSplitter, fallback_reason

__all__ = ["FAILURES", "LlmSplitter", "fallback_reason"]
