"""An answer and its context as a span tagger reads them: in one pass, or in several where one is too long."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from detectors.models.premises import Context
from detectors.models.tokens import TextEncoder
from schemas.claim import CheckItem

_QUESTION = (
    "Briefly answer the following question:\n{question}\nBear in mind that your response should be strictly based on "
    "the following {count} passages:\n{passages}\nIn case the passages do not contain the necessary information to "
    'answer the question, please reply with: "Unable to answer based on given passages."\noutput:'
)
_SUMMARY = "Summarize the following text:\n{passages}\noutput:"
"""The published prompts: RAGTruth's, on which the models were trained."""
_LINE = "passage {}: {}"
_LINE_TOKENS = 8

Place = tuple[int, int, int]
"""Number of a claim, its first and its last character."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of an answer that is read at once, and where the claims stand in it."""

    text: str
    claims: Sequence[Place]


def written(question: str, passages: Sequence[str]) -> str:
    """Context and question as the published models read them; without a question, as a text to summarise."""
    lines = "\n".join(_LINE.format(number, text) for number, text in enumerate(passages, 1))
    if not question.strip():
        return _SUMMARY.format(passages=lines)
    return _QUESTION.format(question=question, count=len(passages), passages=lines)


def parts(item: CheckItem, encoder: TextEncoder, most: int) -> list[Part]:
    """The whole answer, or, above ``most`` tokens, stretches of whole claims.

    A claim that does not stand in the answer where it says so is read by itself. No claim is ever cut, so a part of
    one claim may be longer than ``most``.
    """
    inside: list[Place] = []
    apart: list[Part] = []
    for number, claim in enumerate(item.claims):
        if claim.is_factual and item.answer[claim.start : claim.end] == claim.text:
            inside.append((number, claim.start, claim.end))
        elif claim.is_factual:
            text = encoder.clean(claim.statement)
            apart.append(Part(text, [(number, 0, len(text))]))
    answer = encoder.clean(item.answer)
    if inside and encoder.length(answer) <= most:
        return [*apart, Part(answer, inside)]
    return [*apart, *_stretches(answer, sorted(inside, key=lambda place: place[1:]), encoder, most)]


def groups(context: Context, encoder: TextEncoder, room: int, overlap: int) -> Iterator[list[str]]:
    """Passages that are read together, in order; one above ``room`` tokens is cut into windows that overlap."""
    most = max(1, room - _LINE_TOKENS)
    group: list[str] = []
    left = room
    for number in context.in_force:
        for text in encoder.windows(context.indexed[number][1], most, min(overlap, most // 2)):
            tokens = encoder.length(text) + _LINE_TOKENS
            if group and tokens > left:
                yield group
                group, left = [], room
            group.append(text)
            left -= tokens
    yield group


def _stretches(answer: str, places: Sequence[Place], encoder: TextEncoder, most: int) -> Iterator[Part]:
    run: list[Place] = []
    for place in places:
        if run and encoder.length(answer[run[0][1] : _end([*run, place])]) > most:
            yield _stretch(answer, run)
            run = []
        run.append(place)
    if run:
        yield _stretch(answer, run)


def _stretch(answer: str, run: Sequence[Place]) -> Part:
    begin = run[0][1]
    return Part(answer[begin : _end(run)], [(number, start - begin, end - begin) for number, start, end in run])


def _end(run: Sequence[Place]) -> int:
    return max(end for _, _, end in run)
