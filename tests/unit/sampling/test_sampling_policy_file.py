"""Policy files: what people get wrong is refused with line, key, value and fix."""

import re
from datetime import timedelta

import pytest

from sampling.effective import compose
from sampling.policy_file import default_policy, overlay_id_of, parse_policy, policy_id_of
from schemas.errors import ConfigError
from schemas.labels import RiskTier
from schemas.policy import Overlay, OverlayReason, Thresholds
from tests.builders import NOW, policy

START = "name: test\n"
BAD = {
    "": "line 1: a policy file is a mapping",
    "- a\n": "line 1: a policy file is a mapping",
    "name: [x\n": "line 2: not YAML",
    "name: test\nname: again\n": "line 2: key 'name' is given twice (first on line 1); keep one",
    "sampling: {}\n": "line 1: name is missing; add it",
    START + "samplng:\n  default_probability: 0.1\n": "line 2: samplng is not a key; did you mean sampling?",
    START + "sampling:\n  strata:\n    - name: weak\n      scor_below: 0.3\n": (
        "line 5: sampling.strata[0].scor_below is not a key; did you mean score_below?"
    ),
    START + "thresholds:\n  zzz: 1\n": "known keys: contradicted, supported, unsupported",
    START + "intents:\n  '*':\n    critcal: []\n": "line 4: intents.*.critcal is not a key; did you mean critical?",
    START + "sampling:\n  default_probability: 2\n": (
        "line 3: sampling.default_probability = 2: input should be less than or equal to 1"
    ),
    START
    + "sampling:\n  default_probability: 0\n": "line 3: sampling.default_probability = 0: input should be greater",
    START
    + "sampling:\n  default_probability: yes\n": "line 3: sampling.default_probability = true: input should be a valid",
    START + "sampling:\n  default_probability: .nan\n": "line 3: sampling.default_probability = NaN",
    START + "sampling:\n  default_probability: '0.3'\n": 'line 3: sampling.default_probability = "0.3"',
    START + "bars:\n  hgh: 1\n": "line 3: bars.hgh = \"hgh\": input should be 'low', 'medium' or 'high'",
    START + "bars:\n  high: 3\n": "line 3: bars.high = 3.0: a bar is a support score; give a number from 0 to 1",
    START + "intents:\n  no:\n    citations_required: true\n": "line 3: key 'no' is not text; put it in quotes",
    START + "intents:\n  ? [a]\n  : {}\n": "line 3: key (a list or mapping) is not text",
    START
    + "thresholds:\n  supported: 0.2\n": "line 2: thresholds: unsupported (0.7) must not be above supported (0.2)",
    START
    + "sampling:\n  strata:\n    - name: rest\n      has_flag: x\n": "line 2: sampling: stratum names must be unique",
    START + "sampling:\n  strata:\n    - name: all\n": "line 4: sampling.strata[0] = all: has no condition",
    START
    + "sampling:\n  strata:\n    - {name: none, score_at_least: 0.5, score_below: 0.5}\n": "no score is at least 0.5",
    START + "sampling:\n  strata:\n    - {name: a, has_no_citation: true, citations_at_least: 2}\n": "keep one",
    START + "sampling:\n  allocations:\n    - {stratum: weak, probability: 1}\n": (
        "line 4: sampling.allocations[0].stratum = weak: no such stratum; use '*' or one of rest"
    ),
    START + "sampling:\n  allocations:\n    - {probability: 1}\n    - {tier: low, probability: 0.1}\n": (
        "line 5: sampling.allocations[1] is never used: allocation 0 before it takes the same traces"
    ),
    START + "intents:\n  a:\n    critical:\n      - {name: x, pattern: '('}\n": (
        "line 5: intents.a.critical[0].pattern = '(': not a pattern that RE2 can run"
    ),
    START + "routes:\n  - {tier: high}\n  - {intent: refunds, tier: high, models: false}\n": (
        "line 4: routes[1] is never used: route 0 before it takes the same answers; put this one first"
    ),
    START + "routes:\n  - {juge: {}}\n": "line 3: routes[0].juge is not a key; did you mean judge?",
    START + "routes:\n  - judge:\n      band_lo: 0.2\n": "routes[0].judge.band_lo is not a key; did you mean band_low?",
    START
    + "routes:\n  - judge: {band_low: 0.8}\n": "routes[0].judge: band_low (0.8) must not be above band_high (0.65)",
    START + "routes:\n  - {judge: {}, budget: {usd_per_hour: 0}}\n": "routes[0].judge: with a budget of 0 every claim",
    START
    + "budget: {tokens_per_hour: 0}\nroutes:\n  - {judge: {}}\n": "routes[0].judge: with a budget of 0 every claim",
    START + "routes:\n  - consistency: {temperature: 0}\n": (
        "line 3: routes[0].consistency.temperature = 0: the model would give the same answer each time"
    ),
    START + "routes:\n  - consistency: {causes: [weak]}\n": "routes[0].consistency.causes[0]",
    "name: &a test\n": "line 1: anchors and aliases",
    "name: *a\n": "line 1: anchors and aliases",
    "name: !!python/object:os.system x\n": "line 1: name = 'x' is not a value that a policy can hold",
    "name: !!int x\n": "line 1: name = 'x' is not a value that a policy can hold",
    "name: " + "[" * 500: "line 1: nested deeper than 20 levels",
    "name: \x00\n": "line 1: the file holds characters that YAML does not allow",
    "name: \ud800\n": "line 1: the file holds characters that YAML does not allow",
    "name: a\n---\nname: b\n": "line 2: not YAML",
    "#" * 300_000: "the file has 300000 characters",
}


@pytest.mark.parametrize(("text", "message"), BAD.items(), ids=range(len(BAD)))
def test_mistake_is_refused_with_line_key_value_and_fix(text: str, message: str) -> None:
    """One small file for each mistake."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        parse_policy(text)


def test_every_mistake_is_listed_up_to_five() -> None:
    """One run shows what to repair."""
    text = START + "".join(f"wrong{number}: 1\n" for number in range(7))
    with pytest.raises(ConfigError) as caught:
        parse_policy(text)
    lines = str(caught.value).splitlines()
    assert ["line 2", "line 3", "line 4", "line 5", "line 6", "and 2 more"] == [line.split(":")[0] for line in lines]


def test_smallest_policy_is_a_name() -> None:
    """Everything else has a default."""
    assert policy("test") == parse_policy(START)


def test_default_policy_keeps_the_spread_of_each_cell_within_three() -> None:
    """Otherwise the nested subsample of the alert tests would be small."""
    document = default_policy()
    found = compose("p", document)
    for tier in RiskTier:
        strata = [*(rule.name for rule in document.sampling.strata), "rest"]
        highest = max(found.probability("any", tier, stratum) for stratum in strata)
        assert highest <= 3 * found.min_probability("any", tier) * (1 + 1e-9)


def test_default_policy_checks_every_answer_of_high_risk() -> None:
    """A choice of safety."""
    assert 1.0 == compose("p", default_policy()).min_probability("any", RiskTier.HIGH)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The fee is $25.", "amount"),
        ("It costs 12,50 EUR a month.", "amount"),
        ("The rate is 4.5%.", "amount"),
        ("The fee is EUR 20.", "amount"),
        ("It costs 15 €.", "amount"),
        ("The fine is 5 million dollars.", "amount"),
        ("It is 20 per cent off.", "amount"),
        ("Take 200 mg twice a day.", "dose"),
        ("Take two tablets.", "dose"),
        ("Use it three times a day.", "dose"),
        ("Use it every 6 hours.", "dose"),
        ("It ends in March 2027.", "date"),
        ("It holds until the end of 2027.", "date"),
        ("It is paid in 10 working days.", "deadline"),
        ("You have two weeks to reply.", "deadline"),
        ("The deadline is Friday.", "deadline"),
        ("The voucher is valid until Friday.", "deadline"),
        ("You have to sign it.", "obligation"),
        ("A passport is required.", "obligation"),
        ("It should not be mixed.", "obligation"),
        ("Do not mix them.", "obligation"),
        ("Take 2 tablets.", "dose"),
        ("It ends on 2026-03-31.", "date"),
        ("It ends on 31 March.", "date"),
        ("It begins on Sept. 3.", "date"),
        ("Return it within 30 days.", "deadline"),
        ("Residents are eligible.", "eligibility"),
        ("You are covered by the plan, and treatment abroad is covered up to 500 days.", "eligibility"),
        ("Damage by water is not covered.", "eligibility"),
        ("You MUST sign the form.", "obligation"),
        ("Guests are now required to sign.", "obligation"),
        ("Never mix the two.", "obligation"),
        ("It is illegal to resell it.", "obligation"),
        ("The bundle entitled Pro is covered with foil.", None),
        ("The pier is a must-see, and it never happened in the time required to bake it.", None),
        ("The office is closed at noon.", None),
        ("We decided in 12 cases, marketing 3.", None),
        ("We may help you, and maybe more.", None),
        ("We do not offer it, and I have to say that it is a good shop in a nice town.", None),
        ("It was founded in 1990 by two friends, and 3 rooms have a view for all.", None),
    ],
)
def test_default_rules_find_critical_claims(claim: str, expected: str | None) -> None:
    """Amounts, doses, dates, deadlines, eligibility and duties."""
    rules = default_policy().intents["*"].critical
    hits = [rule.name for rule in rules if re.search(rule.pattern, claim, re.IGNORECASE)]
    assert (expected in hits) if expected else not hits


def test_policy_id_depends_on_content_and_time() -> None:
    """Applying the same file again is a new entry; starting twice is not."""
    ids = {
        policy_id_of(policy("a"), NOW),
        policy_id_of(policy("b"), NOW),
        policy_id_of(policy("a"), NOW + timedelta(seconds=1)),
        policy_id_of(policy("a"), None),
    }
    assert 4 == len(ids)
    assert policy_id_of(policy("a"), None) == policy_id_of(policy("a"), None)


def test_policy_id_ignores_the_order_of_keys() -> None:
    """The same rules written in another order are the same policy."""
    one, two = (
        parse_policy("name: x\nbars: {low: 0.1, high: 0.2}\n"),
        parse_policy("bars: {high: 0.2, low: 0.1}\nname: x\n"),
    )
    assert policy_id_of(one, NOW) == policy_id_of(two, NOW)


def test_overlay_id_begins_with_its_reason() -> None:
    """``p1+s…`` is a surge, ``p1+b…`` a budget."""
    overlay = Overlay(reason=OverlayReason.SURGE, at_least=0.5, until=NOW)
    assert "s" == overlay_id_of(overlay, NOW)[0]


def test_the_shipped_policy_judges_at_the_detector_s_own_thresholds() -> None:
    """They were chosen with the shipped weights; a policy that says otherwise does so on purpose."""
    assert Thresholds() == default_policy().thresholds
