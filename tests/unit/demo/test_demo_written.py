"""Live questions for a language model: from the corpus, with the passages in the prompt, under their own intent."""

from itertools import islice

from demo.recipe import DEMO_RECIPE
from demo.written import INTENT, answered, packed_prompt, questions
from detectors.completion import Ask, Choice, CompletionFailed, Reply
from schemas.labels import Layer, Outcome
from schemas.layers import LayerReason, LayerRun
from streams.demo_llm import Writer, told
from tests.builders import NOW, verdict
from tests.source_messages import decode


def test_questions_have_passages_and_a_prompt_that_holds_them() -> None:
    """So that an answer can be asked for again and judged; nothing of the product's own intents is touched."""
    for trace in islice(questions(NOW, 1, DEMO_RECIPE), 30):
        assert (INTENT, "low", "en") == (trace["intent"], trace["tier"], trace["locale"][:2])
        assert 1 <= len(trace["passages"]) <= 3
        texts = [passage["text"] for passage in trace["passages"]]
        assert packed_prompt(trace["question"], texts) == trace["packed_prompt"]
        assert all(text in trace["packed_prompt"] for text in texts)


def test_an_answered_question_is_a_native_trace() -> None:
    """With the model's name, its words and how sure it was of them."""
    question = next(questions(NOW, 1, DEMO_RECIPE))
    (trace,) = decode(answered(question, NOW, "m-1", "Nobody knows.", [-0.5, -1.5])).traces
    assert ("Nobody knows.", (-0.5, -1.5), NOW, "m-1") == (
        trace.answer,
        trace.token_logprobs,
        trace.ts,
        trace.versions.model,
    )
    assert question["packed_prompt"] == trace.packed_prompt


class Completion:
    """Fails once, then answers."""

    model = "m-1"

    def __init__(self) -> None:
        self.asked: list[Ask] = []

    def ask(self, ask: Ask) -> Reply:
        """One choice."""
        self.asked.append(ask)
        if len(self.asked) == 1:
            raise CompletionFailed("timeout", is_away=True)
        return Reply((Choice("It is so.", logprobs=(-0.1,)),))


def test_a_model_that_fails_costs_an_answer_and_not_the_demo() -> None:
    """Each question has a seed of its own, none of which the samples use."""
    completion = Completion()
    first, second = islice(Writer(completion).traces(7), 2)
    assert first is None
    assert second is not None
    assert ("It is so.", [-0.1]) == (second["answer"], second["token_logprobs"])
    assert [1000, 1001] == [ask.seed for ask in completion.asked]


def test_the_way_through_the_layers_is_told_in_one_line() -> None:
    """What ran why, and what did not."""
    routing = (
        LayerRun(layer=Layer.L0, ran=True, why=LayerReason.ALWAYS),
        LayerRun(layer=Layer.L2, ran=False, why=LayerReason.NOT_CONFIGURED),
        LayerRun(layer=Layer.L3, ran=True, why=LayerReason.IN_BAND, calls=2, took_ms=41_000),
    )
    assert "grounded   L2 not run: not configured · L3 ran: in band, 2 calls, 41 s" == told(verdict(routing=routing))
    assert "hallucinated   L0 alone" == told(verdict(outcome=Outcome.HALLUCINATED))
