"""The prompt for one claim: what is in it, what is left out and said, and what makes another fingerprint."""

import json
from typing import Any

import pytest

from detectors.completion import prompt_tokens
from detectors.judge import Example, JudgePrompt, shipped_examples
from detectors.judge.prompting import Inquiry, TooLong, instructions
from detectors.judge.reply import JudgeLabel, read_verdict
from schemas.claim import CheckItem
from tests.builders import check_item, claim, judgement, passage
from tests.judge_parts import CLAIM, answer

LIMIT = 4000


def inquiry(item: CheckItem, index: int = 0, limit: int = LIMIT) -> Inquiry:
    """What is asked about one claim."""
    return JudgePrompt(limit).inquiry(item, index, judgement(0.5))


def asked(item: CheckItem, index: int = 0, limit: int = LIMIT) -> dict[str, Any]:
    """Its last message, read."""
    found: dict[str, Any] = json.loads(inquiry(item, index, limit).messages[-1]["content"])
    return found


def test_one_claim_is_asked_about_with_what_stands_before_it() -> None:
    """The other claims are not judged along; the words before it say what "it" is, two claims back and no further."""
    item = answer("The jacket is blue.", "It is new.", "It has a hood.", "It can be returned.")

    found = asked(item, 3)

    assert ("It can be returned.", "It is new. It has a hood.") == (found["claim"], found["before"])
    assert "before" not in asked(item, 0)


def test_a_part_of_a_sentence_is_asked_about_with_its_subject() -> None:
    """Else it says nothing."""
    item = check_item("The pass costs 12 euros and is blue.", claims=(claim("is blue.", 28, subject="The pass"),))

    assert "The pass is blue." == asked(item)["claim"]


def test_examples_stand_before_the_claim_in_its_own_form() -> None:
    """Each is a task and the reply to it, and each reply is one that we would take."""
    messages = inquiry(answer(CLAIM)).messages

    assert ["system", *(["user", "assistant"] * len(shipped_examples())), "user"] == [one["role"] for one in messages]
    for question, given in zip(messages[1:-1:2], messages[2:-1:2], strict=True):
        task = json.loads(question["content"])
        read_verdict(given["content"], task["claim"], len(task["passages"]))
    assert set(JudgeLabel) == {example.label for example in shipped_examples()}


def test_the_rules_name_every_label_and_every_key() -> None:
    """What is read is what was asked for."""
    for label in JudgeLabel:
        assert f'"{label.value}"' in instructions()
    for key in ("claim", "passages", "question", "before", "not_shown", "is_part", "evidence", "reason", "confidence"):
        assert f'"{key}"' in instructions()


def test_a_long_context_is_fitted_and_what_is_missing_is_said_twice() -> None:
    """To the model in the prompt, to people in the judgement."""
    item = answer(CLAIM, passages=[*(passage(f"{n} " + "The sea is grey. " * 90) for n in range(30)), passage()])

    found = inquiry(item)
    told = json.loads(found.messages[-1]["content"])

    assert prompt_tokens(found.messages) <= LIMIT
    shown = {one.passage for one in found.shown}
    assert 31 - len(shown) == told["not_shown"]["passages"]
    assert 30 in shown
    assert f"seen: {len(shown)} of 31 passages" in found.note
    assert "" == inquiry(answer(CLAIM)).note


def test_a_long_question_is_left_out_whole_and_said() -> None:
    """Half a question asks something else."""
    found = asked(answer(CLAIM, question="How long? " * 2000))

    assert "question" not in found
    assert {"question": True} == found["not_shown"]


@pytest.mark.parametrize(
    "item",
    [answer("You can return it. " * 2000), answer(CLAIM, passages=(passage("x" * 100_000),))],
    ids=["claim", "passage"],
)
def test_a_claim_that_does_not_fit_is_too_long(item: CheckItem) -> None:
    """It is never cut, nor judged without evidence where there is some."""
    shortest = prompt_tokens(inquiry(answer(CLAIM, passages=())).messages)

    with pytest.raises(TooLong):
        inquiry(item, limit=shortest + 100)
    assert inquiry(answer(CLAIM), limit=shortest + 100).shown


def test_no_passages_are_shown_as_none() -> None:
    """The model decides by the rules: nothing supports anything."""
    assert [] == asked(answer(CLAIM, passages=()))["passages"]


def test_examples_and_budget_make_another_fingerprint() -> None:
    """And the same ones the same."""
    one = Example(claim="It is blue.", passages=("It is blue.",), label=JudgeLabel.SUPPORTED, evidence=(1,))
    prompts = [JudgePrompt(4000), JudgePrompt(4000), JudgePrompt(5000), JudgePrompt(4000, [one]), JudgePrompt(4000, [])]

    assert 4 == len({prompt.fingerprint for prompt in prompts})
    assert prompts[0].fingerprint == prompts[1].fingerprint
