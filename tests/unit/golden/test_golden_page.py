"""The page about golden sets shows what the code reads."""

import json
import re
from datetime import timedelta
from pathlib import Path

from detectors.golden import GoldenSet, parse_golden
from detectors.golden.checks import Expected, problems_of
from schemas.golden import GoldenCase
from tests.builders import NOW

PAGE = (Path(__file__).parents[3] / "docs" / "golden-sets.md").read_text(encoding="utf-8")


def examples() -> GoldenSet:
    """The cases that the page shows, one line each."""
    shown = [json.dumps(json.loads(block)) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    golden, faults = parse_golden(shown)
    assert [] == faults
    return golden


def test_examples_are_cases_without_a_fault() -> None:
    """Whoever copies them has a set that is fine."""
    assert [] == problems_of(examples(), Expected(NOW + timedelta(days=365)))
    assert 2 == len(examples().cases)


def test_the_full_example_has_every_field() -> None:
    """So that a newcomer sees each once; what is left at its default is explained in the table."""
    shown = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
    assert set(GoldenCase.model_fields) - {"format_version"} == set(shown)


def test_every_field_is_explained() -> None:
    """In the table below the examples."""
    explained = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))))
    assert set() == set(GoldenCase.model_fields) - {"format_version"} - explained
