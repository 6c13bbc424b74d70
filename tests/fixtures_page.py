"""Writes the page that lists the fixtures: ``python -m tests.fixtures_page``; a test keeps the page in step."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from schemas.finding import StructuralRule
from schemas.labels import ClaimLabel, Containment, FailureLabel, Outcome
from tests.fixtures_traces import Fixture, Kind, file_heading, load_fixtures, load_kinds

NOT_HERE = {
    Outcome.UNRESOLVED_EXPIRED: "decided when a trace is read: older than the store keeps",
    Outcome.ERROR_JUDGE_PARSE: "needs a judge",
    Outcome.ERROR_TIMEOUT: "needs a judge",
    Outcome.ERROR_MODEL: "needs a model that fails",
    Outcome.ERROR_BUDGET: "needs a judge",
    Outcome.ERROR_INTERNAL: "needs a detector that raises: `tests/unit/detectors/test_verification.py`",
}
"""Outcomes that no trace can have in the layers that run here, and why."""
_OPENING = """# Fixtures: traces whose answers are known by hand

{count} small traces in {languages} languages, written for this project: invented products, rules, leaflets, prices.
Each has the claims, the findings of the structural layer, the failures and the outcome that people expect by the rules
of this project; none of it was taken from a run. They lie in `tests/data/traces/`, one file for each theme.
`tests/unit/fixtures/` sends all of them through the splitter, the structural layer and the shipped evidence detector,
and compares. This page is made from them: `make docs`.

Where the words alone do not decide (who did what to whom, fine inference, a paraphrase), the label of people is kept
and the claim is *left for* an entailment model or a judge: the test then asks only that the claim is there, whole, and
without an error; where the table says *flagged*, also that it does not pass as supported. Everything else must hold
exactly.
"""


def page() -> str:
    """The whole page as Markdown."""
    fixtures = [fixture for _, fixture in load_fixtures()]
    languages = len({fixture.language for fixture in fixtures})
    parts = [
        _OPENING.format(count=len(fixtures), languages=languages),
        "## Kinds of faults that tools like this are known for\n\n" + "\n".join(_kinds(load_kinds(), fixtures)),
        "## What is left for a model or a judge\n\n" + "\n".join(_left(fixtures)),
        "## Labels that occur\n\n" + "\n".join(_labels(fixtures)),
        *_themes(),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    titles = list(head)
    yield f"| {' | '.join(titles)} |"
    yield f"|{' --- |' * len(titles)}"
    yield from (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def _kinds(kinds: Iterable[Kind], fixtures: Iterable[Fixture]) -> Iterator[str]:
    counts = Counter(kind for fixture in fixtures for kind in fixture.kinds)
    return _table(
        ("kind", "what goes wrong", "seen in", "decided by", "fixtures"),
        ((kind.kind, kind.what, kind.seen, _decided(kind), str(counts[kind.kind] or "–")) for kind in kinds),
    )


def _decided(kind: Kind) -> str:
    reason = kind.why or kind.also
    return ": ".join(part for part in ("these layers" if kind.by == "fixtures" else kind.by, reason) if part)


def _left(fixtures: Iterable[Fixture]) -> Iterator[str]:
    return _table(
        ("fixture", "left for", "people say", "why"),
        ((one.name, _who(one), _human(one), one.expect.why_left) for one in fixtures if one.expect.left_for),
    )


def _who(fixture: Fixture) -> str:
    is_flagged = any(claim.flagged for claim in fixture.expect.claim_list)
    return ", ".join(fixture.expect.left_for) + (", flagged" if is_flagged else "")


def _human(fixture: Fixture) -> str:
    labels = [(claim.human or claim.label).value for claim in fixture.expect.claim_list if claim.left_for]
    return ", ".join(dict.fromkeys([*labels, *(failure.value for failure in fixture.expect.left)]))


def _labels(fixtures: list[Fixture]) -> Iterator[str]:
    outcomes = Counter(one.expect.outcome for one in fixtures)
    labels = Counter(
        ClaimLabel.NOT_FACTUAL if claim.other else claim.human or claim.label
        for one in fixtures
        for claim in one.expect.claim_list
    )
    failures = Counter(failure for one in fixtures for failure in one.expect.failures)
    rules = Counter(finding.rule for one in fixtures for finding in one.expect.findings)
    contained = Counter(one.expect.containment for one in fixtures if one.expect.containment)
    rows = [
        *(("outcome", value.value, _count(outcomes[value], NOT_HERE.get(value, ""))) for value in Outcome),
        *(("claim", value.value, str(labels[value])) for value in ClaimLabel),
        *(("failure", value.value, str(failures[value])) for value in FailureLabel),
        *(("finding", value.value, str(rules[value])) for value in StructuralRule),
        *(("containment", value.value, str(contained[value])) for value in Containment),
    ]
    return _table(("of", "value", "fixtures (for labels: claims)"), rows)


def _count(count: int, reason: str) -> str:
    return str(count) if count else f"– {reason}"


def _themes() -> Iterator[str]:
    themes: dict[str, list[Fixture]] = {}
    for stem, fixture in load_fixtures():
        themes.setdefault(stem, []).append(fixture)
    for stem, fixtures in themes.items():
        rows = ((one.name, one.language, one.shows, one.expect.outcome.value, ", ".join(one.kinds)) for one in fixtures)
        table = _table(("name", "language", "shows", "expected outcome", "kinds"), rows)
        yield f"## {stem}.yaml\n\n{file_heading(stem)}\n\n" + "\n".join(table)


if __name__ == "__main__":
    sys.stdout.write(page())
