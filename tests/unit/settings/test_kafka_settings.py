"""Settings of Kafka: patterns, starts, credentials, and secrets from files."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.errors import ConfigError
from streams.settings import load_settings
from streams.settings.connect import connection_of, reading_of
from streams.settings.kafka import InternalKafka, SourceKafka


def refused(model: type[SourceKafka | InternalKafka], **values: Any) -> str:
    """Why these values are refused."""
    with pytest.raises(ValidationError) as caught:
        model(**values)
    return str(caught.value)


def test_a_pattern_takes_the_place_of_the_default_topics() -> None:
    """Both at once would be two answers to one question."""
    assert () == SourceKafka(topic_pattern="rag-.*").topics
    assert "either topics or topic_pattern" in refused(SourceKafka, topic_pattern="rag-.*", topics=["chat"])
    assert "either topics or topic_pattern" in refused(SourceKafka, topics=[])


@pytest.mark.parametrize(
    ("pattern", "topic", "matches"),
    [
        ("rag-.*", "rag-chat", True),
        ("rag-.*", "my-rag-chat", False),
        ("rag", "rag-chat", False),
        ("RAG", "rag", False),
        ("(?i:RAG)", "rag", True),
        (".*", "gw.drawn", False),
        (".*", "groundwatch.alert-__assignor-__leader", False),
        (".*", "__consumer_offsets", False),
        ("a|gw.*", "gw.drawn", False),
        ("a|b", "b", True),
    ],
)
def test_a_pattern_matches_whole_names_and_none_of_ours(pattern: str, topic: str, *, matches: bool) -> None:
    """As a consumer subscribes."""
    reading = reading_of(SourceKafka(topic_pattern=pattern), is_embedded=False)
    assert matches == bool(re.match(f"^(?:{reading.pattern})$", topic))


@pytest.mark.parametrize("pattern", ["(", r"(a)\1", "(?=a)", "(?i)rag"])
def test_patterns_that_cannot_run_are_refused(pattern: str) -> None:
    """By RE2 or by the client."""
    assert "pattern" in refused(SourceKafka, topic_pattern=pattern)


def test_starts_are_words_or_times_with_a_zone() -> None:
    """Anything else would begin somewhere else than was meant."""
    for start in ("earliest", "latest", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00+02:00"):
        assert start == SourceKafka(start=start).start
    for start in ("", "yesterday", "2026-03-01T00:00:00"):
        assert "a time with a zone" in refused(SourceKafka, start=start)


def test_topics_of_ours_are_no_sources() -> None:
    """They would be read as traces and sent round in a circle."""
    assert "topics of ours" in refused(SourceKafka, topics=["gw.drawn"])


def test_credentials_must_fit_together() -> None:
    """What would silently not be used is refused."""
    assert "keep one" in refused(SourceKafka, **dict.fromkeys(("sasl_password", "sasl_password_file"), "a"))
    assert "set ssl to true" in refused(SourceKafka, ssl_ca_file="ca.pem")
    assert "ssl_cert_file is needed" in refused(SourceKafka, ssl=True, ssl_key_file="key.pem")
    assert "sasl_password_file" in refused(SourceKafka, sasl_mechanism="PLAIN", sasl_username="u")
    assert "is above replication" in refused(InternalKafka, min_insync_replicas=2)
    assert SourceKafka(ssl_ca_file="").ssl_ca_file is None


def test_a_secret_may_stand_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the variable of the secret with _FILE behind it, or in the setting that Kafka's have; line ends are cut."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "salt").write_text("0123456789abcdef" * 2 + "\n")
    (tmp_path / "urls").write_text("https://a\nhttps://b\n")
    (tmp_path / "password").write_text("päss word\r\n", encoding="utf-8")
    monkeypatch.setenv("GROUNDWATCH_INGEST__SALT_FILE", str(tmp_path / "salt"))
    monkeypatch.setenv("GROUNDWATCH_ALERTS__WEBHOOK_URLS_FILE", str(tmp_path / "urls"))
    monkeypatch.setenv("GROUNDWATCH_KAFKA__SOURCE__SASL_MECHANISM", "PLAIN")
    monkeypatch.setenv("GROUNDWATCH_KAFKA__SOURCE__SASL_USERNAME", "u")
    monkeypatch.setenv("GROUNDWATCH_KAFKA__SOURCE__SASL_PASSWORD_FILE", str(tmp_path / "password"))
    settings = load_settings()
    assert "0123456789abcdef" * 2 == settings.ingest.salt.get_secret_value()
    assert ["https://a", "https://b"] == [url.get_secret_value() for url in settings.alerts.webhook_urls]
    assert "päss word" == connection_of(settings.kafka.source).sasl_password
    assert "0123456789abcdef" not in repr(settings)


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"x" * 200_000])
def test_a_file_that_holds_no_secret_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    """With variable and file, never with what is in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "salt").write_bytes(content)
    monkeypatch.setenv("GROUNDWATCH_INGEST__SALT_FILE", str(tmp_path / "salt"))
    with pytest.raises(ConfigError, match=r"GROUNDWATCH_INGEST__SALT_FILE: .*salt.*give a file"):
        load_settings()


def test_a_secret_that_is_given_twice_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of them holds would be a guess."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWATCH_INGEST__SALT", "0123456789abcdef" * 2)
    monkeypatch.setenv("GROUNDWATCH_INGEST__SALT_FILE", "/nowhere")
    with pytest.raises(ConfigError, match="GROUNDWATCH_INGEST__SALT and GROUNDWATCH_INGEST__SALT_FILE"):
        load_settings()
