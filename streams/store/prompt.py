"""The packed prompt as literal pieces between passages: their text is stored once, the prompt rebuilt byte-equal."""

from collections.abc import Sequence

_SHORTEST = 32
"""Passages below this many characters stay in the literal piece: a reference would save nothing."""
_MOST_REFERENCES = 1_000
_MOST_COMPARISONS = 50_000_000
"""Characters of the prompt that are looked at, over all passages: some tenths of a second. Prompts in use need 10⁶."""


def cut_prompt(prompt: str, passages: Sequence[str]) -> tuple[list[str], list[int]]:
    """Pieces and passage indices of ``prompt``: ``pieces[0] + passages[indices[0]] + pieces[1] + …``.

    From left to right, the next occurrence of any passage is cut out, the longest one where several begin. A prompt for
    which that would take long is kept as it is from there on.
    """
    pieces: list[str] = []
    indices: list[int] = []
    different = {text: index for index, text in reversed(list(enumerate(passages))) if len(text) >= _SHORTEST}
    if len(different) * len(prompt) > _MOST_COMPARISONS:
        return [prompt], []
    found = {index: prompt.find(text) for text, index in different.items()}
    at = 0
    while len(indices) < _MOST_REFERENCES:
        for index, start in found.items():
            if 0 <= start < at:
                found[index] = prompt.find(passages[index], at)
        ahead = [(start, -len(passages[index]), index) for index, start in found.items() if start >= 0]
        if not ahead:
            break
        start, _, index = min(ahead)
        pieces.append(prompt[at:start])
        indices.append(index)
        at = start + len(passages[index])
    return [*pieces, prompt[at:]], indices


def join_prompt(pieces: Sequence[str], indices: Sequence[int], passages: Sequence[str]) -> str:
    """The prompt that ``cut_prompt`` took apart."""
    parts = [pieces[0]] if pieces else []
    for index, piece in zip(indices, pieces[1:], strict=True):
        parts += [passages[index], piece]
    return "".join(parts)
