"""Reads what an answer says about its own sources: footnotes, link definitions, and lists under "Sources".

An entry that makes a statement is no mere source: it stays outside the spans, or a claim could hide in a footnote.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from detectors.lexicon import load_lexicon

_LINE = re.compile(r"[^\n\r\x0b\x0c\x85\u2028\u2029]+")
_DEFINITION = re.compile(r"\s{0,8}(?:>\s?)?(?:[-*•]\s)?\[\^?([^\[\]\n]{1,40})\]\s?:\s*(.*)")
_MARK = re.compile(
    r"[\s>]{0,12}(?:(?:[-*+–—•‣◦▪·]\s{1,4})?(?:\[\^?([^\[\]\n]{1,40})\]|【(\d{1,3})[^【】\n]{0,20}】|(\d{1,3})[.)．）]\s|"
    r"\((\d{1,3})\)\s|([¹²³⁰⁴-⁹]{1,3})|<sup>(\d{1,3})</sup>)|[-*+–—•‣◦▪·]\s)[:.]?\s{0,8}"
)
_RAISED = re.compile("[【¹²³⁰⁴-⁹]")
_FROM_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LABELLED = re.compile(r"[\[【]\^?(\d{1,3})[^\[\]【】\n]{0,20}[\]】]\s?[:.]?\s?([^\[\]【】\n]{0,200})")
_LABEL = re.compile(r"\[\^?([^\[\]\n]{1,40})\]|[¹²³⁰⁴-⁹]{1,3}")
_ENDS = re.compile(r"[.!?…。！？।؟]\W{0,3}$")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S{1,2000}", re.IGNORECASE)
_MARKUP = " \t*_#>`~-–—•📚🔗📖:："
_LONGEST_ENTRY = 240
_HEADING_CHARS = 60
_LEAST_WORDS = 4
_TITLE_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Sources:
    """``spans``: where the answer only names sources. ``definitions``: what a label stands for, by label.

    ``entries`` are texts that name a source without a label, each with where it begins.
    """

    spans: tuple[tuple[int, int], ...] = ()
    definitions: tuple[tuple[str, str], ...] = ()
    entries: tuple[tuple[int, str], ...] = ()

    @property
    def by_label(self) -> dict[str, str]:
        """The first definition of each label, lower-cased."""
        return dict(reversed([(label.casefold(), text) for label, text in self.definitions]))


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str
    is_after_blank: bool


def source_list_spans(answer: str) -> tuple[tuple[int, int], ...]:
    """Spans of lists of sources and of footnote definitions, in order; statements among them are left out."""
    return read_sources(answer).spans


def read_sources(answer: str) -> Sources:
    """What the answer says about its sources; linear in its length."""
    if not _has_label_or_heading(answer):
        return Sources()
    lines = list(_lines(answer))
    spans: list[tuple[int, int]] = []
    definitions: list[tuple[str, str]] = []
    entries: list[tuple[int, str]] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        rest = _after_heading(line.text)
        after = number + 1
        if rest is not None:
            after = _list_end(lines, number, has_rest=bool(rest))
        if after > number + 1 or (rest and _names_source(rest)):
            spans.append((line.start, line.end))
            found = list(_labelled(rest or ""))
            definitions += found
            entries += [] if found or not rest else [(line.end - len(rest), part) for part in _parted(rest)]
            for item in lines[number + 1 : after]:
                label, text = _entry(item.text)
                spans.append((item.start, item.end))
                definitions += [(label, text)] if label and text else []
                entries.append((item.start, text)) if text else None
        else:
            definition = _DEFINITION.match(line.text)
            if definition is not None and definition.group(2).strip():
                definitions.append((definition.group(1), definition.group(2).strip()))
                spans += [] if _makes_statement(definition.group(2)) else [(line.start, line.end)]
        number = after
    return _with_tail(answer, lines, Sources(tuple(spans), tuple(definitions), tuple(entries)))


def _has_label_or_heading(answer: str) -> bool:
    """A cheap test for what most answers have none of."""
    if "[" in answer or "<sup>" in answer or (not answer.isascii() and _RAISED.search(answer)):
        return True
    return any(_after_heading(line.strip()) is not None for line in _LINE.findall(answer))


def _with_tail(answer: str, lines: Sequence[_Line], found: Sources) -> Sources:
    """The last lines ``[1] Returns policy`` without a heading, where a text above them cites ``[1]``."""
    covered = {start for start, _ in found.spans}
    first = len(lines)
    while first > 0 and lines[first - 1].start not in covered and _is_bare_entry(lines[first - 1].text):
        first -= 1
    tail = lines[first:]
    if not tail or first == 0:
        return found
    cited = {
        (match.group(1) or match.group()).translate(_FROM_RAISED) for match in _LABEL.finditer(answer, 0, tail[0].start)
    }
    labelled = [(line, *_entry(line.text)) for line in tail]
    if cited.isdisjoint(label for _, label, _ in labelled):
        return found
    return Sources(
        found.spans + tuple((line.start, line.end) for line, _, _ in labelled),
        found.definitions + tuple((label, text) for _, label, text in labelled),
        found.entries,
    )


def _is_bare_entry(text: str) -> bool:
    mark = _MARK.match(text)
    has_label = mark is not None and mark.group(3) is None and mark.group(4) is None and mark.lastindex is not None
    return has_label and bool(_entry(text)[1]) and not _makes_statement(_entry(text)[1])


def _lines(answer: str) -> Iterator[_Line]:
    last = 0
    for match in _LINE.finditer(answer):
        if match.group().strip():
            gap = answer[last : match.start()]
            is_after_blank = gap.count("\n") > 1 or gap.count("\r") > 1
            yield _Line(match.start(), match.end(), match.group().strip(), is_after_blank)
            last = match.end()


def _after_heading(text: str) -> str | None:
    """What follows a heading such as ``**Sources:**`` on its line, None when the line opens with none."""
    head, sign, _ = text[:_HEADING_CHARS].partition(":")
    if not sign:
        head, sign, _ = text[:_HEADING_CHARS].partition("：")
    if not sign and len(text) > _HEADING_CHARS:
        return None
    if " ".join(head.strip(_MARKUP).casefold().split()) not in load_lexicon().source_headings:
        return None
    return text[len(head) + 1 :].strip(_MARKUP) if sign else ""


def _list_end(lines: Sequence[_Line], number: int, *, has_rest: bool) -> int:
    """Index after the last entry below the heading at ``number``; statements end the list."""
    after = number + 1
    while after < len(lines):
        line = lines[after]
        is_marked = _MARK.match(line.text) is not None or _ADDRESS.match(line.text) is not None
        is_near = is_marked or not line.is_after_blank or (after == number + 1 and not has_rest)
        if not is_near or line.text.startswith("#") or _makes_statement(_entry(line.text)[1]):
            break
        if not is_marked and (has_rest or _ENDS.search(line.text) or len(line.text) > _LONGEST_ENTRY // 2):
            break
        after += 1
    return after


def _names_source(rest: str) -> bool:
    return not _makes_statement(rest)


def _entry(text: str) -> tuple[str, str]:
    """Label (empty for a mere bullet) and text of a line."""
    mark = _MARK.match(text)
    if mark is None:
        return "", text
    label = next((group for group in mark.groups() if group), "").translate(_FROM_RAISED)
    rest = text[mark.end() :].strip()
    inner = _LABELLED.match(rest) if not label else None
    return (inner.group(1), inner.group(2).strip()) if inner else (label, rest)


def _labelled(text: str) -> Iterator[tuple[str, str]]:
    for match in _LABELLED.finditer(text):
        named = match.group(2).strip(" ,;.·|-–")
        if named:
            yield match.group(1), named


def _parted(rest: str) -> list[str]:
    return [part for raw in re.split(r"[,;|，；、]| and | und | et | y ", rest) if (part := raw.strip(" .[]()*_"))]


def _makes_statement(text: str) -> bool:
    """Whether an entry says something: too long for a title, or a sentence with a verb.

    Questions and words with capitals are titles; beside an address it takes more words, since titles have verbs too.
    """
    if len(text) > _LONGEST_ENTRY:
        return True
    lexicon = load_lexicon()
    words = [plain for word in _ADDRESS.sub("", text).split() if (plain := word.strip(".,;:!?\"'()[]*_"))]
    least = _LEAST_WORDS if _ADDRESS.search(text) is None else 2 * _LEAST_WORDS
    if len(words) < least or words[0].lower() in lexicon.question_words:
        return False
    is_title = sum(word[:1].isupper() for word in words) >= _TITLE_SHARE * len(words)
    return not is_title and not lexicon.verbs.isdisjoint(word.lower() for word in words)
