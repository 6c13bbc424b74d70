"""Small models with random weights in the three published layouts, written to a folder as their authors would.

Weights have no meaning: what is tested is that inputs, outputs and labels are the published ones.
"""

import json
import string
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    ModernBertConfig,
    ModernBertForTokenClassification,
    PreTrainedModel,
    RobertaConfig,
    RobertaForSequenceClassification,
    T5Config,
    T5ForTokenClassification,
)

from detectors.claims import split_claims
from schemas.claim import CheckItem
from tests.builders import passage

torch.set_num_threads(1)
"""Models this small get slower by sharing, and tests run beside each other."""
SEED = 11
VOCABULARY = 1_000
NLI_LABELS = {0: "entailment", 1: "neutral", 2: "contradiction"}
PROMPT = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\nHypothesis: {text2}"
_TEXT = """
Refunds take 5 days after delivery and shipping is free of charge within the country
Determine if the hypothesis is true given the premise Premise Hypothesis passage output Summarize following text
Briefly answer the following question your response should be strictly based on the following passages In case
do not contain the necessary information to please reply with Unable based given How long do refunds take
The warranty covers 24 months It ends early when the seal is broken says the manual of the product
Customers may return opened software only when the disc is faulty a receipt is required in every shop
"""
WORDS = sorted({word for word in _TEXT.split() if len(word) > 1})
"""Vocabularies are written down, not trained: a trainer's ties fall otherwise in every process."""
_SIGNS = string.ascii_letters + string.digits + string.punctuation


def hhem(folder: Path, *, width: int = 32, layers: int = 2, prefix: str = "t5.", **config: Any) -> Path:
    """A pair scorer as HHEM-2.1-open is published: wrapped weights, a configuration that names remote code."""
    torch.manual_seed(SEED)
    made = T5Config(
        vocab_size=VOCABULARY,
        d_model=width,
        d_kv=width // 4,
        d_ff=2 * width,
        num_layers=layers,
        num_heads=4,
        feed_forward_proj="gated-gelu",
    )
    model = _spread(T5ForTokenClassification(made))
    state = {f"{prefix}{name}": tensor.clone() for name, tensor in model.state_dict().items()}
    state.pop(f"{prefix}transformer.encoder.embed_tokens.weight", None)
    save_file(state, folder / "model.safetensors")
    published = {
        "architectures": ["HHEMv2ForSequenceClassification"],
        "auto_map": {"AutoModelForSequenceClassification": "modeling_hhem_v2.HHEMv2ForSequenceClassification"},
        "foundation": "google/flan-t5-base",
        "model_type": "HHEMv2Config",
        "prompt": PROMPT,
    }
    _write(folder, {**published, **config}, sentence_pieces())
    return folder


def nli(folder: Path, labels: Mapping[int, str] = NLI_LABELS, *, family: str = "bert", **config: Any) -> Path:
    """A three-way classifier of ``family`` bert (token types), deberta, or roberta (positions behind the padding's)."""
    torch.manual_seed(SEED)
    sizes: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "id2label": dict(labels),
        "label2id": {name: index for index, name in labels.items()},
    }
    network, made = _FAMILIES[family](sizes)
    _save(folder, _spread(network(made)), byte_pieces() if family == "roberta" else word_pieces(), config)
    return folder


def _deberta(sizes: dict[str, Any]) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its module uses torch.jit when it is imported
        from transformers import DebertaV2Config, DebertaV2ForSequenceClassification  # noqa: PLC0415
    published: dict[str, Any] = {
        "max_position_embeddings": 128,
        "pad_token_id": 0,
        "type_vocab_size": 0,
        "relative_attention": True,
        "position_buckets": 16,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
    }
    return DebertaV2ForSequenceClassification, DebertaV2Config(**published, **sizes)


_FAMILIES: dict[str, Callable[[dict[str, Any]], tuple[Any, Any]]] = {
    "bert": lambda sizes: (
        BertForSequenceClassification,
        BertConfig(max_position_embeddings=128, pad_token_id=0, **sizes),
    ),
    "deberta": _deberta,
    "roberta": lambda sizes: (
        RobertaForSequenceClassification,
        RobertaConfig(max_position_embeddings=130, pad_token_id=1, **sizes),
    ),
}


def tagger(folder: Path, labels: Mapping[int, str] | None = None, *, window: int = 256, **config: Any) -> Path:
    """A span tagger on ModernBERT, as LettuceDetect is published: two labels without names."""
    torch.manual_seed(SEED)
    named = dict(labels or {0: "LABEL_0", 1: "LABEL_1"})
    made = ModernBertConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=window,
        local_attention=16,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        cls_token_id=0,
        sep_token_id=2,
        id2label=named,
        label2id={name: index for index, name in named.items()},
    )
    _save(folder, _spread(ModernBertForTokenClassification(made), head=0.1), byte_pieces(), config)
    return folder


def sentence_pieces() -> Tokenizer:
    """As T5 has them: no sign in front, "</s>" at the end."""
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -20.0), ("▁", -9.0)]
    pieces += [(f"▁{word}", -4.0) for word in WORDS] + [(sign, -8.0) for sign in _SIGNS]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=2))
    tokenizer.add_special_tokens(["<pad>", "</s>", "<unk>"])
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return tokenizer


def word_pieces() -> Tokenizer:
    """As BERT has them: "[CLS] first [SEP] second [SEP]", with types."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    signs = sorted({sign.lower() for sign in _SIGNS})
    words = sorted({word.lower() for word in WORDS} - set(signs))
    pieces = [*special, *signs, *(f"##{sign}" for sign in signs), *words]
    tokenizer = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token=special[1]))
    tokenizer.add_special_tokens(special)
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def byte_pieces() -> Tokenizer:
    """As RoBERTa and ModernBERT have them: bytes merged to words with their leading blank."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    merges: dict[tuple[str, str], None] = {}
    for word in WORDS:
        spelled = f"Ġ{word}"
        merges |= {(spelled[:at], spelled[at]): None for at in range(1, len(spelled))}
    pieces += [left + right for left, right in merges]
    tokenizer = Tokenizer(models.BPE({piece: at for at, piece in enumerate(pieces)}, list(merges)))
    tokenizer.add_special_tokens(special)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def _spread(model: PreTrainedModel, head: float = 0.6) -> Any:
    """Random weights of a size at which scores differ between inputs, and do not saturate."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0.0, head if "classifier" in name else 0.2)
    return model


def _save(folder: Path, model: Any, tokenizer: Tokenizer, config: Mapping[str, Any]) -> None:
    model.save_pretrained(folder)
    stored = json.loads((folder / "config.json").read_text())
    _write(folder, {**stored, **config}, tokenizer)


def _write(folder: Path, config: Mapping[str, Any], tokenizer: Tokenizer) -> None:
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer.save(str(folder / "tokenizer.json"))


def item(answer: str, *texts: str, question: str = "How long do refunds take?") -> CheckItem:
    """An item with the claims of ``answer`` and a passage per text."""
    return CheckItem(question, tuple(passage(text) for text in texts), answer, split_claims(answer))


PREMISES = (
    "Refunds take 5 days after delivery.",
    "The warranty covers 24 months, and a receipt is required.",
    "Shipping is free of charge within the country when the order is above the amount in the manual of the shop.",
)
HYPOTHESES = ("Refunds take 5 days.", "Refunds of opened software take 30 days.", "The warranty covers 24 months.")
ITEMS = [item(hypothesis, premise) for premise in PREMISES for hypothesis in HYPOTHESES]
"""Claims of different lengths, each beside one passage of one sentence."""
