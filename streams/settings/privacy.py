"""What is done with personal data before anything is written; every choice says what it costs."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from streams.redaction.kinds import Handling, Kind, NationalId
from streams.settings.parts import Names, Salt, Section


def _split(value: object) -> object:
    """``a, b`` from an environment variable as a list; lists pass."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Kinds = Annotated[tuple[Kind, ...], NoDecode, BeforeValidator(_split)]
NationalIds = Annotated[tuple[NationalId, ...], NoDecode, BeforeValidator(_split)]
_TEXT = "redact takes personal data out, keep leaves it in"


class PrivacyFields(Section):
    """One handling a field: keep, redact (personal data out), hash (keyed, sixteen hex digits) or drop (empty)."""

    user_id: Handling = Field(
        Handling.HASH,
        description="Who asked. hash: people can be counted, but not looked up by their id; keep: the store holds ids "
        "of persons.",
    )
    conversation_id: Handling = Field(
        Handling.HASH,
        description="Which conversation. hash: answers of one stay together; keep: they can be looked up.",
    )
    question: Handling = Field(
        Handling.REDACT,
        description=f"Question, rewrites and questions of single steps: {_TEXT}. hash, drop: short answers that need "
        "the question are judged worse, and nobody can read a flagged case.",
    )
    answer: Handling = Field(
        Handling.REDACT,
        description=f"Answer, other choices of the model and outputs of single steps: {_TEXT}. hash: every answer is "
        "unresolved:redacted; drop: unresolved:no_content. Nothing is verified then.",
    )
    passages: Handling = Field(
        Handling.REDACT,
        description=f"Texts of passages: {_TEXT}. hash: unresolved:redacted; drop: judged against the prompt, else "
        "unresolved:no_context.",
    )
    prompt: Handling = Field(
        Handling.REDACT,
        description=f"What the model was sent: {_TEXT}. It repeats question and passages. hash, drop: passages that "
        "were cut or are only in the prompt go unnoticed.",
    )
    tool_arguments: Handling = Field(
        Handling.REDACT,
        description=f"What tools were called with: {_TEXT}. hash, drop: what a tool proves is less clear.",
    )
    tool_outputs: Handling = Field(
        Handling.REDACT,
        description=f"What tools gave: {_TEXT}. hash, drop: claims that rest on them become unsupported.",
    )
    feedback: Handling = Field(
        Handling.REDACT, description=f"What users said of an answer: {_TEXT}. drop: leads for review are lost."
    )
    roles: Handling = Field(
        Handling.KEEP,
        description="Roles of the asker, and those that passages allow. hash keeps the check for forbidden sources; "
        "drop: it is off.",
    )


class Privacy(Section):
    """Personal data: what is looked for, and what is done with each field (docs/privacy.md)."""

    kinds: Kinds = Field(
        (Kind.EMAIL, Kind.IBAN, Kind.CARD, Kind.ID, Kind.PHONE),
        description="What redact takes out. ip: some versions are taken for addresses; name: only names behind a title "
        "or `my name is`, and time. Empty: nothing is looked for.",
    )
    phone_regions: Names = Field(
        ("US", "GB", "DE", "FR", "NL", "ES", "IT"),
        description="Countries (two letters) whose national phone numbers are known, yours first: a number that "
        "several have is taken for the first one's. Missing: only its +… form is found; more: more false finds.",
    )
    national_ids: NationalIds = Field(
        tuple(NationalId),
        description="National numbers of persons that national_id looks for. Fewer: fewer false finds in numbers of "
        "orders, and those of other countries stay.",
    )
    keep: Names = Field(
        (),
        description="Values that stay as they are, such as the hotline, info@shop.example or @shop.example for all of "
        "a domain. Personal ones among them are stored.",
    )
    key: Salt = Field(
        SecretStr(""),
        description="Key of all placeholders and hashes: 32 or more characters, the same in every process. Empty: made "
        "from ingest.salt. A new one breaks the tie to what was stored before: people are counted anew, and open "
        "traces may hold one value under two placeholders.",
    )
    dead_letter: Literal["keep", "hash", "drop"] = Field(
        "keep",
        description="Value, key and headers of messages that cannot be read. keep: as they came, kept 7 days on "
        "gw.deadletter, which needs rights of its own; hash: length and keyed hash; drop: position and reason alone. "
        "Without the value nobody can mend and send it again.",
    )
    fields: PrivacyFields = PrivacyFields()
