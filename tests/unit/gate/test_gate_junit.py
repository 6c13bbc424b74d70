"""JUnit XML: what the common schema allows, whatever texts a case holds."""

from typing import Any
from xml.etree import ElementTree as ET

from detectors.gate import CaseResult, Diagnosis, Fault, Reason, Status
from schemas.labels import RiskTier
from streams.gate.junit import clean, junit_xml
from streams.gate.limits import limits_of
from streams.gate.report import GateReport, Golden, RunInfo, report_of
from tests.builders_gate import case_result

INFO = RunInfo(
    file="run.jsonl",
    answers=1,
    strangers=0,
    policy="p",
    policy_id="p1",
    fingerprint="f" * 16,
    fingerprint_parts={},
    versions={"model": ("m-1", "m-2")},
)
NASTY = 'a\x00b\x1b[31m\ud800\u202e]]> <b>&"\ufffe\x85\r\n\x0bé😀'
ALLOWED: dict[str, tuple[set[str], set[str]]] = {
    "testsuites": ({"name", "tests", "failures", "errors", "time", "disabled"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package"},
        {"properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), {"property"}),
    "property": ({"name", "value"}, set()),
    "testcase": (
        {"name", "classname", "time", "status", "assertions"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "skipped": ({"message"}, set()),
    "error": ({"type", "message"}, set()),
    "failure": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}
"""Attributes and children by Jenkins' junit-10.xsd."""
REQUIRED = {"testsuite": {"name"}, "testcase": {"name"}, "property": {"name", "value"}}


def report(*results: CaseResult, **limits: Any) -> GateReport:
    """Without a baseline."""
    return report_of(Golden("g.jsonl", "g1"), INFO, results, limits_of("", limits), None)


def parsed(*results: CaseResult) -> ET.Element:
    """The document, read back."""
    return ET.fromstring(junit_xml(report(*results)))  # noqa: S314 - our own text


def nasty_cases() -> list[CaseResult]:
    """One of each status, with texts that no XML holds."""
    fault = Reason(fault=Fault.UNSUPPORTED_CLAIM, diagnosis=Diagnosis.GENERATION, detail=NASTY)
    texts: dict[str, Any] = {"question": NASTY, "answer": NASTY, "owner": NASTY}
    return [
        case_result(NASTY, intent=NASTY, **texts),
        case_result("f", Status.FAILED, reasons=(fault, fault), **texts),
        case_result("e", Status.ERROR, tier=RiskTier.HIGH, **texts),
        case_result("u", Status.UNCLEAR, **texts),
    ]


def test_every_element_is_one_of_the_schema() -> None:
    """With its attributes, its children, and properties before the cases."""
    seen = set()
    for element in parsed(*nasty_cases()).iter():
        attributes, children = ALLOWED[element.tag]
        assert set(element.keys()) - attributes == set()
        assert {child.tag for child in element} - children == set()
        assert REQUIRED.get(element.tag, set()) - set(element.keys()) == set()
        seen.add(element.tag)
        tags = [child.tag for child in element]
        assert "properties" not in tags[1:]
    assert ALLOWED.keys() == seen


def test_counts_are_those_of_the_elements() -> None:
    """In every suite and over all."""
    root = parsed(*nasty_cases())
    for suite in root.iter("testsuite"):
        own = {
            name: len(suite.findall(f"testcase/{tag}")) for name, tag in (("failures", "failure"), ("errors", "error"))
        }
        own |= {"tests": len(suite.findall("testcase")), "skipped": len(suite.findall("testcase/skipped"))}
        assert own == {name: int(suite.attrib[name]) for name in own}
    for name in ("tests", "failures", "errors"):
        assert int(root.attrib[name]) == sum(int(suite.attrib[name]) for suite in root)


def test_a_case_is_found_by_its_slice() -> None:
    """And says what is wrong, for whom."""
    root = parsed(*nasty_cases())
    failed = root.find(".//testcase[@name='f']")
    assert failed is not None
    assert "groundwatch.refunds.medium" == failed.attrib["classname"]
    failure, text = failed.find("failure"), failed.find("system-out")
    assert failure is not None
    assert text is not None
    assert "generation" == failure.attrib["type"]
    assert failure.attrib["message"].startswith("unsupported_claim: a\ufffdb")
    assert "outcome: hallucinated" in (text.text or "")


def test_gates_are_cases_of_their_own_with_the_runs_as_properties() -> None:
    """A failed gate is a failure even where CI shows nothing but the file."""
    root = ET.fromstring(junit_xml(report(case_result("f", Status.FAILED), max_hallucinated=0.0)))  # noqa: S314 - ours
    suite = root.find("testsuite[@name='groundwatch.gates']")
    assert suite is not None
    failed = [case.attrib["name"] for case in suite.findall("testcase") if case.find("failure") is not None]
    assert ["max_hallucinated medium"] == failed
    properties = {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}
    assert ("f" * 16, "m-1, m-2", "g1") == (
        properties["candidate.fingerprint"],
        properties["candidate.model"],
        properties["golden_version"],
    )


def test_nothing_of_users_leaves_xml_or_a_viewer_confused() -> None:
    """Control and direction characters go; letters and emoji stay."""
    assert 'a\ufffdb\ufffd[31m\ufffd\ufffd]]> <b>&"\ufffd\x85\ufffd\n\ufffdé😀' == clean(NASTY)
    assert junit_xml(report(*nasty_cases())).isascii()
