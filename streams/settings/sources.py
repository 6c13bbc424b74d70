"""Settings of the topics that are read: what their messages are, and where intent, tier and such are found in them."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, field_validator, model_validator

from schemas.errors import ConfigError
from schemas.labels import RiskTier
from schemas.patterns import compile_pattern
from streams.settings.parts import Pattern, Section, is_pattern
from streams.sources.fields import FIELDS, MAX_RULES
from streams.sources.mapping.moments import zone_of

MAX_SOURCES = 200
_PATTERN_MARK = "^"


def _is_topic(text: str) -> str:
    return is_pattern(text) if text.startswith(_PATTERN_MARK) else text


def _is_zone(text: str) -> str:
    if text:
        try:
            zone_of(text)
        except ConfigError as error:
            raise ValueError(str(error)) from error
    return text


Topic = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_is_topic)]
NaiveTime = Annotated[str, AfterValidator(_is_zone)]


class PromptSettings(Section):
    """Where contexts stand in a packed prompt."""

    start: str = Field("Context:", min_length=1, max_length=200)
    end: str = Field("Question:", max_length=200)
    separator: str = Field("", max_length=200)


class FieldRule(Section):
    """One place where a field may be found."""

    path: str = Field("", max_length=500)
    pattern: Pattern = ""
    values: dict[str, str] = Field({}, max_length=10_000)
    default: str = Field("", max_length=256)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.path and not self.default:
            message = "a rule needs a path, or a default that holds without one"
            raise ValueError(message)
        return self


class TierRule(Section):
    """The risk tier of intents."""

    intent: Pattern = Field(min_length=1)
    tier: RiskTier


class SourceSettings(Section):
    """What the messages of a topic are. Topics without an entry are recognised message by message."""

    topic: Topic = Field(
        description="Name of a topic, or a pattern (RE2) that begins with ^; the first entry that fits counts. An "
        "entry for a topic that is not in `kafka.source.topics` is of no use."
    )
    format: Literal[
        "auto", "native", "otlp", "jaeger", "langsmith", "langfuse", "mlflow", "langchain", "llamaindex", "rag_json",
        "mapping",
    ] = Field(
        "auto",
        description="What its messages are; auto looks at each, so a topic may hold several formats. Wrong: every "
        "message goes to the dead letter, and ingest soon stops and says so.",
    )  # fmt: skip
    signal: Literal["", "traces", "logs"] = Field(
        "", description="Which signal an OTLP topic carries; empty looks at the content. Wrong: nothing is read."
    )
    mapping: Path | None = Field(
        None, description="Mapping file, for format mapping: docs/mapping.md. A wrong file is refused at start."
    )
    naive_time: NaiveTime = Field(
        "",
        description="How times without a zone are read in mapped formats: utc, +02:00, Europe/Berlin, or record for "
        "the time of the broker's record; empty leaves it to the mapping. Wrong: answers fall into wrong hours.",
    )
    registry_url: str = Field(
        "",
        pattern=r"^$|^https?://[^\s]+$",
        description="Schema registry, http(s)://host:port, for Avro, Protobuf and JSON with a schema id in front. "
        "Without it such messages go to the dead letter; while it is away they wait.",
    )
    registry_user: str = Field("", description="User for the schema registry.")
    registry_password: SecretStr = Field(SecretStr(""), description="Password for the schema registry.")
    registry_token: SecretStr = Field(SecretStr(""), description="Bearer token for the schema registry.")
    registry_ca_file: Path | None = Field(
        None, description="PEM file of the authority that signed the schema registry's certificate."
    )
    prompts: tuple[PromptSettings, ...] = Field(
        (PromptSettings(),),
        max_length=50,
        description="Where contexts stand in packed prompts, for traces without documents: {start, end, separator}; "
        "the first that fits counts. An empty list turns that off. Wrong: passages are missing or hold instructions.",
    )
    rules: dict[str, tuple[FieldRule, ...]] = Field(
        {},
        description="By field (intent, tier, tenant, roles, locale, region, model, prompt, corpus, retriever, app) a "
        "list of rules {path, pattern, values, default}, in order: docs/mapping.md. Fields without a list keep the "
        "default rules; an empty list turns a field off. Wrong: intents are unmapped.",
    )
    tiers: tuple[TierRule, ...] = Field(
        (),
        max_length=MAX_RULES,
        description="Risk tier by intent, for traces that state none: {intent, tier}, the first pattern that is found "
        "in the intent counts. Wrong: answers are drawn and judged as if they did less or more harm.",
    )
    default_tier: RiskTier = Field(
        RiskTier.MEDIUM, description="Risk tier where neither the trace nor `tiers` says one."
    )
    strict: bool = Field(
        default=False,
        description="Refuse what would otherwise be let through with a flag: text that was mended, values that were "
        "cut or of the wrong shape. On: a sloppy producer fills the dead letter.",
    )

    @model_validator(mode="after")
    def _file_for_mapping(self) -> Self:
        is_mapped = self.format == "mapping"
        if is_mapped and self.mapping is None:
            message = "format: mapping needs a mapping file; shipped mappings are formats of their own"
            raise ValueError(message)
        if self.mapping is not None and not is_mapped:
            message = "a mapping file is read with format: mapping only"
            raise ValueError(message)
        return self

    @field_validator("rules")
    @classmethod
    def _known_fields(cls, rules: dict[str, tuple[FieldRule, ...]]) -> dict[str, tuple[FieldRule, ...]]:
        for name, own in rules.items():
            if name not in FIELDS:
                message = f"no field {name!r}; there are {', '.join(FIELDS)}"
                raise ValueError(message)
            if len(own) > MAX_RULES:
                message = f"{len(own)} rules for {name}; write at most {MAX_RULES}"
                raise ValueError(message)
        return rules

    def fits(self, topic: str) -> bool:
        """Whether this entry is about a topic."""
        if self.topic.startswith(_PATTERN_MARK):
            return compile_pattern(self.topic).is_in(topic)
        return self.topic == topic
