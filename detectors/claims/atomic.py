"""Parts a sentence that states several things, by rules on its words; in doubt it stays whole.

A part that loses what limits it would be judged wrongly, so sentences with a condition, a choice or a comparison are
never parted. The rules know English; sentences without English joints stay whole.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from detectors.claims.parts import Part
from detectors.claims.predicates import finite_places, is_finite, is_past, joint_words
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
_CUES = {("such", "as"), ("consists", "of"), ("consist", "of"), ("categories", "of")}


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
    if len(left) < _FEWEST_PREDICATE_WORDS or not right or joint.kind == "comma":
        return None
    if joint.kind == "relative":
        return _relative(left, right, is_last=after == len(sentence))
    verbs = finite_places(left)
    if verbs and _opens_clause(right, has_comma=joint.kind != "and"):
        return "clause", ""
    if verbs and _opens_predicate(left, verbs[0], right):
        own = subject or _subject(left, verbs[0])
        return ("predicate", own) if own else None
    return _figure(sentence, start, joint, right) if verbs else None


def _words(sentence: str, start: int, end: int) -> list[str]:
    return _WORD.findall(sentence, start, end)


def _opens_clause(words: Sequence[str], *, has_comma: bool) -> bool:
    """``the fee is``, ``it costs``, ``Anna runs``: words that can be a subject, then a finite verb.

    Behind a comma any word may be the subject, if the verb follows at once: ``, and reservations are accepted``.
    """
    first = words[0].lower()
    if len(words) < _FEWEST_WORDS or first == "that" or is_finite(first):
        return False
    is_subject = first in joint_words("openers") or words[0][0].isupper()
    reach = (
        _OPENING_WORDS if is_subject else _FEWEST_WORDS if has_comma and first not in joint_words("prepositions") else 0
    )
    verbs = [place for place in finite_places(words[:reach]) if place > 0]
    return any(words[place + 1 : place + 2] not in (["by"], ["in"], []) for place in verbs)


def _opens_predicate(left: Sequence[str], verb: int, words: Sequence[str]) -> bool:
    """Another verb for the subject of ``left``, whose own verb has an object already.

    A form in "ed" behind "is" or "has" belongs to these, and opens none.
    """
    first = words[0].lower()
    rest = words[1:] if first in joint_words("adverbs") or first.endswith("ly") else words
    if len(rest) < _FEWEST_PREDICATE_WORDS or verb + 1 >= len(left):
        return False
    own, other = left[verb].lower(), rest[0].lower()
    if is_past(other):
        return own not in joint_words("be") and is_past(own)
    return is_finite(other) or (other in joint_words("plural") and own in joint_words("plural"))


def _subject(words: Sequence[str], verb: int) -> str:
    """The words before the first finite verb; empty when there are none or too many."""
    return " ".join(words[:verb]) if 0 < verb <= _SUBJECT_WORDS else ""


def _relative(left: Sequence[str], right: Sequence[str], *, is_last: bool) -> tuple[str, str] | None:
    """``…, which is open daily`` at the end of a sentence, with what it says something about.

    Behind "of" it may be the thing or what it is part of, so there it stays.
    """
    if not is_last or len(left) < _FEWEST_WORDS or not finite_places(right[:4]):
        return None
    low = [word.lower() for word in left]
    place = max(
        (at for at, word in enumerate(low) if is_finite(word) or word in joint_words("prepositions")), default=-1
    )
    antecedent = left[place + 1 :]
    is_safe = 0 < len(antecedent) <= _ITEM_WORDS and (place < 0 or low[place] != "of")
    return ("relative", " ".join(antecedent)) if is_safe else None


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
    low = [word.group().lower() for word in words]
    cue = max((at for at in range(len(low)) if _is_cue(low, at)), default=-1)
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


def _is_cue(words: Sequence[str], at: int) -> bool:
    return words[at] in joint_words("cues") or tuple(words[max(0, at - 1) : at + 1]) in _CUES


def _items(sentence: str, joints: Sequence[_Joint]) -> Iterator[tuple[int, int]]:
    start = 0
    for joint in joints:
        yield start, joint.start
        start = joint.end
    yield start, len(sentence)
