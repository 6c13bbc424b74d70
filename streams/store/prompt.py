"""The packed prompt as literal pieces between passages: their text is stored once, the prompt rebuilt byte-equal."""

from collections.abc import Sequence

_SHORTEST = 32
"""Passages below this many characters stay in the literal piece: a reference would save nothing."""


def cut_prompt(prompt: str, passages: Sequence[str]) -> tuple[list[str], list[int]]:
    """Pieces and passage indices of ``prompt``: ``pieces[0] + passages[indices[0]] + pieces[1] + …``.

    From left to right, the next occurrence of any passage is cut out, the longest one where several begin.
    """
    pieces: list[str] = []
    indices: list[int] = []
    found = {index: prompt.find(text) for index, text in enumerate(passages) if len(text) >= _SHORTEST}
    at = 0
    while True:
        for index, start in found.items():
            if 0 <= start < at:
                found[index] = prompt.find(passages[index], at)
        ahead = [(start, -len(passages[index]), index) for index, start in found.items() if start >= 0]
        if not ahead:
            return [*pieces, prompt[at:]], indices
        start, _, index = min(ahead)
        pieces.append(prompt[at:start])
        indices.append(index)
        at = start + len(passages[index])


def join_prompt(pieces: Sequence[str], indices: Sequence[int], passages: Sequence[str]) -> str:
    """The prompt that ``cut_prompt`` took apart."""
    parts = [pieces[0]] if pieces else []
    for index, piece in zip(indices, pieces[1:], strict=True):
        parts += [passages[index], piece]
    return "".join(parts)
