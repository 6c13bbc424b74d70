"""The claim splitter over HTTP: every way in which an endpoint fails, and a real small model."""

from contextlib import closing

import pytest

from detectors.claims import split_claims
from detectors.claims.llm import FAILURES, LlmSplitter, fallback_reason
from schemas.policy import ClaimSplitting
from streams.completion import OpenAICompletion, llm_splitter
from streams.settings.verify import Verify

pytestmark = pytest.mark.integration
ANSWER = "The pass costs 12 euros and is valid for two days. It is blue."


def test_the_settings_choose_the_splitter() -> None:
    """None for the rules; a language model needs an address and a name."""
    chosen = Verify(claim_splitter="llm", splitter_url="http://127.0.0.1:1/v1", splitter_model="m")

    assert llm_splitter(Verify()) is None
    splitter = llm_splitter(chosen)
    assert splitter is not None
    assert splitter.name.startswith("llm:m:")
    with pytest.raises(ValueError, match="splitter_url and splitter_model"):
        Verify(claim_splitter="llm")


@pytest.mark.local_llm
def test_a_real_model_gives_its_claims_or_leaves_them_to_the_rules(model_url: str) -> None:
    """Whatever a model of 135 million parameters writes: every claim is a span, and no fact is lost."""
    completion = OpenAICompletion(url=model_url, model="smollm2", key="", timeout_seconds=20, purpose="claims")
    with closing(completion):
        ((claims, made_by),) = LlmSplitter(completion, 1).split_many([(ANSWER, ClaimSplitting.SENTENCES)])

    assert all(ANSWER[claim.start : claim.end] == claim.text for claim in claims)
    words = {word for claim in claims for word in claim.text.split()}
    assert set(ANSWER.split()) - {"and"} <= words
    reason = fallback_reason(made_by)
    assert (reason == "" and made_by.startswith("llm:smollm2:")) or (
        reason in FAILURES and split_claims(ANSWER) == claims
    )
