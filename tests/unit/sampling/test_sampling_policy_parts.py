"""Policy files: rules for claims, documents, canaries and fallback texts; each mistake has its line and its fix."""

import re

import pytest

from sampling.policy_file import default_policy, parse_policy
from schemas.errors import ConfigError
from schemas.policy import Fallbacks
from schemas.sources import RestrictedSource, SourceRules, TrustedSource

START = "name: test\n"
RULE = START + "intents:\n  a:\n    critical:\n      - {name: x, pattern: %s}\n"
RESTRICTED = START + "sources:\n  restricted:\n    - {name: staff, documents: %s}\n"
TRUST = START + "sources:\n  trust:\n    - {name: wiki, documents: %s}\n"
BAD = {
    RULE % "'(?=a)b'": "line 5: intents.a.critical[0].pattern = '(?=a)b': not a pattern that RE2 can run",
    RULE % "'(?<!no )refund'": "it has no look-around and no back references",
    RULE % r"'(a)\1'": "line 5: intents.a.critical[0].pattern = '(a)\\\\1': not a pattern that RE2 can run",
    RULE % "'a{1001}'": "repeats at most 1,000 times",
    RULE % ("'" + "x" * 1001 + "'"): "a pattern of 1001 characters; shorten it to 1000",
    RULE
    % "'fee|'": "line 5: intents.a.critical[0].pattern = 'fee|': it matches every text, even an empty one; write '.'",
    RULE % "''": 'line 5: intents.a.critical[0].pattern = "": string should have at least 1 character',
    RULE
    % "x, intents: [b]": "line 5: intents.a.critical[0].intents = b: the rule is never used here; leave the list out",
    START + "intents:\n  '*':\n    critical: [{name: x, pattern: x, intents: [a]}]\n  a: {}\n": (
        "line 4: intents.*.critical[0].intents = a: the rule is never used here; these have rules of their own"
    ),
    RULE
    % "x, tiers: [hgh]": "line 5: intents.a.critical[0].tiers[0] = \"hgh\": input should be 'low', 'medium' or 'high'",
    START + "intents:\n  a:\n    fallbacks: {abstane: x}\n": (
        "line 4: intents.a.fallbacks.abstane is not a key; did you mean abstain?"
    ),
    START + "intents:\n  a:\n    fallback: {}\n": "line 4: intents.a.fallback is not a key; did you mean fallbacks?",
    START + "intents:\n  a:\n    fallbacks: {abstain: 7}\n": "line 4: intents.a.fallbacks.abstain = 7: input should be",
    START
    + "intents:\n  a:\n    fallbacks: {abstain: ' '}\n": "line 4: intents.a.fallbacks.abstain is blank; leave it out",
    START + f"intents:\n  a:\n    fallbacks: {{abstain: {'x' * 2001}}}\n": "string should have at most 2000 characters",
    RESTRICTED % "'['": "line 4: sources.restricted[0].documents = '[': not a pattern that RE2 can run",
    RESTRICTED % "x, tenant: [a]": "line 4: sources.restricted[0].tenant is not a key; did you mean tenants?",
    RESTRICTED % "x, roles: ['']": "line 4: sources.restricted[0].roles holds an empty name, which every trace has",
    RESTRICTED % "x, roles: staff": 'line 4: sources.restricted[0].roles = "staff": input should be a valid array',
    START + "sources:\n  restricted:\n    - name: x\n": "line 4: sources.restricted[0].documents is missing; add it",
    TRUST % "x": "line 4: sources.trust[0].trust is missing; add it",
    TRUST % "'(?=x)', trust: trusted": "line 4: sources.trust[0].documents = '(?=x)': not a pattern that RE2 can run",
    TRUST % "x, trust: maybe": "sources.trust[0].trust = \"maybe\": input should be 'trusted' or 'untrusted'",
    TRUST % "x, trust: trusted}\n    - {name: b, documents: x, trust: untrusted": (
        "line 5: sources.trust[1] is never used: trust rule 0 before it has the same documents"
    ),
    START + "sources:\n  first_seen_days: 0\n": "line 3: sources.first_seen_days = 0: input should be greater than 0",
    START + "sources:\n  frist_seen_days: 1\n": "line 3: sources.frist_seen_days is not a key; did you mean first_seen",
    START + "restricted: []\n": "line 2: restricted is not a key; it belongs under sources; known keys: bars,",
    START
    + "sources:\n  pattern: x\n": "line 3: sources.pattern is not a key; it belongs under intents.*.critical; known",
    START
    + "sampling:\n  critical: []\n": "line 3: sampling.critical is not a key; it belongs under intents.*; known keys",
    START + "canaries: secret phrase\n": 'line 2: canaries = "secret phrase": input should be a valid array',
    START
    + "canaries:\n  - the blue heron\n  - abc\n": "line 4: canaries[1] = 'abc': answers would hold this by chance",
    START + "canaries:\n  - '-- -- --'\n": "line 3: canaries[0] = '-- -- --': answers would hold this by chance",
    START + "canarys: []\n": "line 2: canarys is not a key; did you mean canaries?",
    START + "canaries: [" + "abcd, " * 201 + "]\n": "line 2: canaries = ",
}


@pytest.mark.parametrize(("text", "message"), BAD.items(), ids=range(len(BAD)))
def test_mistake_in_a_rule_is_refused_with_line_and_fix(text: str, message: str) -> None:
    """One small file for each mistake."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        parse_policy(text)


GOOD = """\
name: everything
intents:
  "*":
    fallbacks:
      abstain: Please call us.
  refunds:
    citations_required: true
    critical:
      - {name: any statement, pattern: ., tiers: [high]}
    fallbacks:
      hold_for_review: >-
        A colleague will answer
        within a day.
sources:
  restricted:
    - {name: board papers, documents: '^board-'}
    - {name: staff handbook, documents: ^hr/, tenants: [acme], roles: [staff, hr]}
  trust:
    - {name: forum, documents: '^forum[/-]', trust: untrusted}
  first_seen_days: 1.5
canaries:
  - "You are the assistant of Acme"
"""


def test_every_part_is_read() -> None:
    """What stands in the file is what the policy says."""
    found = parse_policy(GOOD)
    assert Fallbacks(abstain="Please call us.") == found.intents["*"].fallbacks
    assert Fallbacks(hold_for_review="A colleague will answer within a day.") == found.intents["refunds"].fallbacks
    assert ("You are the assistant of Acme",) == found.canaries
    expected = SourceRules(
        restricted=(
            RestrictedSource(name="board papers", documents="^board-"),
            RestrictedSource(name="staff handbook", documents="^hr/", tenants=("acme",), roles=("staff", "hr")),
        ),
        trust=(TrustedSource(name="forum", documents="^forum[/-]", trust="untrusted"),),
        first_seen_days=1.5,
    )
    assert expected == found.sources


def test_the_shipped_policy_has_a_text_for_every_answer_that_is_kept_back() -> None:
    """A first deployment says something sensible."""
    texts = default_policy().intents["*"].fallbacks
    assert texts.abstain
    assert texts.hold_for_review
