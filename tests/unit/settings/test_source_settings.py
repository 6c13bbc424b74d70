"""Settings of sources: lists in the file, and mistakes in them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.errors import ConfigError
from streams.settings import SourceSettings, load_settings
from streams.settings.catalogue import Entry, entries, walk
from streams.settings.reference import annotated_example, reference_markdown

WHOLE = """
sources:
  - topic: otlp_spans
    format: otlp
    signal: traces
    prompts: [{start: "Facts:", end: ""}]
    rules:
      intent:
        - {path: metadata.area, pattern: "^([a-z]+)", values: {bill: billing}, default: rest}
        - {default: none}
      tier: []
    tiers: [{intent: "^billing", tier: high}]
    default_tier: low
  - topic: "^rag-.*$"
    naive_time: "+02:00"
    registry_url: http://registry:8081
    registry_password: hush
"""


def load(folder: Path, text: str) -> Any:
    """Settings with this file."""
    path = folder / "groundwatch.yaml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path)


def test_sources_are_read_from_the_file(tmp_path: Path) -> None:
    """Rules, tiers and prompt layouts with them; secrets stay secret."""
    first, second = load(tmp_path, WHOLE).sources
    assert ("otlp", "low", "high") == (first.format, first.default_tier, first.tiers[0].tier)
    assert {"bill": "billing"} == first.rules["intent"][0].values
    assert (("auto", "+02:00"), False) == ((second.format, second.naive_time), "hush" in repr(second))


def test_sources_may_come_as_json_in_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers are configured by their environment."""
    monkeypatch.setenv("GROUNDWATCH_SOURCES", '[{"topic": "a", "format": "native"}]')
    assert [SourceSettings(topic="a", format="native")] == list(load(tmp_path, "").sources)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sources: [{format: native}]", ["sources[0].topic is missing", "Name of a topic"]),
        ("sources: [{topic: '^('}]", ["sources[0].topic = '^('", "RE2"]),
        (
            "sources: [{topic: a}, {topic: b, format: otpl}]",
            ["sources[1].format = 'otpl'", "one of auto, native, otlp"],
        ),
        ("sources: [{topic: a, fromat: otlp}]", ["unknown key sources[0].fromat", "did you mean sources[].format?"]),
        ("sources: [{topic: a, signal: metrics}]", ["sources[0].signal = 'metrics'", "traces, logs"]),
        ("sources: [{topic: a, format: mapping}]", ["sources[0]:", "needs a mapping file"]),
        ("sources: [{topic: a, mapping: m.yaml}]", ["sources[0]:", "format: mapping only"]),
        ("sources: [{topic: a, naive_time: Mars}]", ["sources[0].naive_time = 'Mars'", "Europe/Berlin"]),
        ("sources: [{topic: a, registry_url: 'host:8081'}]", ["sources[0].registry_url = 'host:8081'"]),
        ("sources: [{topic: a, default_tier: huge}]", ["sources[0].default_tier = 'huge'", "one of low, medium, high"]),
        ("sources: [{topic: a, rules: {topic: []}}]", ["sources[0].rules", "no field 'topic'", "intent, tier"]),
        (
            "sources: [{topic: a, rules: {intent: [{path: x, pattern: '('}]}}]",
            ["sources[0].rules.intent[0].pattern", "RE2"],
        ),
        ("sources: [{topic: a, rules: {intent: [{pattern: x}]}}]", ["sources[0].rules.intent[0]", "needs a path"]),
        ("sources: [{topic: a, rules: {intent: [{path: x, value: y}]}}]", ["sources[0].rules.intent[0].value"]),
        ("sources: [{topic: a, tiers: [{intent: '(', tier: low}]}]", ["sources[0].tiers[0].intent", "RE2"]),
        ("sources: [{topic: a, prompts: [{start: ''}]}]", ["sources[0].prompts[0].start"]),
        ("sources: {topic: a}", ["sources", "tuple"]),
        ("ingest: {max_intents: 0}", ["ingest.max_intents = 0", "at least 1"]),
    ],
)
def test_mistakes_are_named_with_their_place_and_fix(tmp_path: Path, text: str, parts: list[str]) -> None:
    """The place counts items from 0, as the text editor's list does not show names."""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert [] == [part for part in parts if part not in str(caught.value)], str(caught.value)


def test_a_wrong_secret_is_not_shown(tmp_path: Path) -> None:
    """Not even in an error."""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, "sources: [{topic: a, registry_password: [hush]}]")
    assert ("hush" in str(caught.value), "(secret)" in str(caught.value)) == (False, True)


def test_keys_of_items_are_documented_and_are_no_settings_of_their_own() -> None:
    """They have no variable: a list is set as a whole."""
    of_items = [item for item in walk() if isinstance(item, Entry) and item.is_of_an_item]
    assert set(SourceSettings.model_fields) == {entry.path[-1] for entry in of_items}
    assert not any(entry.is_of_an_item for entry in entries())
    assert all(entry.description.endswith(".") for entry in of_items)
    assert "| `sources[].format` |" in reference_markdown()


def test_the_example_of_a_source_is_right_once_it_is_uncommented(tmp_path: Path) -> None:
    """What a user does with it."""
    lines = [line for line in annotated_example().splitlines() if line.startswith(("# sources:", "#   -", "#     "))]
    content = yaml.safe_load("\n".join(line.removeprefix("# ") for line in lines))
    content["sources"][0]["topic"] = "traces"
    assert (SourceSettings(topic="traces"),) == load(tmp_path, yaml.safe_dump(content)).sources
