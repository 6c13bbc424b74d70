"""Parts running text of scripts without sentence marks at their spaces.

The rule is linear and looks at one space at a time. In Thai and Lao a space ends a claim when letters of the script
stand on both sides and

- a final particle (ครับ, ค่ะ) stands before it, or
- the claim has at least 30 characters so far and the next word does not go on with it (และ, ที่, เพราะ: the section
  ``continuers`` of the lexicon), nor does a repetition sign (ๆ) stand before it.

In these and in Burmese, Khmer and Tibetan, whose marks are often left out, any space ends a claim of more than 160
characters. There is no cut without a space, because it could tear a word, and none that leaves less than 10 characters.
"""

import re
from collections.abc import Iterator

from detectors.claims.scripts import CLAUSE_SCRIPTS, UNMARKED_SCRIPTS
from detectors.lexicon import load_lexicon

_LETTER = re.compile(f"[{UNMARKED_SCRIPTS}]")
_CLAUSE_LETTER = re.compile(f"[{CLAUSE_SCRIPTS}]")
_SPACES = re.compile(r"\s+")
_OPEN_SIGNS = frozenset("ๆฯ,;:(（“\"'")
_CLAUSE_CHARS = 30
_PARTICLE_CHARS = 8
_LONG_CHARS = 160
_LEAST_CHARS = 10


def clause_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the clauses of one sentence, in order; the whole when its script sets marks."""
    if text.isascii() or _LETTER.search(text, start, end) is None:
        yield start, end
        return
    position = start
    for gap in _SPACES.finditer(text, start, end):
        if end - gap.end() < _LEAST_CHARS:
            break
        if _is_cut(text, position, gap):
            yield position, gap.start()
            position = gap.end()
    yield position, end


def _is_cut(text: str, start: int, gap: re.Match[str]) -> bool:
    length = gap.start() - start
    left, right = text[gap.start() - 1], text[gap.end()]
    if length > _LONG_CHARS:
        return _LETTER.match(left) is not None or _LETTER.match(right) is not None
    if not _CLAUSE_LETTER.match(left) or not _CLAUSE_LETTER.match(right):
        return False
    lexicon = load_lexicon()
    if length >= _PARTICLE_CHARS and text.endswith(lexicon.final_particles, start, gap.start()):
        return True
    return (
        length >= _CLAUSE_CHARS
        and left not in _OPEN_SIGNS
        and not text.startswith(lexicon.continuers, gap.end(), gap.end() + 24)
    )
