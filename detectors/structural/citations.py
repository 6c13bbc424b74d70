"""Matches the citations of an answer with the passages, and says which of them name nothing that was given."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from detectors.claims.citations import strip_citations
from detectors.claims.links import find_links, mail_hosts
from detectors.claims.references import Sources, read_sources
from detectors.structural.context import context_passages, has_no_context
from detectors.structural.mentions import Mention, add_known_citations, find_mentions, unknown_links
from detectors.structural.naming import Names, number_of
from detectors.structural.styles import find_styles
from schemas.claim import Claim
from schemas.finding import MAX_DETAIL_CHARS, Finding, StructuralRule
from schemas.trace import Passage, Trace

__all__ = ["Citations", "Mention", "add_known_citations", "citation_findings", "resolve_citations"]

_SURE_NUMBER = 99
_COPIED_CHARS = 8
_LOOKED_FOR = 50
"""So many unknown ids are looked for in the texts; beyond, an answer is full of wrong citations anyway."""


@dataclass(frozen=True, slots=True)
class Citations:
    """``by_claim``: for each claim the passages that it cites. ``known`` and ``unknown``: each citation once.

    ``links``: addresses that no passage has, still to be looked for in the texts. ``has_list``: the answer names
    sources outside its statements. ``is_far``: it does so there only, so that no claim says what it rests on.
    """

    by_claim: tuple[tuple[int, ...], ...]
    known: tuple[Mention, ...] = ()
    unknown: tuple[Mention, ...] = ()
    links: tuple[Mention, ...] = ()
    has_list: bool = False
    is_far: bool = False

    @property
    def exist(self) -> bool:
        """True when the answer cites anything, known or not."""
        return self.has_list or bool(self.unknown) or any(self.by_claim)


def resolve_citations(claims: Sequence[Claim], passages: Sequence[Passage], answer: str = "") -> Citations:
    """What each claim cites; footnotes and lists of sources are read from ``answer``.

    Besides the certain citations of a claim, anything in brackets counts that equals a passage's id; as unknown, what
    is written like one (``(kb-99)`` beside ``kb-12``, ``[returns]`` at the end of a sentence beside ``terms``). A line
    of citations alone belongs to the claim before it. Time is linear in the answer and in the number of passages.
    """
    names, sources = Names(passages), read_sources(answer)
    definitions = sources.by_label
    by_claim: list[tuple[int, ...]] = [()] * len(claims)
    styles = find_styles(answer or "\n".join(claim.text for claim in claims))
    if not (styles.exist or definitions or sources.entries or any(claim.citations for claim in claims)):
        return Citations(tuple(by_claim))
    found: list[Mention] = []
    links: list[Mention] = []
    last = -1
    for position, claim in enumerate(claims):
        is_bare = last >= 0 and not claim.is_factual and _is_bare(claim, sources)
        target = last if is_bare else position
        mentions = list(find_mentions(claim, names, definitions, styles))
        found += [Mention(claims[target].index, one.identifier, one.passages) for one in mentions]
        cited = tuple(number for mention in mentions for number in mention.passages)
        by_claim[target] = tuple(dict.fromkeys(by_claim[target] + cited))
        links += unknown_links(claim, names) if styles.has_links else ()
        last = position if claim.is_factual else last
    found += _listed(claims, by_claim, sources, names)
    in_text = {mention.claim for mention in (*found, *links)} | {claim.index for claim in claims if claim.citations}
    factual = {claim.index for claim in claims if claim.is_factual}
    # "Passage 1:" above a list of facts is no list of sources; what stands behind the last fact is
    has_list = bool(sources.entries or sources.definitions) or any(
        index > max(factual, default=-1) for index in in_text
    )
    known = _each_once(mention for mention in found if mention.passages)
    return Citations(
        by_claim=tuple(by_claim),
        known=known,
        unknown=_sure(_each_once(mention for mention in found if not mention.passages), known),
        links=_each_once(links),
        has_list=has_list,
        is_far=has_list and bool(factual) and factual.isdisjoint(in_text),
    )


def citation_findings(
    trace: Trace, claims: Sequence[Claim], citations: Citations, *, are_required: bool = False
) -> list[Finding]:
    """Unknown ids and addresses, sources that stand in a list only, and required citations that are missing.

    What the texts of the context hold is known: an id or an address that the model read there was not made up. Nor is
    the bare address of a site that the context mentions. Without any context nothing is called unknown.
    """
    found: list[Finding] = []
    if not has_no_context(trace):
        found += _unknown_ids(trace, claims, citations)
        found += _unknown_addresses(trace, citations)
    if citations.is_far:
        found.append(Finding(rule=StructuralRule.CITATION_FAR))
    if are_required and not citations.exist and not any(passage.cited for passage in trace.passages or ()):
        found.append(Finding(rule=StructuralRule.CITATION_MISSING))
    return found


def _unknown_ids(trace: Trace, claims: Sequence[Claim], citations: Citations) -> list[Finding]:
    if not citations.unknown:
        return []
    texts = _texts(trace)
    by_index = {claim.index: claim for claim in claims}
    unknown = [
        mention
        for number, mention in enumerate(citations.unknown)
        if number >= _LOOKED_FOR or not _was_read(mention, by_index.get(mention.claim), texts, trace)
    ]
    return [_finding(StructuralRule.CITATION_UNKNOWN, mention) for mention in unknown]


def _was_read(mention: Mention, claim: Claim | None, texts: Sequence[str], trace: Trace) -> bool:
    """Whether the model read the citation somewhere: the id as it is, a word in brackets, a number with words before.

    Where the trace shows no passages, numbers cannot be checked: the prompt may number anything.
    """
    if number_of(mention.identifier) is None:
        is_word = not any(char.isdigit() for char in mention.identifier)
        written = f"[{mention.identifier}]" if is_word else mention.identifier
        return any(written in text for text in texts)
    if trace.passages is None:
        return True
    if claim is None:
        return False
    place = claim.text.find(f"[{mention.identifier}]")
    copied = claim.text[max(0, place - _COPIED_CHARS) : place + len(mention.identifier) + 2]
    return place > 0 and any(copied in text for text in texts)


def _unknown_addresses(trace: Trace, citations: Citations) -> list[Finding]:
    if not citations.links:
        return []
    addresses: set[str] = set()
    hosts: set[str] = set()
    for text in (*_texts(trace), *(passage.doc_id for passage in context_passages(trace))):
        for link in find_links(text):
            addresses.add(link.address.casefold())
            hosts.add(link.host)
        hosts.update(mail_hosts(text))
    parents = {address[:place] for address in addresses for place in _slashes(address)}
    return [
        _finding(StructuralRule.CITATION_URL_UNKNOWN, mention)
        for mention in citations.links
        if (address := mention.identifier.casefold()) not in addresses
        and address not in parents
        and not ("/" not in address and address in hosts)
    ]


def _slashes(address: str) -> Iterator[int]:
    place = address.find("/")
    while place >= 0:
        yield place
        place = address.find("/", place + 1)


def _texts(trace: Trace) -> list[str]:
    """All that the model may have read, and the user's words."""
    texts = [trace.question, trace.packed_prompt or "", *trace.rewrites]
    texts += [passage.text for passage in trace.passages or ()]
    for call in trace.tool_calls:
        texts += [call.arguments, call.output or ""]
    return [text for text in texts if text]


def _finding(rule: StructuralRule, mention: Mention) -> Finding:
    return Finding(rule=rule, claim=mention.claim, detail=mention.identifier[:MAX_DETAIL_CHARS])


def _is_bare(claim: Claim, sources: Sources) -> bool:
    """Whether a claim holds citations and nothing else, and is no entry of a list of sources."""
    if not claim.citations or any(map(str.isalnum, strip_citations(claim.text))):
        return False
    place = bisect_right(sources.spans, (claim.start, len(claim.text) + claim.start)) - 1
    return place < 0 or claim.start >= sources.spans[place][1]


def _listed(
    claims: Sequence[Claim], by_claim: list[tuple[int, ...]], sources: Sources, names: Names
) -> Iterator[Mention]:
    """What entries of a list name without a label; each counts for the claim that it is."""
    starts = [claim.start for claim in claims]
    for start, entry in sources.entries:
        passages = names.find_in_entry(entry) if claims else ()
        place = max(0, bisect_right(starts, start + max(0, len(entry) - 1)) - 1)
        if passages and not claims[place].is_factual:
            by_claim[place] = tuple(dict.fromkeys(by_claim[place] + passages))
            yield Mention(claims[place].index, entry, passages)


def _sure(unknown: Sequence[Mention], known: Sequence[Mention]) -> tuple[Mention, ...]:
    """``error [404]`` is no citation unless the answer cites by number elsewhere."""
    has_numbers = any(mention.identifier.isdecimal() for mention in known)
    return tuple(mention for mention in unknown if has_numbers or (number_of(mention.identifier) or 0) <= _SURE_NUMBER)


def _each_once(mentions: Iterator[Mention] | Sequence[Mention]) -> tuple[Mention, ...]:
    """The first mention of each id and meaning."""
    first: dict[tuple[str, tuple[int, ...]], Mention] = {}
    for mention in mentions:
        first.setdefault((mention.identifier.casefold(), mention.passages), mention)
    return tuple(first.values())
