"""A judge's reply, checked against what it was asked: our claim, passages that it was given, one of four labels."""

import re
import unicodedata
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from detectors.judge.forms import objects_in
from detectors.replies import ReplyRefused, first_fault
from schemas.labels import ClaimLabel
from schemas.visible import visible

_CITATION = re.compile(r"\[[^\[\]]{1,40}\]")
_NUMBER = re.compile(r"(\d+(?:[.,]\d+)?)\s*(%?)")
_ID = re.compile(r"\W*(?:p|passage\s*)?(\d{1,5})\W*", re.IGNORECASE)


class JudgeLabel(StrEnum):
    """What a judge may say; ``unverifiable`` is our ``unclear``."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    UNVERIFIABLE = "unverifiable"

    @property
    def claim_label(self) -> ClaimLabel:
        """The label in our words."""
        return ClaimLabel.UNCLEAR if self is JudgeLabel.UNVERIFIABLE else ClaimLabel(self.value)


_ALSO = {
    "entailed": JudgeLabel.SUPPORTED,
    "refuted": JudgeLabel.CONTRADICTED,
    "not supported": JudgeLabel.UNSUPPORTED,
    "cannot tell": JudgeLabel.UNVERIFIABLE,
    "not verifiable": JudgeLabel.UNVERIFIABLE,
    "unclear": JudgeLabel.UNVERIFIABLE,
}


def _label(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    word = re.sub(r"[\s_-]+", " ", value).strip(" .\"'").lower()
    return _ALSO.get(word, word)


def _ids(value: Any) -> Any:
    """Place of each passage, from 1: of ``["P1"]``, ``"P1, P2"``, ``1``, ``[{"id": "P1"}]``."""
    if value is None or value == "":
        return ()
    items = re.split(r"[,;]", value) if isinstance(value, str) else value if isinstance(value, list) else [value]
    return tuple(_one_id(item.get("id") if isinstance(item, dict) else item) for item in items)


def _one_id(value: Any) -> int:
    match = None if isinstance(value, bool) else _ID.fullmatch(str(value))
    if match is None:
        message = "give the ids of passages"
        raise ValueError(message)
    return int(match[1])


def _share(value: Any) -> Any:
    """A number in quotes or in per cent is one; a boolean and a word are not."""
    if isinstance(value, bool):
        message = "give a number from 0 to 1"
        raise ValueError(message)  # noqa: TRY004 - pydantic reports ValueError alone
    if not isinstance(value, str):
        return value
    match = _NUMBER.fullmatch(value.strip())
    return float(match[1].replace(",", ".")) / (100 if match[2] else 1) if match else value


def _reason(value: Any) -> Any:
    """Several reasons as one text; what a page and a topic cannot carry is taken out of it."""
    text = "; ".join(map(str, value)) if isinstance(value, list) else "" if value is None else value
    return visible(text) if isinstance(text, str) else text


class JudgeReply(BaseModel):
    """One verdict as the judge gave it; ``evidence`` are places of passages in the prompt, from 1."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True)

    claim: str
    label: Annotated[JudgeLabel, BeforeValidator(_label)]
    evidence: Annotated[tuple[int, ...], BeforeValidator(_ids)] = ()
    confidence: Annotated[Annotated[float, Field(ge=0, le=1)] | None, BeforeValidator(_share)] = None
    reason: Annotated[str, BeforeValidator(_reason)] = ""


def schema() -> dict[str, Any]:
    """The JSON Schema of a reply, without what strict structured output does not take (bounds, patterns)."""
    properties = {
        "claim": {"type": "string"},
        "evidence": {"type": "array", "items": {"type": "string"}},
        "reason": {"type": "string"},
        "label": {"type": "string", "enum": [label.value for label in JudgeLabel]},
        "confidence": {"type": "number"},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def read_verdict(reply: str, claim: str, passages: int) -> JudgeReply:
    """The verdict on our claim, which was shown ``passages`` pieces of evidence.

    Raises ReplyRefused: ``parse`` for what cannot be read, ``claim`` when it is about another claim or about ours more
    than once, ``evidence`` when it names a passage that it was not given, or none where the label needs one.
    """
    try:
        found = [JudgeReply.model_validate(item) for item in objects_in(reply)]
    except ValidationError as error:
        raise ReplyRefused("parse", first_fault(error)) from error
    ours = [one for one in found if _same(one.claim, claim)]
    if len(ours) != 1:
        raise ReplyRefused("claim", '"claim" must be the claim that was asked about, copied, and there is one of it')
    (verdict,) = ours
    unknown = next((place for place in verdict.evidence if not 1 <= place <= passages), None)
    if unknown is not None:
        known = f"the ids are P1 to P{passages}" if passages else "there are none"
        raise ReplyRefused("evidence", f"evidence: there is no passage P{unknown}; {known}")
    if not verdict.evidence and verdict.label in {JudgeLabel.SUPPORTED, JudgeLabel.CONTRADICTED}:
        raise ReplyRefused("evidence", f"evidence: {verdict.label.value} needs the passage that decides it")
    return verdict


def _same(copied: str, claim: str) -> bool:
    """Word for word; a model copies words, not blanks, quotation marks or citations."""
    return _words(copied) == _words(claim)


def _words(text: str) -> list[str]:
    plain = _CITATION.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    return re.findall(r"\w+", plain) or [plain.strip()]
