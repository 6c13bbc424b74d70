"""Golden sets as text: what is read, and how each fault is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from detectors.golden import (
    GoldenSet,
    claims_of,
    golden_text,
    lock_path,
    locked,
    parse_golden,
    read_for_tuning,
    read_golden,
    trace_of,
)
from schemas.errors import ConfigError
from schemas.golden import GoldenCase, GoldenPassage, Split, answer_label_of
from schemas.labels import ClaimLabel, Outcome
from tests.builders import NOW
from tests.builders_golden import golden_case, golden_claim, labelled_answer


def line(**fields: Any) -> str:
    """One line of a file with the two fields that a case needs, and others."""
    return json.dumps({"case_id": "c-1", "question": "How long is the warranty?", **fields})


def faults(*lines: str) -> list[str]:
    """What is wrong with these lines, as people read it."""
    return [str(fault) for fault in parse_golden(lines)[1]]


def test_a_case_needs_id_and_question_alone() -> None:
    """Everything else has a default."""
    golden, found = parse_golden([line()])
    assert ([], Split.DEV, True) == (found, golden.cases[0].split, golden.cases[0].is_answerable)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"case_id": ""}, 'line 1: case_id: string should have at least 1 character, not ""'),
        ({"requiered_sources": []}, "line 1: requiered_sources is not a key; did you mean required_sources?"),
        ({"claims": [{"txt": "x"}]}, "line 1: claims[0].text is missing; add it"),
        ({"is_answerable": "yes"}, 'line 1: is_answerable: input should be a valid boolean, not "yes"'),
        ({"split": "test"}, "line 1: split: input should be 'train', 'dev' or 'holdout', not \"test\""),
        ({"format_version": 99}, "line 1: format_version 99 is newer than 1; update Groundwatch"),
        (
            {"required_sources": ["a"], "forbidden_sources": ["a"]},
            "line 1: required_sources and forbidden_sources both name 'a'; remove one",
        ),
        (
            {
                "answer": "A",
                "answer_labels": [{"label": "error:timeout", "author": "ana", "at": "2026-03-10T12:00:00Z"}],
            },
            (
                "line 1: answer_labels: 'error:timeout' is not a label that people give; use one of abstained, "
                "grounded, hallucinated, unclear"
            ),
        ),
        (
            {"answer": "A", "answer_labels": [{"label": "grounded", "author": "ana", "at": "2026-03-10T12:00:00"}]},
            (
                "line 1: answer_labels[0].at: give the time its zone, for UTC a Z at its end (2026-03-10T12:00:00Z), "
                'not "2026-03-10T12:00:00"'
            ),
        ),
        (
            {"answer": "A", "answer_labels": [{"label": "grounded", "author": "ana"}]},
            "line 1: answer_labels[0].at is missing; add it",
        ),
        (
            {"claims": [{"text": "x"}]},
            "line 1: claims and answer_labels are about a recorded answer, and answer is empty; add it",
        ),
    ],
)
def test_a_fault_names_line_field_and_fix(fields: dict[str, Any], said: str) -> None:
    """So that it can be mended without reading the schema."""
    assert said in faults(line(**fields))


def test_lines_that_are_no_object_are_told_by_their_number() -> None:
    """Also behind blank lines, a byte order mark and a lone surrogate."""
    told = faults("", "\ufeff" + line(), "[1]", "{", line(case_id="c-2", question="\ud83d"), "\ud83d")
    assert ["line 3", "line 4", "line 5", "line 6"] == [fault.split(":")[0] for fault in told]


def test_a_second_case_of_an_id_is_refused() -> None:
    """Labels of one would be taken for those of the other."""
    assert ["line 2: case_id 'c-1' is on line 1 already; give one of the two another id, or remove it"] == faults(
        line(), line(question="Another?")
    )


def test_reading_what_was_written_gives_the_same_set() -> None:
    """Nothing is lost, and the version does not depend on order."""
    cases = (golden_case("c-1", split=Split.HOLDOUT), golden_case("c-2", locale="de"))
    golden, found = parse_golden(golden_text(cases).splitlines())
    turned, _ = parse_golden(golden_text(cases[::-1]).splitlines())
    assert ([], cases, turned.version) == (found, golden.cases, golden.version)


def test_version_changes_with_a_label_and_its_history() -> None:
    """A measured number says which labels it was measured on."""
    twice = golden_case(answer_labels=(labelled_answer(Outcome.HALLUCINATED), labelled_answer()))
    versions = {GoldenSet((case,)).version for case in (golden_case(), twice, golden_case(owner="billing"))}
    assert 3 == len(versions)


@pytest.mark.parametrize(
    ("labels", "answer"),
    [
        ((ClaimLabel.SUPPORTED, ClaimLabel.NOT_FACTUAL), Outcome.GROUNDED),
        ((ClaimLabel.SUPPORTED, ClaimLabel.UNSUPPORTED), Outcome.HALLUCINATED),
        ((ClaimLabel.UNCLEAR, ClaimLabel.CONTRADICTED), Outcome.HALLUCINATED),
        ((ClaimLabel.SUPPORTED, ClaimLabel.UNCLEAR), Outcome.UNCLEAR),
        ((None, ClaimLabel.CONTRADICTED), Outcome.HALLUCINATED),
        ((None, ClaimLabel.SUPPORTED), None),
        ((ClaimLabel.NOT_FACTUAL,), None),
        ((), None),
    ],
)
def test_label_of_an_answer_follows_from_its_claims(
    labels: tuple[ClaimLabel | None, ...], answer: Outcome | None
) -> None:
    """One bad claim decides, and a claim without a label leaves the rest open."""
    assert answer == answer_label_of(labels)


def test_labelled_takes_the_answers_own_label_before_that_of_its_claims() -> None:
    """What a person said of the whole answer wins; what nobody labelled is left out."""
    golden = GoldenSet(
        (
            golden_case("own", claims=(golden_claim(ClaimLabel.UNSUPPORTED),)),
            golden_case("derived", answer_labels=()),
            golden_case("none", answer_labels=(), claims=()),
        )
    )
    found = [(item.case.case_id, item.label, item.is_from_claims) for item in golden.labelled()]
    assert [("own", Outcome.GROUNDED, False), ("derived", Outcome.GROUNDED, True)] == found


def test_a_case_becomes_the_trace_that_its_answer_was_written_from() -> None:
    """What the model was given counts, not what it should have been given; a document without text is no passage."""
    given = (GoldenPassage(doc_id="other", text="Opened software is excluded."), GoldenPassage(doc_id="empty"))
    trace = trace_of(golden_case(given=given, corpus_version="c-9"), NOW)
    assert (["other"], "c-9") == ([passage.doc_id for passage in trace.passages or ()], trace.versions.corpus)
    assert trace_of(golden_case(passages=(), required_sources=(), claims=()), NOW).passages is None


def test_claims_are_found_where_they_stand_in_the_answer() -> None:
    """A text that recurs is found in order; one that is not there is none."""
    answer = "It is free. It is free. It costs 5 EUR."
    texts = ("It is free.", "It is free.", "It costs 6 EUR.", "It costs 5 EUR.")
    claims = claims_of(golden_case(answer=answer, claims=tuple(golden_claim(text=text) for text in texts)))
    assert [0, 12, None, 24] == [None if claim is None else claim.start for claim in claims]
    assert all(claim is None or claim.text == answer[claim.start : claim.end] for claim in claims)


def written(folder: Path, *cases: GoldenCase, is_locked: bool = True) -> Path:
    """A file with these cases and its lock."""
    path = folder / "golden.jsonl"
    path.write_text(golden_text(cases), encoding="utf-8")
    lock = locked(GoldenSet(cases), seed="s", author="ana", now=NOW)
    if is_locked:
        lock_path(path).write_text(lock.model_dump_json(), encoding="utf-8")
    return path


def test_a_holdout_that_differs_from_its_lock_is_not_read(tmp_path: Path) -> None:
    """A label changed by hand, a case removed or added: each is named."""
    cases = [golden_case(case_id, split=Split.HOLDOUT) for case_id in ("c-1", "c-2")]
    path = written(tmp_path, *cases)
    assert tuple(cases) == read_golden(path).cases
    changed = (cases[0].model_copy(update={"answer": "No."}), golden_case("c-3", split=Split.HOLDOUT))
    path.write_text(golden_text(changed), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"c-1 \(changed\), c-2 \(removed\), c-3 \(added\); .*--unlock"):
        read_golden(path)


def test_other_parts_may_change_under_a_lock(tmp_path: Path) -> None:
    """The lock is about the hold-out alone."""
    path = written(tmp_path, golden_case("c-1", split=Split.HOLDOUT), golden_case("c-2"))
    path.write_text(golden_text([golden_case("c-1", split=Split.HOLDOUT), golden_case("c-2", owner="x")]), "utf-8")
    assert ["c-2"] == [case.case_id for case in read_for_tuning(path).cases]


def test_nothing_is_tuned_on_a_holdout(tmp_path: Path) -> None:
    """A set of nothing else is refused."""
    with pytest.raises(ConfigError, match="only hold-out cases"):
        read_for_tuning(written(tmp_path, golden_case(split=Split.HOLDOUT)))


def test_a_file_with_faults_is_refused_with_all_of_them(tmp_path: Path) -> None:
    """Whoever mends it sees them at once."""
    path = tmp_path / "golden.jsonl"
    path.write_text(line(split="x") + "\n{}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        read_golden(path)
    assert ["line 1", "line 2", "line 2"] == [text.split(": ")[1] for text in str(refused.value).splitlines()]
    with pytest.raises(ConfigError, match="cannot read"):
        read_golden(tmp_path / "missing.jsonl")


def test_a_broken_lock_is_no_open_one(tmp_path: Path) -> None:
    """Whoever damages the lock does not unlock."""
    path = written(tmp_path, golden_case(split=Split.HOLDOUT), is_locked=False)
    lock_path(path).write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match="bring the lock back"):
        read_golden(path)
