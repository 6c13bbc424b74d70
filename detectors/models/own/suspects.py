"""The words of a claim that the network doubts, as people read them."""

from collections.abc import Sequence

_LEAST = 0.0
"""Log-odds of a word piece from which its word is named."""
_MOST = 3
_LONGEST = 40


def doubted(claim: str, spans: Sequence[tuple[int, int]], wrong: Sequence[float]) -> tuple[str, ...]:
    """Runs of doubted words in their order, at most three, the surest kept; each at most 40 characters.

    ``spans`` are the word pieces in characters of ``claim``, ``wrong`` their log-odds.
    """
    runs: list[tuple[int, int, float]] = []
    for (start, end), score in zip(spans, wrong, strict=True):
        if score < _LEAST:
            continue
        first, last = _whole_word(claim, start, end)
        if runs and not claim[runs[-1][1] : first].strip():
            begun, _, best = runs.pop()
            runs.append((begun, max(last, first), max(best, score)))
        else:
            runs.append((first, last, score))
    kept = sorted(sorted(runs, key=lambda run: -run[2])[:_MOST])
    return tuple(claim[start:end][:_LONGEST] for start, end, _ in kept)


def _whole_word(claim: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and claim[start - 1].isalnum() and claim[start].isalnum():
        start -= 1
    while end < len(claim) and claim[end].isalnum() and claim[end - 1].isalnum():
        end += 1
    return start, end
