"""The pages as a browser reads them."""

import json
from datetime import timedelta

import pytest

from dashboards.formats import trace_link
from schemas.claim import ClaimSource
from schemas.errors import StoreUnavailable
from schemas.finding import Finding, StructuralRule
from schemas.labels import ClaimLabel, FailureLabel, Layer, Outcome, Severity
from schemas.layers import Consistency, LayerReason, LayerRun
from schemas.trace import Hop, passage_hash
from schemas.verdict import HopVerdict, SeenText
from tests.builders import (
    NOW,
    alert,
    claim,
    claim_verdict,
    evidence,
    passage,
    policy,
    policy_record,
    trace,
    verdict,
    versions,
)
from tests.unit.dashboards.fake_store import FakeStore, stored, world
from tests.unit.dashboards.page_reader import get

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(1)>" onclick="x {{ 7*7 }} {% raw %} \u202eevil \x00 ]]>'
WORLD = world(NOW, hours=26)
PATHS = [
    "/",
    "/?period=24h",
    "/?period=21d",
    "/alerts",
    "/alerts/jump-refunds-high-20260310",
    "/flagged",
    "/review-leads",
]


def hostile_store() -> FakeStore:
    """A store in which every text that a producer can choose is hostile."""
    item = stored("x")
    bad = claim_verdict(
        claim=claim(HOSTILE, citations=(HOSTILE,), critical_rule=HOSTILE),
        evidence=evidence(HOSTILE, doc_id=HOSTILE),
        why=HOSTILE,
        source=ClaimSource.DOCUMENT,
    )
    bad = bad.model_copy(update={"claim": bad.claim.model_copy(update={"subject": HOSTILE})})
    seen = trace(
        "javascript:alert(1)//" + HOSTILE,
        question=HOSTILE,
        answer=HOSTILE,
        intent=HOSTILE,
        tenant=HOSTILE,
        passages=(passage(HOSTILE, doc_id=HOSTILE, version=HOSTILE, superseded_by=HOSTILE),),
        versions=versions(model=HOSTILE, prompt=HOSTILE),
        rewrites=(HOSTILE,),
        flags=(HOSTILE,),
        feedback=HOSTILE,
        hops=(Hop(question=HOSTILE),),
    )
    found = verdict(seen.trace_id, Outcome.HALLUCINATED, intent=HOSTILE, claims=(bad,), fingerprint=HOSTILE)
    hostile: dict[str, object] = {"findings": (Finding(rule=StructuralRule.QUOTE_NOT_FOUND, claim=0, detail=HOSTILE),)}
    hostile |= {"splitter": HOSTILE, "fingerprint_parts": {HOSTILE: HOSTILE}, "timings_ms": {HOSTILE: 1.0}}
    hostile |= {"answer_hash": HOSTILE, "seen": (SeenText(source=ClaimSource.TOOL, content_hash=HOSTILE, chars=1),)}
    hop = HopVerdict(hop=0, name=HOSTILE, outcome=Outcome.HALLUCINATED, worst_label=ClaimLabel.UNSUPPORTED)
    worst = {"worst": HOSTILE, "worst_why": HOSTILE, "evidence_doc": HOSTILE, "evidence": HOSTILE}
    hostile |= {"hops": (hop.model_copy(update=worst),)}
    found = found.model_copy(update=hostile)
    drawn = item.drawn.model_copy(update={"trace": seen})
    log = [policy_record(drawn.draw.policy_id, document=policy(HOSTILE[:80]), author=HOSTILE)]
    return FakeStore(stored=[item.model_copy(update={"drawn": drawn, "verdicts": [found]})], policies=log)


@pytest.mark.parametrize("path", PATHS)
async def test_every_page_answers_with_the_strict_headers(path: str) -> None:
    """No script, style or frame of anyone else; no cache keeps users' questions."""
    page = await get(WORLD, path)
    assert page.status == 200
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'self'; script-src 'self'")
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", PATHS)
async def test_pages_keep_to_their_own_policy(path: str) -> None:
    """No inline style, script or handler, nothing from another host."""
    page = await get(WORLD, path)
    for tag, attributes in page.tags:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        assert tag != "style"
        assert tag != "script" or attributes["src"].startswith("/static/")
    assert all(link.startswith(("/", "#")) for link in page.links())


async def test_hostile_texts_are_inert_on_every_page() -> None:
    """No element, attribute or link comes from a text, and no template syntax runs."""
    store = hostile_store()
    listed = await get(store, "/flagged")
    (link,) = {link for link in listed.links() if link.startswith("/traces/")}
    shown = await get(store, link)
    for page in (listed, shown):
        assert page.status == 200
        assert "alert(1)" in page.text
        assert "{{ 7*7 }}" in page.text
        assert not [tag for tag, _ in page.tags if tag == "img"]
        assert 1 == sum(tag == "script" for tag, _ in page.tags)
        assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
        assert "\x00" not in page.body
        assert all(target.startswith(("/", "#")) for target in page.links())


async def test_the_trace_page_tells_source_severity_faithfulness_times_and_what_was_judged() -> None:
    """As the verdict holds them; and that the stored answer is the one that was judged."""
    item = stored()
    answer = item.drawn.trace.answer or ""
    said = claim_verdict(ClaimLabel.UNSUPPORTED, source=ClaimSource.USER, claim=claim(subject="The fee"))
    found = item.verdicts[0].model_copy(
        update={
            "claims": (said,),
            "failures": (FailureLabel.UNSUPPORTED_CLAIM,),
            "severities": (Severity.HIGH,),
            "severity": Severity.HIGH,
            "faithfulness": 0.0,
            "findings": (Finding(rule=StructuralRule.QUOTE_NOT_FOUND, claim=0, detail="never said"),),
            "timings_ms": {"split": 0.25, "L1": 1.5},
            "fingerprint_parts": {"detector": "evidence:abc"},
            "splitter": "3",
            "answer_hash": passage_hash(answer),
            "seen": (SeenText(source=ClaimSource.DOCUMENT, content_hash="h", chars=1200),),
        }
    )

    page = await get(FakeStore(stored=[item.model_copy(update={"verdicts": [found]})]), trace_link("t-1", NOW))

    text = " ".join(page.text.split())
    for expected in (
        "unsupported claim high",
        "only the user said so",
        "The fee …",
        "quote not found in claim 1: never said",
        "Faithfulness0.0 % of scorable claims supported",
        "Judgedthe whole answer against 1 passage, 1,200 characters; split by 3",
        "split 0.25 ms, L1 1.50 ms",
        "detector evidence:abc",
    ):
        assert expected in text


async def test_the_trace_page_tells_which_layers_ran_and_how_sure_the_judge_is() -> None:
    """Why and why not, calls, tokens, cost and time; and what comparing several answers showed, when it was done."""
    item = stored()
    judged = claim_verdict(ClaimLabel.UNSUPPORTED, decided_by=Layer.L3, confidence=0.9)
    run = LayerRun(layer=Layer.L3, ran=True, why=LayerReason.SUSPECT, claims=1, calls=1, cached=2, tokens_in=1900)
    run = run.model_copy(update={"tokens_out": 80, "cost_usd": 0.0012, "took_ms": 700.0})
    compared = Consistency(source="resampled", samples=5, votes=2, unstable_claims=(0,), is_flagged=True)
    changes = {
        "claims": (judged,),
        "routing": (LayerRun(layer=Layer.L2, ran=False, why=LayerReason.NOT_ROUTED), run),
        "consistency": compared,
    }
    found = item.verdicts[0].model_copy(update=changes)

    page = await get(FakeStore(stored=[item.model_copy(update={"verdicts": [found]})]), trace_link("t-1", NOW))

    text = " ".join(page.text.split())
    for expected in (
        "L2 models not run: not routed",
        "L3 judge ran: suspect 1 1 call, 2 from the cache 1 900, 80 0.0012 USD 700.0 ms",
        "5 answers compared, the others drawn anew from the recorded prompt; 2 say the same; too few support claim 1",
        "unstable",
        "the judge's word, confidence 0.90",
    ):
        assert expected in text
    assert "Which layers ran" not in (await get(FakeStore(stored=[item]), trace_link("t-1", NOW))).text


async def test_the_trace_page_shows_how_each_hop_fared() -> None:
    """What it was asked, its claims by label, and the worst one beside its evidence."""
    worse = HopVerdict(
        hop=1,
        name="price",
        outcome=Outcome.HALLUCINATED,
        claims=3,
        supported=2,
        unsupported=1,
        derived=1,
        left_out=4,
        worst_label=ClaimLabel.UNSUPPORTED,
        worst="It costs 5 euros.",
        worst_why="not in the evidence",
        evidence_doc="tool:price",
        evidence="4 euros",
    )
    gone = HopVerdict(hop=7, outcome=Outcome.NO_CLAIMS)
    item = stored()
    hops = (Hop(question="Which?"), Hop(question=f"How much? {'x' * 400}"))
    drawn = item.drawn.model_copy(update={"trace": item.drawn.trace.model_copy(update={"hops": hops})})
    changes = {"hops": (worse, gone), "hops_left_out": 2, "claims": (claim_verdict(ClaimLabel.UNSUPPORTED, hop=1),)}
    found = item.verdicts[0].model_copy(update=changes)

    changed = item.model_copy(update={"drawn": drawn, "verdicts": [found]})
    page = await get(FakeStore(stored=[changed]), trace_link("t-1", NOW))

    text = " ".join(page.text.split())
    for expected in (
        "Hops before the answer",
        "2 price",
        "How much?",
        "xxx…",
        "3 supported 2 unsupported 1 1 rest on an earlier hop 4 not judged",
        "tool:price: 4 euros",
        "unsupported It costs 5 euros.",
        "not in the evidence",
        "2 more hops were not checked.",
        "hop 2",
    ):
        assert expected in text
    assert "Hops before" not in (await get(FakeStore(stored=[item]), trace_link("t-1", NOW))).text


async def test_the_trace_page_says_when_another_answer_is_stored_than_was_judged() -> None:
    """Hashes are compared, since a later revision may have replaced it."""
    item = stored()
    found = item.verdicts[0].model_copy(update={"answer_hash": "other"})

    page = await get(FakeStore(stored=[item.model_copy(update={"verdicts": [found]})]), trace_link("t-1", NOW))

    assert "another answer than the stored one against nothing" in " ".join(page.text.split())


async def test_alert_with_hostile_texts_is_inert() -> None:
    """Its id and intent too."""
    bad = alert(HOSTILE, slice=alert().slice.model_copy(update={"intent": HOSTILE}), fingerprint=HOSTILE)
    store = FakeStore(alert_rows=[bad])
    (link,) = {link for link in (await get(store, "/alerts")).links() if link.startswith("/alerts/")}
    for path in ("/", "/alerts", link):
        page = await get(store, path)
        assert page.status == 200
        assert not [tag for tag, _ in page.tags if tag == "img"]


async def test_page_of_an_answer_says_which_policy_held() -> None:
    """Its name, its id, from when and by whom."""
    record = policy_record("p-test", document=policy("autumn"), effective_from=NOW, author="ana")
    (link,) = {link for link in (await get(FakeStore(stored=[stored("t-1")]), "/flagged")).links() if "t-1" in link}
    page = await get(FakeStore(stored=[stored("t-1")], policies=[record]), link)
    assert "autumn p-test, from 2026-03-10 12:00" in " ".join(page.text.split())


@pytest.mark.parametrize(
    "trace_id", ["a/b", "..", ".", "%2e%2e", "a?b#c", "a%2Fb", "ü 🙂", "a\\b", "+", ";x", "{a}", "a\nb"]
)
async def test_any_id_is_found_again_by_its_link(trace_id: str) -> None:
    """Ids are the producer's."""
    store = FakeStore(stored=[stored(trace_id)])
    (link,) = {link for link in (await get(store, "/flagged")).links() if link.startswith("/traces/")}
    assert (await get(store, link)).status == 200


async def test_empty_store_says_what_to_do_and_shows_no_rate() -> None:
    """Nothing is not zero, and not health."""
    page = await get(FakeStore(), "/")
    assert page.status == 200
    assert "No traces yet" in page.text
    assert "groundwatch replay" in page.text
    assert "0.0 %" not in page.text
    assert "No alert is firing" not in page.text


async def test_overview_tells_rate_interval_and_n_and_since_when() -> None:
    """The firing slice stands on top with the change that came before it."""
    page = await get(WORLD, "/")
    assert "20.1 % [17.2, 23.4] n = 812" in page.text
    assert "prompt p-1 → p-2" in page.text
    assert "12 h ago" in page.text
    assert "stale" in page.text


async def test_alert_page_answers_the_five_questions() -> None:
    """What, since when, for whom, after which change, with three examples and their traces."""
    page = await get(WORLD, "/alerts/jump-refunds-high-20260310")
    for text in ("What broke", "Since", "For whom", "After which change", "4.0 times as many"):
        assert text in page.text
    assert 3 <= sum(link.startswith("/traces/") for link in page.links())
    assert any(link.startswith("/flagged?intent=refunds&tier=high&since=") for link in page.links())
    assert "A refund is possible within 30 days of delivery." in page.text


async def test_alert_examples_of_other_tenants_are_not_shown() -> None:
    """An alert's own examples carry no tenant, so a reader of some tenants sees flagged answers of theirs alone."""
    page = await get(WORLD, "/alerts/jump-refunds-high-20260310", tenants=frozenset({"other"}))
    assert "90 days" not in page.text
    page = await get(WORLD, "/alerts/jump-refunds-high-20260310", tenants=frozenset({"acme"}))
    assert "90 days" in page.text


async def test_trace_of_another_tenant_is_not_found() -> None:
    """As if it did not exist."""
    path = f"/traces/{NOW.isoformat().replace('+00:00', 'Z')}/t-3"
    assert (await get(WORLD, path)).status == 200
    assert (await get(WORLD, path, tenants=frozenset({"other"}))).status == 404


async def test_a_trace_is_found_by_its_id_alone() -> None:
    """Whoever has an id from a log need not know when the request was; others' traces are not found that way either."""
    (at,) = (item.drawn.trace.ts for item in WORLD.stored if item.drawn.trace.trace_id == "t-3")
    page = await get(WORLD, "/traces/t-3")
    assert (302, trace_link("t-3", at)) == (page.status, page.headers["Location"])
    assert "Content-Security-Policy" in page.headers
    assert (await get(WORLD, page.headers["Location"])).status == 200
    assert (await get(WORLD, "/traces/t-3", tenants=frozenset({"other"}))).status == 404


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/?period=9y", 400, "period must be one of"),
        ("/flagged?tier=x", 400, "tier must be one of"),
        ("/traces/soon/t-1", 400, "ts must be a moment"),
        ("/traces/2026-03-10T12:00:00Z/none", 404, "No trace has this id"),
        ("/traces/none", 404, "No trace has this id"),
        ("/alerts/none", 404, "No alert has this id"),
        ("/static/none.css", 404, "no such file"),
        ("/static/..%2Froutes.py", 404, "no such file"),
    ],
)
async def test_errors_say_what_is_wrong(path: str, status: int, text: str) -> None:
    """With the same headers as any page."""
    page = await get(WORLD, path)
    assert status == page.status
    assert text in page.text
    assert "Content-Security-Policy" in page.headers


@pytest.mark.parametrize("path", [*PATHS, "/traces/2026-03-10T12:00:00Z/t-1", "/live"])
async def test_unreachable_store_is_told_without_its_address(path: str) -> None:
    """503 with what to do; the error's text may hold an address and stays out."""
    page = await get(FakeStore(broken=StoreUnavailable("http://user:secret@host")), path)
    assert page.status == 503
    assert page.headers["Retry-After"] == "5"
    assert "The store does not answer" in page.text
    assert "secret" not in page.text


async def test_flagged_list_reaches_older_answers() -> None:
    """A page holds twenty; the link to the next one goes on where it ends."""
    first = await get(WORLD, "/flagged")
    assert 20 == sum(link.startswith("/traces/") for link in first.links())
    (older,) = [link for link in first.links() if "until=" in link]
    second = await get(WORLD, older)
    assert 4 == sum(link.startswith("/traces/") for link in second.links())


async def test_flagged_filters_stay_in_the_form() -> None:
    """And an empty result says so."""
    page = await get(WORLD, "/flagged?intent=none&tier=high")
    assert ("input", "none") in [(tag, attributes.get("value")) for tag, attributes in page.tags]
    assert "Nothing hallucinated is stored" in page.text


async def test_live_counts_are_json_without_texts() -> None:
    """What the script in the header needs."""
    page = await get(WORLD, "/live")
    found = json.loads(page.body)
    assert {"traces", "drawn", "verdicts", "firing", "last", "generation"} == found.keys()
    assert found["firing"] == 1
    assert page.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(("name", "kind"), [("groundwatch.css", "text/css"), ("live.js", "text/javascript")])
async def test_static_files_have_their_type(name: str, kind: str) -> None:
    """A browser told not to guess needs it."""
    page = await get(WORLD, f"/static/{name}")
    assert page.headers["Content-Type"].startswith(kind)
    assert "max-age" in page.headers["Cache-Control"]


async def test_not_drawn_trace_says_that_it_has_no_verdict() -> None:
    """Rather than showing it as good."""
    item = stored("quiet")
    drawn = item.drawn.model_copy(update={"draw": item.drawn.draw.model_copy(update={"drawn": False})})
    store = FakeStore(stored=[item.model_copy(update={"drawn": drawn, "verdicts": []})])
    page = await get(store, "/traces/2026-03-10T12:00:00Z/quiet")
    assert "not drawn" in page.text
    assert "grounded" not in page.text


async def test_slice_that_learns_is_told_as_such() -> None:
    """Two days of data are too few for a reference."""
    page = await get(world(NOW - timedelta(0), hours=26), "/")
    assert "learning" in page.text
