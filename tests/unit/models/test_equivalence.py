"""Scores are those of plain transformers, one input at a time, written out here without any code of ours."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file
from transformers import (
    BertForSequenceClassification,
    ModernBertForTokenClassification,
    PreTrainedTokenizerFast,
    RobertaForSequenceClassification,
    T5Config,
    T5ForTokenClassification,
)

from detectors.models import Calibration, ModelOptions, load_model
from detectors.models.tokens import TextEncoder
from schemas.claim import CheckItem
from tests import tiny_models

TOLERANCE = 1e-4
"""Ours are rounded to four digits; before that they differ by less than 1e-5, because padding changes the last bits."""
PREMISES, ITEMS = tiny_models.PREMISES, tiny_models.ITEMS
Score = Callable[[str, str], tuple[float, float | None]]


def plain_tokenizer(folder: Path) -> Any:
    """The folder's tokenizer as transformers wraps it."""
    tokenizer: Any = PreTrainedTokenizerFast
    return tokenizer(tokenizer_file=str(folder / "tokenizer.json"))


def plain_hhem(folder: Path) -> Score:
    """As the model's card does it: the prompt, the first token's outputs, the second of them."""
    config = T5Config(
        vocab_size=tiny_models.VOCABULARY,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        feed_forward_proj="gated-gelu",
    )
    model: Any = T5ForTokenClassification(config)
    model.eval()
    stored = load_file(folder / "model.safetensors")
    weights = {name.removeprefix("t5."): tensor for name, tensor in stored.items()}
    weights["transformer.encoder.embed_tokens.weight"] = weights["transformer.shared.weight"]
    model.load_state_dict(weights)
    tokenizer = plain_tokenizer(folder)

    def score(premise: str, hypothesis: str) -> tuple[float, None]:
        prompt = tiny_models.PROMPT.format(text1=premise, text2=hypothesis)
        ids = torch.tensor([tokenizer(prompt)["input_ids"]])
        with torch.no_grad():
            logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        return float(torch.softmax(logits[:, 0, :], dim=-1)[0, 1]), None

    return score


def plain_nli(folder: Path, network: Any) -> Score:
    """Premise and hypothesis as a pair; entailment first and contradiction last, as ``tiny_models`` has them."""
    model = network.from_pretrained(folder).eval()
    tokenizer = plain_tokenizer(folder)

    def score(premise: str, hypothesis: str) -> tuple[float, float]:
        encoded = tokenizer(premise, hypothesis, return_token_type_ids=network is BertForSequenceClassification)
        inputs = {name: torch.tensor([values]) for name, values in encoded.items()}
        with torch.no_grad():
            probabilities = torch.softmax(model(**inputs).logits[0], dim=-1)
        return float(probabilities[0]), float(probabilities[2])

    return score


def make_hhem(folder: Path) -> Score:
    """A pair scorer."""
    return plain_hhem(tiny_models.hhem(folder))


def make_bert(folder: Path) -> Score:
    """A classifier with token types."""
    return plain_nli(tiny_models.nli(folder), BertForSequenceClassification)


def make_deberta(folder: Path) -> Score:
    """A classifier without token types, whose positions are relative."""
    tiny_models.nli(folder, family="deberta")
    return plain_nli(folder, transformers.DebertaV2ForSequenceClassification)


def make_roberta(folder: Path) -> Score:
    """A classifier whose positions begin behind the padding's."""
    return plain_nli(tiny_models.nli(folder, family="roberta"), RobertaForSequenceClassification)


@pytest.mark.parametrize("make", [make_hhem, make_bert, make_deberta, make_roberta])
def test_pairs_score_as_in_plain_transformers(tmp_path: Path, make: Callable[[Path], Score]) -> None:
    """One passage of one sentence is the premise as it is; all nine pairs in one batch."""
    plain = make(tmp_path)

    judged = load_model(tmp_path).judge(ITEMS)

    for item, (judgement,) in zip(ITEMS, judged, strict=True):
        support, contradiction = plain(item.passages[0].text, item.answer)
        assert judgement.support == pytest.approx(support, abs=TOLERANCE)
        assert judgement.contradiction == (
            None if contradiction is None else pytest.approx(contradiction, abs=TOLERANCE)
        )
    assert len({judgement.support for (judgement,) in judged}) > len(ITEMS) // 2


def test_support_and_contradiction_are_each_the_highest_of_their_own(tmp_path: Path) -> None:
    """Over each passage by itself, and over all that share a word with the claim together."""
    plain = make_bert(tmp_path)
    item = tiny_models.item("Refunds take 5 days and the warranty covers 24 months.", *PREMISES[:2])

    ((judgement,),) = load_model(tmp_path).judge([item])

    scores = [plain(premise, item.answer) for premise in (*PREMISES[:2], " ".join(PREMISES[:2]))]
    assert judgement.support == pytest.approx(max(support for support, _ in scores), abs=TOLERANCE)
    assert judgement.contradiction == pytest.approx(max(against or 0.0 for _, against in scores), abs=TOLERANCE)


@pytest.mark.parametrize("question", ["How long do refunds take?", ""], ids=["question", "summary"])
def test_spans_score_as_in_plain_transformers(tmp_path: Path, question: str) -> None:
    """Prompt and answer as a pair; a claim's support is 1 minus the worst of its tokens."""
    tiny_models.tagger(tmp_path, window=1024)
    item = tiny_models.item("Refunds take 5 days. The warranty covers 24 months.", *PREMISES, question=question)

    (judged,) = load_model(tmp_path).judge([item])

    expected = plain_spans(tmp_path, item)
    assert [judgement.support for judgement in judged] == pytest.approx(expected, abs=TOLERANCE)
    assert all(judgement.contradiction is None for judgement in judged)


def test_a_context_in_two_groups_scores_as_the_best_of_three_passes(tmp_path: Path) -> None:
    """Each group as it is, and the sentences of both that tell of the claim, written out here."""
    tiny_models.tagger(tmp_path, window=1024)
    claim, unrelated = "Refunds take 5 days and shipping is free of charge.", "An old mill hums. " * 6
    texts = ["Refunds take 5 days.", unrelated, "Shipping is free of charge."]
    passes = [texts[:2], texts[2:], [texts[0], texts[2]]]

    ((judgement,),) = load_model(tmp_path, ModelOptions(window_tokens=256)).judge([tiny_models.item(claim, *texts)])

    scores = [plain_spans(tmp_path, tiny_models.item(claim, *read))[0] for read in passes]
    assert judgement.support == pytest.approx(max(scores), abs=TOLERANCE)
    assert scores[2] == max(scores)


def plain_spans(folder: Path, item: CheckItem) -> Sequence[float]:
    """As the authors' package does it, with the prompts of RAGTruth."""
    passages = "\n".join(f"passage {at}: {passage.text}" for at, passage in enumerate(item.passages, 1))
    prompt = f"Summarize the following text:\n{passages}\noutput:"
    if item.question:
        prompt = (
            f"Briefly answer the following question:\n{item.question}\nBear in mind that your response should be "
            f"strictly based on the following {len(item.passages)} passages:\n{passages}\nIn case the passages do not "
            "contain the necessary information to answer the question, please reply with: "
            '"Unable to answer based on given passages."\noutput:'
        )
    model: Any = ModernBertForTokenClassification.from_pretrained(folder)
    tokenizer = plain_tokenizer(folder)
    encoded = tokenizer(prompt, item.answer, return_offsets_mapping=True, return_token_type_ids=False)
    first = len(encoded["input_ids"]) - 1 - len(tokenizer(item.answer, add_special_tokens=False)["input_ids"])
    with torch.no_grad():
        ids = torch.tensor([encoded["input_ids"]])
        wrong = torch.softmax(model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0], dim=-1)[:, 1]
    return [
        1 - max(float(wrong[at]) for at, (start, end) in places if start < claim.end and end > claim.start)
        for claim in item.claims
        for places in [list(enumerate(encoded["offset_mapping"]))[first:-1]]
    ]


def test_a_calibration_is_put_on_the_highest_raw_probability(tmp_path: Path) -> None:
    """The default leaves the raw one as it is."""
    plain = make_hhem(tmp_path)
    options = ModelOptions(support=Calibration(slope=0.5, intercept=-0.2))

    ((judgement,),) = load_model(tmp_path, options).judge(ITEMS[:1])

    raw, _ = plain(ITEMS[0].passages[0].text, ITEMS[0].answer)
    assert judgement.support == pytest.approx(Calibration(0.5, -0.2).apply(raw), abs=TOLERANCE)


def test_special_tokens_that_an_attacker_writes_are_plain_signs(tmp_path: Path) -> None:
    """A passage cannot end the premise, and a claim cannot begin a hypothesis of its own."""
    tiny_models.nli(tmp_path)
    encoder = TextEncoder(tmp_path / "tokenizer.json", has_types=True)

    text = encoder.clean("Refunds [SEP] take [CLS] 5 days \ud83d.")

    assert "Refunds  SEP] take  CLS] 5 days ?." == text
    ids = encoder.pair("A", text).ids
    assert 2 == ids.count(3)
    assert 1 == ids.count(2)
