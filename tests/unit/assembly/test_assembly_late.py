"""What a closed trace still takes in, and that circles and wide traces cost no more than others."""

from schemas.trace import Passage
from streams.assembly import AssemblyRules, ClosingRules, assemble, take_late
from streams.assembly.closing import CloseReason
from tests.builders import NOW
from tests.spans import call, retriever, root

RULES = ClosingRules(spans=5, bytes=1_000_000)
MANY = [call(f"c{number}") for number in range(30)]


def test_late_spans_go_in_up_to_four_times_the_cap() -> None:
    """In order, and the rest is counted."""
    late = take_late(MANY[:18], MANY[18:], RULES)
    assert (MANY[18:20], 10, CloseReason.CAP_SPANS) == (list(late.taken), late.left_out, late.cap)


def test_bytes_are_bounded_as_well() -> None:
    """Few spans may be large."""
    large = [retriever(f"r{number}", Passage(text="x" * 900_000)) for number in range(6)]
    late = take_late(large[:1], large[1:], RULES)
    assert (3, 2, CloseReason.CAP_BYTES) == (len(late.taken), late.left_out, late.cap)


def test_the_end_of_the_root_goes_in_once_whatever_came_before() -> None:
    """It holds question and answer."""
    again = root(output="Another answer.")
    assert ((root(),), 1) == (take_late(MANY, [root(), again], RULES).taken, 1)
    assert () == take_late([*MANY, root()], [again], RULES).taken
    assert () == take_late(MANY, [root(end=None)], RULES).taken


def test_a_small_trace_takes_everything_and_has_no_cap() -> None:
    """The usual case."""
    late = take_late([root()], [retriever(), call()], RULES)
    assert ((retriever(), call()), 0, None) == (late.taken, late.left_out, late.cap)


def test_passages_of_a_retriever_in_a_circle_are_kept() -> None:
    """Parents that name each other hide nothing."""
    spans = [root(), retriever("a", parent_id="b"), call("b", parent_id="a")]
    trace = assemble(spans, AssemblyRules(), NOW)
    assert trace is not None
    assert 1 == len(trace.passages or ())


def test_what_is_inside_a_retriever_is_its_business_however_deep() -> None:
    """The inner retriever's candidates are not what the model saw."""
    inner = retriever("inner", Passage(text="A candidate."), parent_id="step2")
    spans = [root(), retriever("outer"), call("step1", parent_id="outer"), call("step2", parent_id="step1"), inner]
    trace = assemble(spans, AssemblyRules(), NOW)
    assert trace is not None
    assert ["tariff-8"] == [passage.doc_id for passage in trace.passages or ()]
