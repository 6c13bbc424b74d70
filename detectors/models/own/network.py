"""The network: a BERT encoder with a head for the pair and one for each word piece of the claim.

Imported only where a model is loaded or trained: it needs torch and transformers.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from detectors.models.own.base import base_config
from detectors.models.own.encoding import TYPES

EMBEDDINGS = "bert.embeddings.word_embeddings.weight"
_NOT_WRONG = -4.0
"""Start of the token logits: with some twenty pieces in a claim, support then starts near even."""


class Network(nn.Module):
    """Support as log-odds, and per word piece the log-odds that it is wrong.

    support = pair score − logsumexp of the claim's token logits: one wrong word is enough to bring a claim down.
    """

    def __init__(self, config: Mapping[str, Any], dropout: float = 0.0) -> None:
        super().__init__()
        shape = {key: config[key] for key in ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")}
        self.bert = BertModel(  # type: ignore[no-untyped-call]
            BertConfig(
                **shape,
                intermediate_size=config["intermediate_size"],
                max_position_embeddings=config["max_position_embeddings"],
                type_vocab_size=TYPES,
                hidden_dropout_prob=dropout,
                attention_probs_dropout_prob=dropout,
            ),
            add_pooling_layer=False,
        )
        self.pair = nn.Sequential(
            nn.Linear(config["hidden_size"], config["hidden_size"]), nn.Tanh(), nn.Linear(config["hidden_size"], 1)
        )
        self.token = nn.Linear(config["hidden_size"], 1)
        nn.init.constant_(self.token.bias, _NOT_WRONG)

    def forward(self, ids: Tensor, types: Tensor, attended: Tensor, claimed: Tensor) -> tuple[Tensor, Tensor]:
        """(batch,) support and (batch, length) token logits, from ids and types of (batch, length).

        ``attended`` is true for all but padding, ``claimed`` for the claim's word pieces.
        """
        hidden = self.bert(input_ids=ids, token_type_ids=types, attention_mask=attended.long()).last_hidden_state
        wrong = self.token(hidden).squeeze(-1).float()
        masked = wrong.masked_fill(~claimed, float("-inf"))
        support = self.pair(hidden[:, 0]).squeeze(-1).float() - torch.logsumexp(masked, dim=1)
        return support, wrong


def from_base(folder: Path, dropout: float = 0.0) -> Network:
    """The network before training: the base model's weights, new token types and heads."""
    network = Network(base_config(folder), dropout)
    base = load_file(folder / "model.safetensors")
    types = "embeddings.token_type_embeddings.weight"
    kept = {f"bert.{key}": value for key, value in base.items() if not key.startswith("pooler") and key != types}
    missing = network.load_state_dict(kept, strict=False)
    if missing.unexpected_keys:
        kept = {key: value for key, value in kept.items() if key not in missing.unexpected_keys}
        network.load_state_dict(kept, strict=False)
    with torch.no_grad():
        given = network.bert.embeddings.token_type_embeddings.weight
        given.copy_(base[types][:1] + 0.02 * torch.randn(given.shape))
    network.bert.embeddings.word_embeddings.weight.requires_grad_(False)  # noqa: FBT003 - torch names it otherwise in its types
    return network


def trained(network: Network) -> dict[str, Tensor]:
    """What training changed, in half precision: all but the word embeddings."""
    return {
        name: value.detach().half().contiguous() for name, value in network.state_dict().items() if name != EMBEDDINGS
    }
