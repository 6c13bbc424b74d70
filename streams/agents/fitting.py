"""Sending what may be larger than the broker takes: a whole record first, then shorter forms of it, never nothing.

A record that the broker refuses would be sent again for ever and stop the stream behind it.
"""

from collections.abc import Callable, Sequence

from schemas.draw import DrawnTrace
from schemas.errors import RowRejected
from schemas.span import Span
from schemas.trace import Trace
from schemas.verdict import ClaimVerdict, Verdict
from streams.broker.publisher import Outgoing, Publisher, record_message

Forms = Sequence[Callable[[], Outgoing]]
"""The same record from whole to shortest; each is made only when the one before is too large."""
_FRAMING_BYTES = 1_000
_SPAN_FRAME = ("trace_id", "span_id", "parent_id", "kind", "start", "end", "said_at", "versions", "decoder", "source")


async def send_fitting(publisher: Publisher, topic: str, records: Sequence[Forms], max_bytes: int) -> int:
    """Send each record in its first form that fits and say how many were shortened.

    ``max_bytes`` is our own limit; where the broker's is lower, records go one by one and the broker decides. Raises
    BrokerUnavailable, or RowRejected when even the shortest form is refused.
    """
    chosen = [_first_fitting(forms, max_bytes) for forms in records]
    try:
        await publisher.send(topic, [outgoing for _, outgoing in chosen])
    except RowRejected:  # it does not say which one
        places = [
            await _send_one(publisher, topic, forms[place:]) + place
            for forms, (place, _) in zip(records, chosen, strict=True)
        ]
    else:
        places = [place for place, _ in chosen]
    return sum(place > 0 for place in places)


def size_bytes(outgoing: Outgoing) -> int:
    """About what the record takes in a batch before compression."""
    headers = sum(len(name) * 4 + len(value) for name, value in outgoing.headers)
    return len(outgoing.value or b"") + len(outgoing.key or b"") + headers + _FRAMING_BYTES


def drawn_forms(row: DrawnTrace) -> Forms:
    """Whole; without what ingest found, which verify works out again; at last without its texts.

    The verdict on the last form is ``unresolved:truncated``: the trace is stored whole, but nobody judges it, and it
    is counted among the drawn ones.
    """

    def bare() -> DrawnTrace:
        screening = row.screening.model_copy(update={"claims": (), "judgements": ()})
        return row.model_copy(update={"screening": screening})

    def empty() -> DrawnTrace:
        return bare().model_copy(update={"trace": _without_texts(row.trace)})

    key = row.trace.trace_id
    return [
        lambda: record_message(key, row),
        lambda: record_message(key, bare()),
        lambda: record_message(key, empty()),
    ]


def span_forms(span: Span) -> Forms:
    """Whole; at last without its texts, flagged as cut: its trace is then ``unresolved:truncated`` where it matters."""

    def empty() -> Span:
        kept = {name: getattr(span, name) for name in _SPAN_FRAME}
        return Span.model_construct(**kept, flags=(*span.flags, "truncated"))

    return [lambda: record_message(span.trace_id, span), lambda: record_message(span.trace_id, empty())]


def verdict_forms(verdict: Verdict) -> Forms:
    """Whole; without the quoted evidence; at last without claims, hops and what became of each layer.

    Outcome, failures and cost are always kept.
    """

    def unquoted() -> Verdict:
        claims = tuple(_unquoted(claim) for claim in verdict.claims)
        hops = tuple(hop.model_copy(update={"worst": "", "worst_why": "", "evidence": ""}) for hop in verdict.hops)
        return verdict.model_copy(update={"claims": claims, "hops": hops})

    def bare() -> Verdict:
        left_out = {"claims": (), "findings": (), "seen": (), "hops": (), "routing": (), "consistency": None}
        return verdict.model_copy(update=left_out)

    key = verdict.trace_id
    return [
        lambda: record_message(key, verdict),
        lambda: record_message(key, unquoted()),
        lambda: record_message(key, bare()),
    ]


def _unquoted(claim: ClaimVerdict) -> ClaimVerdict:
    return claim.model_copy(update={"evidence": None})


def _without_texts(trace: Trace) -> Trace:
    """What places the trace (id, time, slice, versions, position), and the flag that nothing else is left of it."""
    kept = ("trace_id", "ts", "intent", "tier", "tenant", "versions", "source", "decoder", "revision")
    fields = {name: getattr(trace, name) for name in kept}
    return Trace.model_construct(**fields, flags=(*trace.flags, "truncated"))


def _first_fitting(forms: Forms, max_bytes: int) -> tuple[int, Outgoing]:
    last = len(forms) - 1
    for place, form in enumerate(forms[:last]):
        outgoing = form()
        if size_bytes(outgoing) <= max_bytes:
            return place, outgoing
    return last, forms[last]()


async def _send_one(publisher: Publisher, topic: str, forms: Forms) -> int:
    last = len(forms) - 1
    for place, form in enumerate(forms[:last]):
        try:
            await publisher.send(topic, [form()])
        except RowRejected:
            continue
        return place
    await publisher.send(topic, [forms[last]()])
    return last
