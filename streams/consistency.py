"""Self-consistency (L4) as the settings have it: the product's model behind its endpoint, or the traces alone."""

from detectors.consistency import CompletionResampler, SelfConsistency
from detectors.detector import Detector
from detectors.layers import Prices, Purse
from streams.completion import OpenAICompletion
from streams.settings.consistency import Consistency


def consistency_of(settings: Consistency, purse: Purse, detector: Detector) -> SelfConsistency:
    """The check; ``detector`` (L1) compares claims with samples. Nothing is called yet.

    Without an endpoint it compares what traces hold and costs nothing. Raises ConfigError when an endpoint is named and
    the ``openai`` extra is not installed.
    """
    if not settings.url:
        return SelfConsistency(detector, purse)
    completion = OpenAICompletion(
        url=settings.url,
        model=settings.model,
        key=settings.key.get_secret_value(),
        timeout_seconds=settings.timeout_seconds,
        purpose="samples",
    )
    resampler = CompletionResampler(
        completion,
        samples_per_call=settings.samples_per_call,
        prices=Prices(settings.usd_per_million_in, settings.usd_per_million_out),
    )
    return SelfConsistency(detector, purse, resampler, settings.calls_at_once, completion.close)
