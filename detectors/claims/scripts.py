"""What the splitter must know about writing systems: which set no spaces, which set no marks, what ends a sentence."""

import re

MARKS = "!?…。！？｡．؟۔।॥։።፧፨။។៕།༎܀܁܂᠃᠉߹෴᱾᱿꛳꘎꧈꧉᭚᭛᭞᭟꩝꩞꩟꯫᙮꤯᥄᥅᪨᪩᪪᪫᜵᜶‼‽⁇⁈⁉"
"""Signs that end a sentence, the full stop apart (Unicode's Sentence_Terminal and what is used like it)."""
ALWAYS = frozenset("؟۔।॥։።፧፨။។៕།༎܀܁܂᠃᠉߹෴᱾᱿꛳꘎꧈꧉᭚᭛᭞᭟꩝꩞꩟꯫᙮꤯᥄᥅᪨᪩᪪᪫᜵᜶")
"""Marks of scripts without capitals: they end a sentence whatever follows."""
UNSPACED = frozenset("。！？｡．；")
"""Marks of scripts that set no space after a sentence."""
CLAUSE_SCRIPTS = "\u0e00-\u0eff"
"""Thai and Lao: no marks at all, spaces part clauses."""
UNMARKED_SCRIPTS = CLAUSE_SCRIPTS + "\u1000-\u109f\u1780-\u17ff\u0f00-\u0fff"
"""With Burmese, Khmer and Tibetan, which have marks that are often left out."""
COMBINING = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff\u0e31-\u0eff\u1000-\u109f\u1780-\u17ff"
)
r"""Ranges with signs that belong to words although ``\w`` does not hold them."""

_CJK = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]")
_UNSPACED = re.compile(
    f"[{UNMARKED_SCRIPTS}\u3001-\u3011\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff9f\U00020000-\U0003ffff]"
)
_VERBLESS = re.compile("[\u0400-\u052f\u0590-\u08ff]")


def is_cjk(char: str) -> bool:
    """Whether the character is a Chinese or Japanese letter; Korean is written with spaces."""
    return _CJK.match(char) is not None


def is_unspaced(char: str) -> bool:
    """Whether the character belongs to a script without spaces between words."""
    return _UNSPACED.match(char) is not None


def is_cased(char: str) -> bool:
    """Whether the character belongs to a script with capitals, in languages whose sentences need a verb."""
    return char.lower() != char.upper() and _VERBLESS.match(char) is None


def count_words(text: str) -> int:
    """Words; in scripts without spaces two characters count as one."""
    return len(text.split()) + sum(map(is_unspaced, text)) // 2
