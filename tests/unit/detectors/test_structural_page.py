"""The page of structural checks is in step with the rules."""

import re
from pathlib import Path

from schemas.finding import StructuralRule

PAGE = Path(__file__).parents[3] / "docs" / "structural-checks.md"


def test_every_rule_has_a_line_with_what_it_does() -> None:
    """In the order of the enum, with its failure label and the label that it gives a claim."""
    rows = re.findall(
        r"^\| `(\w+)` \| .+ \| (?:`(\w+)`|none) \| (.*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )

    assert [rule.value for rule in StructuralRule] == [name for name, _, _ in rows]
    assert [rule.failure or "" for rule in StructuralRule] == [failure for _, failure, _ in rows]
    labelled = {rule.value: rule.claim_label for rule in StructuralRule if rule.claim_label is not None}
    assert all(f"`{label}`" in effect for name, _, effect in rows if (label := labelled.get(StructuralRule(name))))
