"""What a claim cites, in whatever style; each style is sure of itself, or counts only beside a known id like it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from detectors.claims.citations import Bracket, find_brackets, is_placeholder, split_parts
from detectors.claims.links import find_links, link_targets, normal_address
from detectors.lexicon import load_lexicon
from detectors.structural.naming import Names, number_of
from detectors.structural.styles import KINDS, NUMBERED_KINDS, ORDINALS, Styles, may_have_brackets, may_name_in_prose
from schemas.claim import Claim
from schemas.trace import Passage

_NAMED_ID = re.compile(
    r"(?:(?<![\w\[(@/.:#-])|(?<=[\u3040-\uffdc]))[^\W\d_\u3040-\uffdc]{1,30}(?:\d|[-_:#/]\w)[\w.:/#@+-]{0,60}"
)
_PREFIXED = re.compile(r"(?:doc|document|source|src|kb|chunk|passage|faq|article)[-_:#]?\d[\w.-]*", re.IGNORECASE)
_LABEL = re.compile(r"(?:doc|document|source|passage|ref|chunk|context|text)[-_ ]?(\d{1,3})", re.IGNORECASE)
_WORD_ID = re.compile(r"[^\W\d_]{3,40}|[^\W_]{1,40}(?:[-_./:#][^\W_]{1,40}){1,8}")
_NO_IDS = frozenset(
    {
        *("sic", "optional", "required", "edit", "link", "here", "source", "ref", "image", "video", "example", "note"),
        *("laughs", "inaudible", "blank", "emphasis", "added", "omitted", "pause", "applause", "unclear", "not", "all"),
        *("and/or", "yes", "none", "see", "the", "that", "this", "his", "her", "their", "was", "are", "ing", "top"),
    }
)
_NUMBERED = re.compile(rf"\b({NUMBERED_KINDS})s?\s#?(\d{{1,3}})(?![\w.,]\d|\w)", re.IGNORECASE)
_ORDINAL = re.compile(rf"\b({'|'.join(ORDINALS)})\spassage\b", re.IGNORECASE)
_CUE_CHARS = 40
_CUE_WORDS = 3


@dataclass(frozen=True, slots=True)
class Mention:
    """One citation: the index of its claim, the id as written, and the passages that it may mean."""

    claim: int
    identifier: str
    passages: tuple[int, ...] = ()


def find_mentions(claim: Claim, names: Names, definitions: Mapping[str, str], styles: Styles) -> Iterator[Mention]:
    """The citations of one claim; those without passages are unknown.

    ``definitions`` are the answer's footnotes by label, ``styles`` what it may hold at all.
    """
    for identifier in claim.citations:
        passages, is_settled = _meant(identifier, names, definitions)
        if passages or not is_settled:
            yield Mention(claim.index, identifier, passages)
    parts = _uncertain_parts(claim) if styles.has_brackets else []
    tokens = _tokens(parts)
    for token in tokens:
        defined = definitions.get(token.casefold(), "")
        passages = names.find(token) or names.find_in_entry(defined)
        if passages:
            yield Mention(claim.index, token, passages)
    if tokens:
        yield from (Mention(claim.index, token) for token in _like_ids(claim, parts, names))
    if styles.has_prose:
        yield from _named_in_prose(claim, names)
    if styles.has_links:
        yield from _linked(claim, names)


def unknown_links(claim: Claim, names: Names) -> Iterator[Mention]:
    """Web addresses in a claim that are no passage's id."""
    for link in find_links(claim.text):
        if not names.find_address(link.address):
            yield Mention(claim.index, link.address)


def add_known_citations(claims: Sequence[Claim], passages: Sequence[Passage]) -> tuple[Claim, ...]:
    """The claims, each with what it cites only by a passage's id (``[terms]``, ``(kb-7)``) among its citations too.

    So with the addresses of passages.
    """
    tokens = [_tokens(_uncertain_parts(claim)) for claim in claims]
    if not any(tokens) and not any("://" in claim.text for claim in claims):
        return tuple(claims)
    names = Names(passages)
    return tuple(_with_known(claim, own, names) for claim, own in zip(claims, tokens, strict=True))


def _with_known(claim: Claim, tokens: Sequence[str], names: Names) -> Claim:
    known = tuple(token for token in tokens if names.find(token))
    linked = (claim.text[link.start : link.end] for link in find_links(claim.text) if names.find_address(link.address))
    known += tuple(address for address in dict.fromkeys(linked) if address not in (*known, *claim.citations))
    return claim.model_copy(update={"citations": claim.citations + known}) if known else claim


def _uncertain_parts(claim: Claim) -> list[tuple[Bracket, str]]:
    """What brackets hold that is neither a certain citation nor a number, each part with its bracket."""
    if not may_have_brackets(claim.text):
        return []
    certain = set(claim.citations)
    parts = ((bracket, part) for bracket in find_brackets(claim.text) for part in split_parts(bracket.content))
    return [(bracket, part) for bracket, part in parts if part not in certain and number_of(part) is None]


def _tokens(parts: Sequence[tuple[Bracket, str]]) -> list[str]:
    return list(dict.fromkeys(part for _, part in parts if "://" not in part))


def _meant(identifier: str, names: Names, definitions: Mapping[str, str]) -> tuple[tuple[int, ...], bool]:
    """The passages that a certain citation means, and whether nothing more can be said when there are none.

    A footnote that gives an address says what it means: an unknown one is a matter of links.
    """
    defined = definitions.get(identifier.casefold())
    if defined is not None:
        passages = names.find_in_entry(defined)
        if passages or any(True for _ in find_links(defined)):
            return passages, True
    named = names.find(identifier) or names.find_address(normal_address(identifier))
    number = number_of(identifier)
    if number is None and not named and not names.is_shaped_like_one(identifier):
        labelled = _LABEL.fullmatch(identifier)  # a product may number its passages "doc-1", "doc-2" in the prompt
        number = int(labelled.group(1)) if labelled else None
    if named or number is None:
        return named, False
    return names.numbered(number), number == 0


def _like_ids(claim: Claim, parts: Sequence[tuple[Bracket, str]], names: Names) -> Iterator[str]:
    """Tokens in brackets that are no passage's id, but written like one where a citation would stand."""
    for bracket, token in parts:
        if names.find(token) or is_placeholder(token):
            continue
        if names.is_shaped_like_one(token):
            yield token
        elif bracket.is_square and _WORD_ID.fullmatch(token) and token.casefold() not in _NO_IDS:
            following = claim.text[bracket.end :].lstrip(" *_")[:1]
            if (not following or following in ".,;:!?)[。、，") and names.has_style_of_all(token):
                yield token


def _named_in_prose(claim: Claim, names: Names) -> Iterator[Mention]:
    """Ids and numbers after words such as "according to", "passage 2", "the second passage" if there is one.

    Others may be names of things.
    """
    text = claim.text
    if not may_name_in_prose(text):
        return
    certain = set(claim.citations)
    for match in _NUMBERED.finditer(text):
        number = str(int(match.group(2)))
        is_passage = match.group(1).lower() == "passage"
        if number not in certain and (
            is_passage or _follows_cue(text[max(0, match.start() - _CUE_CHARS) : match.start()])
        ):
            yield Mention(claim.index, number, names.numbered(int(number)))
    for match in _ORDINAL.finditer(text):
        place = ORDINALS.index(match.group(1).lower()) + 1
        if names.numbered(place):
            yield Mention(claim.index, match.group(), names.numbered(place))
    for match in _NAMED_ID.finditer(text):
        token = match.group().rstrip(".:/-_#@+")
        passages = names.find(token)
        is_id = bool(passages) or names.is_shaped_like_one(token) or _PREFIXED.fullmatch(token) is not None
        if is_id and _follows_cue(text[max(0, match.start() - _CUE_CHARS) : match.start()]):
            yield Mention(claim.index, token, passages)


def _follows_cue(before: str) -> bool:
    """Whether a text ends with a cue, or with a cue and the kind of thing: ``according to document``."""
    cues = load_lexicon().citation_cues
    plain = before.casefold().replace("’", "'").rstrip(" \"'“„«`*")
    if any(not cue.isascii() and plain.endswith(cue) for cue in cues):
        return True
    words = plain.split()
    while words and words[-1] in KINDS and " ".join(words[-1:]) not in cues:
        words.pop()
    return any(" ".join(words[-count:]) in cues for count in range(1, _CUE_WORDS + 1) if count <= len(words))


def _linked(claim: Claim, names: Names) -> Iterator[Mention]:
    for link in find_links(claim.text):
        passages = names.find_address(link.address)
        if passages:
            yield Mention(claim.index, link.address, passages)
    for target in link_targets(claim.text):
        passages = names.find(target.strip("#/")) or names.find_address(f"/{target.partition('#')[0]}")
        if passages:
            yield Mention(claim.index, target, passages)
