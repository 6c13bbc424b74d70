"""One stored trace as text for an engineer: what was asked, answered, found, and how it came to be looked at."""

from collections.abc import Iterator

from rich.text import Text

from schemas.base import Record
from schemas.draw import Draw, DrawnTrace
from schemas.finding import Finding
from schemas.trace import Passage, Trace, passage_hash
from schemas.verdict import ClaimVerdict, Verdict
from streams.cli.display import moment, plain, style_of, styled
from streams.cli.hop_view import hop_lines
from streams.cli.verdict_view import consistency_line, failures_line, judged_line, routing_lines
from streams.store import StoredTrace

PASSAGE_CHARACTERS = 100


class ShownTrace(Record):
    """What ``traces show --json`` prints; ``delivered`` is None where no verdict or policy says it."""

    drawn: DrawnTrace
    verdicts: tuple[Verdict, ...]
    delivered: str | None


def shown_trace(stored: StoredTrace, delivered: str | None) -> ShownTrace:
    """The trace with its verdicts, newest first, and what a user would have got."""
    return ShownTrace(drawn=stored.drawn, verdicts=tuple(stored.verdicts), delivered=delivered)


def describe(stored: StoredTrace, delivered: str | None) -> Text:
    """The trace with its newest verdict; older ones of other detectors in a line each. ``delivered``: what would be."""
    trace, draw = stored.drawn.trace, stored.drawn.draw
    newest = stored.verdicts[0] if stored.verdicts else None
    lines = [_head(trace), *_outcome(newest, stored.drawn), _labelled("question", trace.question)]
    lines += [Text(), answer_in_colour(trace, newest), Text()]
    if newest is not None:
        lines += [line for claim in newest.claims for line in _claim(claim, trace)]
        lines += [_finding(finding, trace) for finding in newest.findings]
        lines += [_labelled("" if number else "hops", line) for number, line in enumerate(hop_lines(newest))]
        lines += _layers(newest)
    if delivered is not None:
        is_same = delivered == trace.answer
        lines.append(_labelled("delivers", "the answer as it is" if is_same else delivered))
    lines += [Text(), *_passages(trace), _draw(draw), *_origin(trace), *_made_by(stored)]
    return Text("\n").join(lines)


def answer_in_colour(trace: Trace, verdict: Verdict | None) -> Text:
    """The answer as it was given, each claim in the colour of its label."""
    if trace.answer is None:
        return Text("(no answer)", style="dim")
    text = Text(plain(trace.answer))  # one character for one, so the claims' offsets hold
    for claim in verdict.claims if verdict else ():
        text.stylize(style_of(claim.label), claim.claim.start, claim.claim.end)
    return text


def _head(trace: Trace) -> Text:
    flags = f"  flags {', '.join(trace.flags)}" if trace.flags else ""
    revised = f"  revision {trace.revision}" if trace.revision > 1 else ""
    where = f"  {moment(trace.ts)}  {trace.intent}/{trace.tier}{revised}{flags}"
    return Text.assemble((plain(trace.trace_id), "bold"), plain(where))


def _outcome(verdict: Verdict | None, drawn: DrawnTrace) -> Iterator[Text]:
    trace, draw, screening = drawn.trace, drawn.draw, drawn.screening
    if verdict is None:
        found = f"screening: {screening.outcome or 'claims to judge'}" + (
            f", score {screening.score:.2f}" if screening.score is not None else ""
        )
        why = "no verdict yet" if draw.drawn else "no verdict: not drawn"
        yield _labelled("outcome", ", ".join((why, found, *screening.failures)))
        return
    score = "" if verdict.score is None else f", score {verdict.score:.2f}"
    score += "" if verdict.faithfulness is None else f", faithfulness {verdict.faithfulness:.2f}"
    passed = "passed" if verdict.passed else "not passed"
    yield Text.assemble(f"{'outcome':<11}", styled(verdict.outcome), f"{score}, {passed}")
    yield Text.assemble(f"{'contained':<11}", styled(verdict.containment))
    if verdict.failures:
        yield _labelled("failures", failures_line(verdict))
    cited = [
        f"{name} {value:.2f}"
        for name, value in (("precision", verdict.citation_precision), ("recall", verdict.citation_recall))
        if value is not None
    ]
    if cited:
        yield _labelled("citations", ", ".join(cited))
    if verdict.answer_hash:
        is_same = verdict.answer_hash == passage_hash(trace.answer or "")
        changed = "" if is_same else "; the stored answer is another one than was judged"
        yield _labelled("judged", f"{judged_line(verdict)}{changed}")


def _claim(judged: ClaimVerdict, trace: Trace) -> Iterator[Text]:
    numbers = [
        f"{name} {value:.2f}"
        for name, value in (("support", judged.support), ("contradiction", judged.contradiction))
        if value is not None
    ]
    critical = [f"critical: {judged.claim.critical_rule}"] if judged.claim.critical_rule else []
    source = [f"from {judged.source}"] if judged.source else []
    layers = ["+".join(judged.layers)] if judged.layers else []
    sure = [f"the judge's word, confidence {judged.confidence:.2f}"] if judged.confidence is not None else []
    hop = [f"hop {judged.hop + 1}"] if judged.hop is not None else []
    notes = [*source, *hop, *numbers, *sure, *critical, *layers]
    shown = f"  ({', '.join(notes)})" if notes else ""
    label = styled(judged.error or judged.label)
    subject = f"({judged.claim.subject}) " if judged.claim.subject else ""
    yield Text.assemble(f"{judged.claim.index:>3}  ", label, plain(f"  {subject}{judged.claim.text}{shown}"))
    if judged.claim.citations:
        yield Text(plain(f"       cites     {', '.join(judged.claim.citations)}"), style="dim")
    if judged.evidence is not None:
        name = judged.evidence.doc_id or _passage_name(trace, judged.evidence.passage)
        yield Text(plain(f"       evidence  {name}: {judged.evidence.text}"), style="dim")
    if judged.why:
        yield Text(plain(f"       why       {judged.why}"), style="dim")


def _finding(finding: Finding, trace: Trace) -> Text:
    where = [f"claim {finding.claim}"] if finding.claim is not None else []
    if finding.passage is not None:
        where.append(_passage_name(trace, finding.passage))
    place = f" ({', '.join(where)})" if where else ""
    detail = f": {finding.detail}" if finding.detail else ""
    return Text.assemble(f"{'finding':<11}", (finding.rule.value, "yellow"), plain(f"{place}{detail}"))


def _layers(verdict: Verdict) -> Iterator[Text]:
    for number, line in enumerate(routing_lines(verdict)):
        yield _labelled("" if number else "layers", line)
    if verdict.consistency is not None:
        yield _labelled("samples", consistency_line(verdict.consistency))


def _passages(trace: Trace) -> Iterator[Text]:
    if trace.passages is None:
        yield _labelled("passages", "not shown by the trace")
    elif not trace.passages:
        yield _labelled("passages", "none: retrieval gave nothing")
    for index, passage in enumerate(trace.passages or ()):
        text = passage.text.replace("\n", " ")
        cut = text[:PASSAGE_CHARACTERS] + ("…" if len(text) > PASSAGE_CHARACTERS else "")
        yield _labelled("passage" if index else "passages", f"{index}. {_passage_facts(passage)}: {cut}")


def _passage_facts(passage: Passage) -> str:
    facts = [
        passage.doc_id or "(no id)",
        f"version {passage.version}" if passage.version else "",
        passage.trust if passage.trust != "unknown" else "",
        "archived" if passage.archived else "",
        f"superseded by {passage.superseded_by}" if passage.superseded_by else "",
        f"updated {passage.updated_at:%Y-%m-%d}" if passage.updated_at else "",
        "cited" if passage.cited else "",
    ]
    return ", ".join(fact for fact in facts if fact)


def _passage_name(trace: Trace, index: int) -> str:
    passages = trace.passages or ()
    return (passages[index].doc_id if index < len(passages) else "") or f"passage {index}"


def _draw(draw: Draw) -> Text:
    sign = "<" if draw.drawn else "≥"
    nested = ", in the nested subsample" if draw.is_nested else ""
    return _labelled(
        "draw",
        f"{'drawn' if draw.drawn else 'not drawn'}: stratum {draw.stratum}, u {draw.u:.6f} {sign} "
        f"π {draw.inclusion_probability:g}{nested}, policy {draw.policy_id}",
    )


def _origin(trace: Trace) -> Iterator[Text]:
    versions = ", ".join(f"{name} {value}" for name, value in trace.versions if value)
    yield _labelled("versions", versions or "not given")
    times = ", ".join(
        f"{name.removesuffix('_ms')} {value:,.0f} ms" for name, value in trace.timings if value is not None
    )
    if times:
        yield _labelled("timings", times)
    people = {"tenant": trace.tenant, "roles": " ".join(trace.roles), "user": trace.user_id, "locale": trace.locale}
    who = ", ".join(f"{name} {value}" for name, value in (*people.items(), ("region", trace.region)) if value)
    if who:
        yield _labelled("who", who)
    if trace.source is not None:
        at = trace.source
        yield _labelled(
            "source",
            f"{at.topic}, partition {at.partition}, offset {at.offset}, recorded {moment(at.recorded_at)}; "
            f"decoder {trace.decoder}, closed as {trace.close_reason}",
        )


def _made_by(stored: StoredTrace) -> Iterator[Text]:
    screening = stored.drawn.screening
    yield _labelled("screening", f"{screening.took_ms:.1f} ms, {screening.fingerprint or 'nothing was scored'}")
    for number, verdict in enumerate(stored.verdicts):
        cost = f", {verdict.cost_usd:.4f} USD" if verdict.cost_usd else ""
        told = f"{verdict.outcome} by " if number else ""
        yield _labelled(
            "older" if number else "verdict",
            f"{told}{verdict.fingerprint}, layers {' '.join(verdict.layers)}, {verdict.took_ms:.1f} ms{cost}, "
            f"{moment(verdict.verified_at)}",
        )


def _labelled(name: str, text: str) -> Text:
    return Text(plain(f"{name:<11}{text}"))
