"""A pair scorer's configuration, read off its weights: the published folder names another repository for it."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from schemas.errors import ConfigError

_WRAPPER = "t5."
_SHARED = "transformer.shared.weight"
_EMBEDDED = "transformer.encoder.embed_tokens.weight"
_LAYER = "transformer.encoder.block.{}.layer."
_KEPT = ("layer_norm_epsilon", "relative_attention_max_distance", "feed_forward_proj", "n_positions", "pad_token_id")
_LABELS = 2


class _Shaped(Protocol):
    @property
    def shape(self) -> Any: ...


W = TypeVar("W", bound=_Shaped)


def t5_weights(stored: Mapping[str, W], where: str) -> dict[str, W]:
    """The weights under the names of ``T5ForTokenClassification``, with both names of the shared embedding.

    Raises ConfigError where there is no encoder with a classifier of two outputs.
    """
    weights = {name.removeprefix(_WRAPPER): tensor for name, tensor in stored.items()}
    embedding = weights.get(_SHARED, weights.get(_EMBEDDED))
    head = weights.get("classifier.weight")
    if embedding is None or head is None or head.shape[0] != _LABELS:
        raise ConfigError(f"{where}: the weights are no T5 encoder with a classifier of two outputs")
    return {**weights, _SHARED: embedding, _EMBEDDED: embedding}


def t5_config(weights: Mapping[str, _Shaped], config: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of ``T5Config``: sizes as the weights have them, the rest as ``config`` says, else flan-t5's."""
    first = _LAYER.format(0)
    buckets, heads = weights[f"{first}0.SelfAttention.relative_attention_bias.weight"].shape
    vocabulary, width = weights[_SHARED].shape
    is_gated = f"{first}1.DenseReluDense.wi_0.weight" in weights
    inner = weights[f"{first}1.DenseReluDense.{'wi_0' if is_gated else 'wi'}.weight"].shape[0]
    layers = sum(name.endswith("SelfAttention.q.weight") for name in weights)
    return {
        "feed_forward_proj": "gated-gelu" if is_gated else "relu",
        **{name: config[name] for name in _KEPT if name in config},
        "vocab_size": vocabulary,
        "d_model": width,
        "d_kv": weights[f"{first}0.SelfAttention.q.weight"].shape[0] // heads,
        "d_ff": inner,
        "num_layers": layers,
        "num_heads": heads,
        "relative_attention_num_buckets": buckets,
        "num_labels": _LABELS,
        "is_encoder_decoder": False,
    }
