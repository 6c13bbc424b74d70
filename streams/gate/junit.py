"""The report as JUnit XML, which CI systems show: a test case per golden case, a suite per slice, one of the gates.

Written with the standard library: nothing is parsed, and it is one element per line of the report. Only what the
common schema (Jenkins' junit-10.xsd) knows is used, so properties stand at suites; what belongs to a case is its
system-out.
"""

import re
from xml.etree import ElementTree as ET

from detectors.gate import CaseResult, Status
from streams.gate.gates import GateResult
from streams.gate.report import GateReport, RunInfo

_NOT_XML = re.compile(
    "[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0001fffd\U00020000-\U0010ffff]"
)
"""XML 1.0 has no form for control characters and lone surrogates, not even as references."""
_DIRECTION = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def junit_xml(report: GateReport) -> str:
    """The whole document, ASCII with references, so that no viewer has to guess an encoding."""
    root = ET.Element("testsuites", name="groundwatch gate")
    suites = [_gates_suite(report)]
    for one in report.slices:
        own = [result for result in report.results if (result.intent, result.tier) == (one.intent, one.tier)]
        suites.append(_slice_suite(f"groundwatch.{_line(one.intent or '')}.{one.tier}", own))
    root.extend(suites)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    ET.indent(root)
    text: str = ET.tostring(root, encoding="us-ascii", xml_declaration=True).decode("ascii")
    return text + "\n"


def clean(text: str) -> str:
    """Text that XML can hold and that cannot turn the lines of a viewer around; what it cannot is U+FFFD."""
    return _DIRECTION.sub("\ufffd", _NOT_XML.sub("\ufffd", text))


def _gates_suite(report: GateReport) -> ET.Element:
    suite = _suite("groundwatch.gates", len(report.gates), sum(not gate.is_passed for gate in report.gates), 0, 0)
    properties = ET.SubElement(suite, "properties")
    runs = (("candidate", report.candidate), ("baseline", report.baseline))
    named = {"golden": report.golden, "golden_version": report.golden_version}
    named |= {f"{name}.{part}": value for name, run in runs if run for part, value in _run_properties(run).items()}
    for name, value in named.items():
        ET.SubElement(properties, "property", name=_line(name), value=_line(value))
    for gate in report.gates:
        name = f"{gate.gate} {gate.tier or 'all tiers'}"
        case = ET.SubElement(suite, "testcase", name=name, classname="groundwatch.gates", time="0")
        if not gate.is_passed:
            ET.SubElement(case, "failure", type=gate.gate, message=gate_line(gate))
        else:
            ET.SubElement(case, "system-out").text = gate_line(gate)
    return suite


def _run_properties(run: RunInfo) -> dict[str, str]:
    named = {"file": run.file, "policy": run.policy, "policy_id": run.policy_id, "fingerprint": run.fingerprint}
    return named | {name: ", ".join(values) for name, values in run.versions.items()}


def gate_line(gate: GateResult) -> str:
    """``0.12 (0.05 to 0.24, n = 40), limit 0.1; note``."""
    value = "nothing measured" if gate.value is None else f"{gate.value:.4g}"
    interval = "" if gate.low is None or gate.high is None else f"{gate.low:.3g} to {gate.high:.3g}, "
    note = f"; {gate.note}" if gate.note else ""
    return f"{value} ({interval}n = {gate.n}), limit {gate.limit:g}{note}"


def _slice_suite(name: str, results: list[CaseResult]) -> ET.Element:
    failures, errors, skipped = (sum(result.status is status for result in results) for status in _ELEMENTS)
    seconds_in_all = sum(result.took_ms for result in results) / 1000
    suite = _suite(name, len(results), failures, errors, skipped, seconds_in_all)
    for result in results:
        seconds = f"{result.took_ms / 1000:.3f}"
        case = ET.SubElement(suite, "testcase", name=_line(result.case_id), classname=name, time=seconds)
        if result.status is not Status.PASSED:
            told = "; ".join(f"{reason.fault}: {reason.detail}".removesuffix(": ") for reason in result.reasons)
            found = ET.SubElement(case, _ELEMENTS[result.status], message=_line(told))
            if result.status is not Status.UNCLEAR:
                found.set("type", str(result.diagnosis))
        ET.SubElement(case, "system-out").text = clean(_case_text(result))
    return suite


_ELEMENTS = {Status.FAILED: "failure", Status.ERROR: "error", Status.UNCLEAR: "skipped"}


def _case_text(result: CaseResult) -> str:
    named = {"owner": result.owner, "outcome": result.outcome, "diagnosis": result.diagnosis, "trace": result.trace_id}
    lines = [f"{name}: {value}" for name, value in named.items() if value]
    return "\n".join([*lines, f"question: {result.question}", f"answer: {result.answer}"])


def _suite(name: str, tests: int, failures: int, errors: int, skipped: int, seconds: float = 0.0) -> ET.Element:  # noqa: PLR0913, PLR0917 - the attributes of the schema
    numbers = {"tests": tests, "failures": failures, "errors": errors, "skipped": skipped}
    return ET.Element(
        "testsuite", {"name": name, **{key: str(n) for key, n in numbers.items()}, "time": f"{seconds:.3f}"}
    )


def _line(text: str) -> str:
    return " ".join(clean(text).split())
