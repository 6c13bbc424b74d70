"""Settings of each part of the flow, with unit, bounds and the consequence of a wrong value."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from streams.settings.parts import Pattern, Salt, Secrets, Section, Timezone, Token


class Store(Section):
    """ClickHouse."""

    dsn: SecretStr = Field(
        SecretStr(""),
        description="http(s)://user:password@host:port of ClickHouse, or chdb:///absolute/path for the embedded "
        "engine; empty puts the embedded engine under `data_dir`. Wrong: waits `start_seconds` and exits with 69.",
    )
    database: str = Field(
        "groundwatch",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$",
        description="Database for our tables, made when missing. Another name shows an empty history.",
    )
    retention_days: int = Field(
        90,
        ge=30,
        le=3650,
        description="Days that traces, passages and verdicts are kept. Shorter: baselines have less to learn from "
        "and flagged cases vanish sooner; longer: disk. Older traces are counted as unresolved:expired.",
    )


class Ingest(Section):
    """Reading, screening and drawing."""

    batch_size: int = Field(
        1000,
        ge=1,
        le=5000,
        description="Messages per batch, at most 16 MB of them at once. Too low: many small inserts, which cost ten "
        "milliseconds each whatever is in them; too high: a longer wait until a trace is stored.",
    )
    max_message_bytes: int = Field(
        16_000_000,
        ge=10_000,
        le=512_000_000,
        description="Largest message, bytes; also the limit of gw.* topics. Lower than the producers' limit: large "
        "traces go to the dead letter as prefix, length and hash.",
    )
    max_answer_bytes: int = Field(
        1_000_000,
        ge=1_000,
        le=64_000_000,
        description="Longest answer that is checked, bytes of UTF-8. A longer one is stored with error:too_long, "
        "never cut. Too high: one answer holds up a batch.",
    )
    salt: Salt = Field(
        SecretStr(""),
        description="Key of the sampling draw: 32 or more characters, one per deployment, never changed (a new one "
        "draws a different sample). Empty: embedded makes one in `data_dir`/salt; otherwise the start is refused.",
    )
    documents_file: Path | None = Field(
        None,
        description="JSON Lines (plain or gzip) with what is known of each version of a document: in force, archived, "
        "superseded, trust, roles (docs/native-format.md). Read again when it changes. Without it only what traces say "
        "of their passages counts; a wrong file is refused at start and ignored later, with a line in the log.",
    )
    max_intents: int = Field(
        200,
        ge=1,
        le=10_000,
        description="Most different intents; further ones become `other`, flagged. Too low: slices that matter are "
        "thrown together; too high: a rule that takes free text for an intent makes a slice of every question.",
    )
    dead_letter_max_run: int = Field(
        1_000,
        ge=1,
        le=1_000_000,
        description="Unreadable messages in a row after which ingest stops and says so. Too low: a burst of junk "
        "stops monitoring; too high: a wrong decoder empties a topic into the dead letter.",
    )
    dead_letter_max_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Share of unreadable messages among the last 2,000 after which ingest stops; 1 turns it off.",
    )


class Assembly(Section):
    """Making traces of spans: when a trace is complete enough to be judged."""

    grace_seconds: float = Field(
        5.0,
        ge=0,
        le=600,
        description="Seconds to wait for late spans after the end of a trace's root was read. Too short: traces are "
        "judged without their last spans and again when these come; too long: verdicts are late.",
    )
    quiet_seconds: float = Field(
        60.0,
        gt=0,
        le=3600,
        description="Seconds without a new span after which a trace without an ended root is closed. Too short: "
        "long-running agents are judged while they work; too long: traces that lost their root are late.",
    )
    max_age_seconds: float = Field(
        600.0,
        gt=0,
        le=86_400,
        description="Seconds after its first span at which a trace is closed whatever comes. Longer: more is read "
        "again after a restart, and one endless trace holds its partition longer.",
    )
    max_spans: int = Field(
        2_000,
        ge=1,
        le=100_000,
        description="Most spans of a trace; it is closed at that number, and grows by late spans to four times it.",
    )
    max_bytes: int = Field(
        32_000_000, ge=10_000, le=1_000_000_000, description="Largest trace, bytes of its spans; it is closed there."
    )
    max_open_bytes: int = Field(
        512_000_000,
        ge=100_000,
        le=64_000_000_000,
        description="Most bytes of open traces in one process; beyond it the oldest are closed. Too low: traces are "
        "judged before they are complete; too high: memory, three (large spans) to seven times (small ones) as much.",
    )


NEGATIVE_FEEDBACK = (
    r"thumbs?[ _-]?down|👎|\b(?:down|disliked?|negative|bad|wrong|incorrect|inaccurate|unhelpful|useless|false)\b"
    r"|\bnot (?:helpful|correct|true|right)\b|\bhallucinat|[=:] ?(?:-\d[\d.]*|0(?:\.[0-4]\d*)?)(?:[^\d.]|$)"
    r"|\b(?:rating|stars?) ?[=:] ?(?:1|2)(?:\.0)?(?:[^\d.]|$)"
)


class ExpectedRate(Section):
    """Share of hallucinated answers expected before there is history, by risk tier, 0 to 1."""

    low: float = Field(0.08, gt=0, lt=0.5, description="Tier low. Too high: the first real jump is paged later.")
    medium: float = Field(0.05, gt=0, lt=0.5, description="Tier medium. Too low: false pages in the first weeks.")
    high: float = Field(0.03, gt=0, lt=0.5, description="Tier high. Too low: false pages in the first weeks.")


class Alerts(Section):
    """When to page, and whom."""

    timezone: Timezone = Field(
        "UTC", description="IANA time zone of days and hours in reports. Wrong: days begin at the wrong hour."
    )
    expected_rate: ExpectedRate = ExpectedRate()
    pages_per_month: float = Field(
        1.0,
        gt=0,
        le=100,
        description="False pages a month that all slices together may cost. Higher: earlier pages, more false ones.",
    )
    jump_share: float = Field(
        0.6,
        gt=0,
        le=1,
        description="Share of that budget for jumps; the rest is for slow drift. Higher: jumps are found earlier.",
    )
    unmapped_share: float = Field(
        0.2,
        gt=0,
        le=1,
        description="Share of an hour's traces without an intent above which somebody is told, once an episode; 1 "
        "turns it off. Too low: alerts about a few odd requests; too high: a rename in the producer hides a slice.",
    )
    unmapped_least_traces: int = Field(
        200,
        ge=1,
        le=1_000_000,
        description="Traces an hour below which that share is not looked at. Too high: a small product is never told.",
    )
    tick_seconds: float = Field(
        20.0,
        ge=1,
        le=600,
        description="Seconds between two looks at closed buckets. Longer: later pages; shorter: load on the store.",
    )
    webhook_urls: Secrets = Field(
        (),
        description="URLs that get every alert as a JSON POST; secret, because such URLs often carry a token. "
        "Wrong: the notification is tried again and the alert stays on the page.",
    )
    webhook_timeout_seconds: float = Field(
        10.0, gt=0, le=120, description="Seconds to wait for a receiver. Too short: the same alert may arrive twice."
    )


class Web(Section):
    """The page and the local API."""

    host: str = Field(
        "127.0.0.1",
        min_length=1,
        description="Address to listen on. Anything but 127.0.0.1 shows answers to everyone who reaches the port: "
        "put a proxy with a login in front.",
    )
    port: int = Field(
        8642, ge=0, le=65535, description="TCP port; 0 takes a free one. Taken by another program: exits with 69."
    )
    negative_feedback: Pattern = Field(
        NEGATIVE_FEEDBACK,
        description="Pattern (RE2, upper and lower case alike) of feedback that counts as negative: such traces come "
        "first among the leads for review, and nothing else depends on it. Too wide: bad answers drown in the list. "
        "Empty: the newest come first.",
    )
    deploys_token: Token = Field(
        SecretStr(""),
        description="Token with which a pipeline marks deploys (POST /v1/deploys) and can do nothing else: 16 or more "
        "characters. Empty: only the token of run.json, which is another one after each start, opens that route.",
    )
    check_token: Token = Field(
        SecretStr(""),
        description="Token with which a product has answers checked (POST /v1/check) and can do nothing else: 16 or "
        "more characters. Empty: only the token of run.json opens that route, and a process with the role check and "
        "without the role web does not start.",
    )


class Log(Section):
    """What goes to standard error; never questions, passages or answers."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level written. warning hides the line that each trace gets."
    )
    format: Literal["auto", "console", "json"] = Field(
        "auto", description="json for machines, console for people, auto: console on a terminal, else json."
    )
