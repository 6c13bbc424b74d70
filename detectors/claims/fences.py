"""Finds fenced code; a fence that nothing closes opens no code, or the rest of an answer would never be split."""

import re
from collections.abc import Sequence

# only a bare fence with one word at most: text on the line of a fence is text, or claims could hide there
_FENCE = re.compile(r"(`{3,}|~{3,})([\w+#.-]{0,30})\Z")


def code_lines(lines: Sequence[str]) -> tuple[frozenset[int], frozenset[int]]:
    """Numbers of the lines that are fences, and of those inside a fenced block; lines come stripped.

    A block ends at the next bare fence of the same sign that is at least as long, as CommonMark 4.5 has it.
    """
    found = [(number, match.group(1), match.group(2)) for number, text in enumerate(lines) if (match := _match(text))]
    longest = _longest_after(found)
    code: list[range] = []
    opened: tuple[int, str] | None = None
    for place, (number, sign, word) in enumerate(found):
        if opened is not None:
            if not word and sign[0] == opened[1][0] and len(sign) >= len(opened[1]):
                code.append(range(opened[0] + 1, number))
                opened = None
        elif longest[place][sign[0]] >= len(sign):
            opened = (number, sign)
    return frozenset(number for number, _, _ in found), frozenset(number for lines in code for number in lines)


def _match(text: str) -> re.Match[str] | None:
    return _FENCE.match(text) if text.startswith(("```", "~~~")) else None


def _longest_after(found: Sequence[tuple[int, str, str]]) -> list[dict[str, int]]:
    """For each fence the longest bare fence behind it, by sign."""
    longest = {"`": 0, "~": 0}
    after: list[dict[str, int]] = []
    for _, sign, word in reversed(found):
        after.append(longest)
        if not word:
            longest = {**longest, sign[0]: max(longest[sign[0]], len(sign))}
    return after[::-1]
