"""What the messages are, and why some are not read."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from streams.attach.reading import Seen, share
from streams.attach.report import Form, Problem
from streams.messages import Message

MAX_DETAIL_CHARS = 300


def forms(seen: Sequence[Seen]) -> tuple[Form, ...]:
    """One row for each encoding and set of conventions, the most frequent first."""
    groups: dict[tuple[str, tuple[str, ...], str, bool], list[Seen]] = defaultdict(list)
    for one in seen:
        groups[one.encoding, one.conventions, one.layer, one.is_read].append(one)
    rows = [
        Form(
            encoding=encoding,
            conventions=conventions,
            layer=layer,
            is_read=is_read,
            messages=len(group),
            share=share(len(group), len(seen)),
            spans=sum(len(one.decoded.spans) for one in group),
            traces=sum(len(one.decoded.traces) for one in group),
            ignored=sum(one.decoded.ignored for one in group),
            example=position(group[0].message),
        )
        for (encoding, conventions, layer, is_read), group in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.messages, row.encoding, row.conventions)))


def problems(seen: Sequence[Seen], fixes: Mapping[str, str]) -> tuple[Problem, ...]:
    """One row for each reason, with the first message that has it; ``fixes`` by reason."""
    groups: dict[str, list[tuple[Seen, str]]] = defaultdict(list)
    for one in seen:
        for reason, detail in {problem.reason: problem.detail for problem in reversed(one.decoded.problems)}.items():
            groups[reason].append((one, detail))
    rows = [
        Problem(
            reason=reason,
            messages=len(group),
            share=share(len(group), len(seen)),
            detail=group[0][1][:MAX_DETAIL_CHARS],
            example=position(group[0][0].message),
            fix=fixes.get(reason, ""),
        )
        for reason, group in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.messages, row.reason)))


def position(message: Message) -> str:
    """``topic/partition/offset``; of a file the line takes the offset's place."""
    return f"{message.topic}/{message.partition}/{message.offset}"
