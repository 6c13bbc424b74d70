"""The hops of a trace as they are checked: their claims, and which texts of the context are sources of each.

Only the first hops and claims are checked, since what a later hop rests on must have been looked at before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from detectors.claims import split_claims
from detectors.newest import kept_passages
from detectors.preparation import Prepared
from detectors.structural.context import is_blank, is_redaction_marker
from schemas.claim import Claim
from schemas.labels import Outcome
from schemas.policy import ClaimSplitting
from schemas.trace import Hop, Passage, Trace

MAX_HOPS = 16
"""Hops of one answer that are checked."""
MAX_CLAIMS = 40
"""Claims of one hop that are judged."""
_LEAST_ECHO = 40
"""Shorter texts can be equal by chance, as when a tool confirms a number."""


@dataclass(frozen=True, slots=True)
class Step:
    """One hop; ``number`` is its place in the trace.

    ``claims`` are factual ones, ``sources`` places in the context of the whole trace, ``earlier`` places of the steps
    whose outputs it may rest on. ``outcome`` says why none of its claims is judged.
    """

    number: int
    hop: Hop
    claims: tuple[Claim, ...] = ()
    sources: tuple[int, ...] = ()
    earlier: tuple[int, ...] = ()
    left_out: int = 0
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """The hops of a trace that are checked.

    ``before_answer`` are the places of those that the answer may rest on; ``echoes`` the places in the context of texts
    that only repeat an earlier hop; ``hop_of`` the first hop that each text of the context was given to.
    """

    steps: tuple[Step, ...]
    left_out: int
    before_answer: tuple[int, ...]
    echoes: frozenset[int]
    hop_of: Mapping[int, int]


def read_steps(ready: Prepared, context: Sequence[Passage], way: ClaimSplitting, max_bytes: int) -> Steps:
    """The hops before the answer, and those after it; the one that wrote it is the answer's own and left out.

    All outputs together count up to ``max_bytes`` (UTF-8); a hop beyond is ``error:too_long``. Outdated versions of
    a document are no sources, as the newest one decides. Indices that point nowhere are passed over.
    """
    trace = ready.trace
    given = _given(trace)
    hop_of: dict[int, int] = {}
    for number, places in enumerate(given):
        for place in places:
            hop_of.setdefault(place, number)
    echoes = _echoes(trace, context, hop_of)
    kept = kept_passages(ready)
    fit = frozenset(range(len(context)) if kept is None else kept) - echoes
    answer = answer_hop(trace)
    others = [number for number in range(len(trace.hops)) if number != answer]
    steps: list[Step] = []
    usable: list[int] = []
    left = max_bytes
    for number in others[:MAX_HOPS]:
        hop = trace.hops[number]
        left -= len(hop.output.encode("utf-8", "replace"))
        sources = tuple(place for place in given[number] if place in fit)
        step = _step(number, hop, sources, tuple(usable), way) if left >= 0 else _too_long(number, hop)
        if step.claims:
            usable.append(len(steps))
        steps.append(step)
    before = tuple(place for place in usable if steps[place].number < answer)
    return Steps(tuple(steps), max(0, len(others) - MAX_HOPS), before, echoes, hop_of)


def answer_hop(trace: Trace) -> int:
    """The hop that wrote the answer; the number of hops where none did.

    It is the last one whose output is the answer; else the last of all where it wrote nothing of its own, or most of
    the answer, which the product then dressed.
    """
    answer = _folded(trace.answer or "")
    same = [number for number, hop in enumerate(trace.hops) if _folded(hop.output) == answer]
    if same:
        return same[-1]
    last = _folded(trace.hops[-1].output)
    is_dressed = answer in last or (last in answer and 2 * len(last) >= len(answer))
    return len(trace.hops) - 1 if not last or is_dressed else len(trace.hops)


def _step(number: int, hop: Hop, sources: tuple[int, ...], earlier: tuple[int, ...], way: ClaimSplitting) -> Step:
    if is_blank(hop.output):
        return Step(number, hop, outcome=Outcome.UNRESOLVED_NO_ANSWER)
    if is_redaction_marker(hop.output):
        return Step(number, hop, outcome=Outcome.UNRESOLVED_REDACTED)
    try:
        claims = tuple(claim for claim in split_claims(hop.output, way) if claim.is_factual)
    except Exception:  # noqa: BLE001 - text is hostile; whatever it breaks becomes an outcome, never a lost row
        return Step(number, hop, outcome=Outcome.ERROR_INTERNAL)
    outcome = None if sources or earlier else Outcome.UNRESOLVED_NO_CONTEXT
    kept = claims[:MAX_CLAIMS]
    return Step(number, hop, kept, sources, earlier, len(claims) - len(kept), outcome if kept else Outcome.NO_CLAIMS)


def _too_long(number: int, hop: Hop) -> Step:
    return Step(number, hop, outcome=Outcome.ERROR_TOO_LONG)


def _given(trace: Trace) -> list[tuple[int, ...]]:
    """By hop the places of its passages and tool outputs in the context of the whole trace."""
    documents = len(trace.passages or ())
    shown = [number for number, call in enumerate(trace.tool_calls) if call.output is not None]
    tools = {number: documents + place for place, number in enumerate(shown)}
    return [
        tuple(
            dict.fromkeys(
                (
                    *(place for place in hop.passages if 0 <= place < documents),
                    *(tools[number] for number in hop.tools if number in tools),
                )
            )
        )
        for hop in trace.hops
    ]


def _echoes(trace: Trace, context: Sequence[Passage], hop_of: Mapping[int, int]) -> frozenset[int]:
    """Texts given to a hop that an earlier one had written: a note that a tool kept, the word of another agent.

    What a hop said is no source for having been handed on.
    """
    written: dict[str, int] = {}
    for number, hop in enumerate(trace.hops):
        text = hop.output.strip()
        if len(text) >= _LEAST_ECHO:
            written.setdefault(text, number)
    return frozenset(
        place for place, number in hop_of.items() if written.get(context[place].text.strip(), number) < number
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
