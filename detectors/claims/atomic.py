"""Parts a sentence that states several things, by rules on its words; in doubt it stays whole.

A part that loses what limits it would be judged wrongly, so sentences with a condition, a choice or a comparison are
never parted. The rules know English; sentences without English joints stay whole.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from detectors.claims.parts import Part
from detectors.claims.predicates import is_finite, joint_words
from detectors.claims.quotes import Enclosure, enclosed_spans

_WORD = re.compile(r"[$€£¥]?\w[\w'’.,:%/-]*\w%?|[$€£¥]?\w%?")
_JOINT = re.compile(
    r"(?P<semicolon>;\s+(?:and\s+|but\s+|however,?\s+)?)"
    r"|,\s+(?P<relative>which|who|whose|where)\s+"
    r"|(?P<comma>,)?\s+(?P<conjunction>and|but|while|whereas|yet|as well as)\s+(?P<also>also\s+|then\s+|therefore\s+)?"
    r"|(?P<plain>,)\s+"
)
_WHOLE = re.compile(
    r"\b(?:if|unless|whether|when|whenever|once|until|either|neither|nor|both|between|respectively|than|rather|"
    r"not only|so that|such that|in order)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"[$€£¥]?\d[\d.,]*%?")
_QUANTITY = re.compile(
    r"(?:hours?|hrs?|minutes?|mins?|seconds?|days?|weeks?|months?|years?|feet|foot|inch(?:es)?|pounds?|lbs?|ounces?|"
    r"stone|km|miles?|meters?|metres?|half|halves|quarters?|thirds?)\b",
    re.IGNORECASE,
)
_END_SIGNS = " \t\n,;:"
_MOST_CHARS = 1500
"""Longer sentences are lists of another kind, and stay whole."""
_MOST_JOINTS = 40
_FEWEST_WORDS = 3
_FEWEST_PREDICATE_WORDS = 2
_SUBJECT_WORDS = 10
_OPENING_WORDS = 7
_ITEM_WORDS = 7
_ITEMS = 3


@dataclass(frozen=True, slots=True)
class _Joint:
    """Where a sentence may be parted: the first part ends at ``start``, the next begins at ``end``."""

    start: int
    end: int
    kind: str


def atomic_parts(sentence: str) -> list[Part]:
    """The parts of a sentence in order, none when it is to stay whole; what lies between them is joints and signs.

    Rules: ``clause`` (a statement with a subject of its own behind a joint), ``predicate`` (another thing said of the
    same subject), ``relative`` (a clause with *which* or *who* at the end), ``figure`` (a second figure for something
    else), ``list`` (three things or more behind a word that opens a list). Time is linear in the sentence's length.
    """
    if len(sentence) > _MOST_CHARS or _WHOLE.search(sentence):
        return []
    joints = _joints(sentence)
    if not joints:
        return []
    listed = _list_parts(sentence, joints)
    if listed:
        return listed
    parts: list[Part] = []
    start, subject, rule = 0, "", ""
    for place, joint in enumerate(joints):
        after = joints[place + 1].start if place + 1 < len(joints) else len(sentence)
        found = _cut(sentence, start, subject, joint, after)
        if found is None:
            continue
        parts.append(Part(start, joint.start, subject, rule))
        start, (rule, subject) = joint.end, found
    if not parts:
        return []
    parts.append(Part(start, len(sentence), subject, rule))
    return [Part(part.start, part.end, part.subject, part.rule or parts[1].rule) for part in parts]


def _joints(sentence: str) -> list[_Joint]:
    enclosure = Enclosure(enclosed_spans(sentence, 0, len(sentence)))
    found: list[_Joint] = []
    for match in _JOINT.finditer(sentence):
        if next(enclosure.around(match.start(), match.end()), None) is not None:
            continue
        kind = match.lastgroup or ""
        if match.group("relative"):
            found.append(_Joint(match.start(), match.start("relative"), "relative"))
        elif match.group("semicolon"):
            found.append(_Joint(match.start(), match.end(), "semicolon"))
        elif match.group("conjunction"):
            found.append(_Joint(match.start(), match.end(), "comma and" if match.group("comma") else "and"))
        elif kind == "plain":
            found.append(_Joint(match.start(), match.end(), "comma"))
    return found if len(found) <= _MOST_JOINTS else []


def _cut(sentence: str, start: int, subject: str, joint: _Joint, after: int) -> tuple[str, str] | None:
    """The rule by which a joint parts the sentence and the subject of what follows; None where it does not."""
    left = _words(sentence, start, joint.start)
    right = _words(sentence, joint.end, after)
    if len(left) < _FEWEST_PREDICATE_WORDS or not right:
        return None
    if joint.kind == "relative":
        return _relative(left, right, is_last=after == len(sentence))
    if joint.kind == "comma":
        return None
    has_verb = any(map(is_finite, left))
    if has_verb and len(right) >= _FEWEST_WORDS and _opens_clause(right):
        return "clause", ""
    if has_verb and _opens_predicate(right):
        own = subject or _subject(left)
        return ("predicate", own) if own else None
    return _figure(sentence, start, joint, right) if has_verb else None


def _words(sentence: str, start: int, end: int) -> list[str]:
    return _WORD.findall(sentence, start, end)


def _opens_clause(words: Sequence[str]) -> bool:
    """``the fee is``, ``it costs``, ``Anna runs``: words that can be a subject, then a finite verb."""
    first = words[0]
    if is_finite(first.lower()) or not (first.lower() in joint_words("openers") or first[0].isupper()):
        return False
    return any(is_finite(word.lower()) for word in words[1:_OPENING_WORDS])


def _opens_predicate(words: Sequence[str]) -> bool:
    rest = words[1:] if words[0].lower() in joint_words("adverbs") or words[0].lower().endswith("ly") else words
    return len(rest) > 1 and is_finite(rest[0].lower())


def _subject(words: Sequence[str]) -> str:
    """The words before the first finite verb; empty when there are none or too many."""
    place = next((at for at, word in enumerate(words) if is_finite(word.lower())), 0)
    return " ".join(words[:place]) if 0 < place <= _SUBJECT_WORDS else ""


def _relative(left: Sequence[str], right: Sequence[str], *, is_last: bool) -> tuple[str, str] | None:
    """``…, which is open daily`` at the end of a sentence, with what it says something about."""
    if not is_last or len(left) < _FEWEST_WORDS or not any(is_finite(word.lower()) for word in right[1:4]):
        return None
    place = max(
        (at for at, word in enumerate(left) if is_finite(word.lower()) or word.lower() in joint_words("prepositions")),
        default=-1,
    )
    antecedent = left[place + 1 :]
    return ("relative", " ".join(antecedent)) if 0 < len(antecedent) <= _ITEM_WORDS else None


def _figure(sentence: str, start: int, joint: _Joint, right: Sequence[str]) -> tuple[str, str] | None:
    """``costs $5 for adults and $3 for children``: another figure for something else, said with the same words."""
    figure = _FIGURE.search(sentence, start, joint.start)
    if figure is None or not _FIGURE.fullmatch(right[0]):
        return None
    between = _words(sentence, figure.end(), joint.start)
    if len(between) < _FEWEST_PREDICATE_WORDS or len(right) < _FEWEST_WORDS:
        return None
    if _QUANTITY.match(between[-1]) or _QUANTITY.match(right[1]):
        return None
    lead = _words(sentence, start, figure.start())
    return ("figure", " ".join(lead)) if 0 < len(lead) <= _SUBJECT_WORDS else None


def _list_parts(sentence: str, joints: Sequence[_Joint]) -> list[Part]:
    """``The box holds a cable, a plug and two screws.``; the whole rest of the sentence must be the list."""
    if joints[-1].kind not in {"and", "comma and"} or any(joint.kind in {"relative", "semicolon"} for joint in joints):
        return []
    first = _WORD.finditer(sentence, 0, joints[0].start)
    words = list(first)
    cue = max((at for at, word in enumerate(words) if word.group().lower() in joint_words("cues")), default=-1)
    if cue < 0 or cue + 1 >= len(words) or cue >= _SUBJECT_WORDS + 2:
        return []
    lead = sentence[: words[cue].end()]
    spans = list(_items(sentence, joints))
    contents = [
        _words(sentence, words[cue + 1].start() if at == 0 else start, end) for at, (start, end) in enumerate(spans)
    ]
    is_list = len(spans) >= _ITEMS and all(
        0 < len(item) <= _ITEM_WORDS and not any(is_finite(word.lower()) for word in item) for item in contents
    )
    if not is_list:
        return []
    return [
        Part(start, end, "" if at == 0 else " ".join(lead.split()), "list") for at, (start, end) in enumerate(spans)
    ]


def _items(sentence: str, joints: Sequence[_Joint]) -> Iterator[tuple[int, int]]:
    start = 0
    for joint in joints:
        yield start, joint.start
        start = joint.end
    yield start, len(sentence)
