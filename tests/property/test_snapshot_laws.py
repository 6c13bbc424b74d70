"""Laws of the document snapshot and of staleness."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from detectors.structural.snapshot import Snapshot, annotate
from detectors.structural.staleness import stale_rules
from schemas.document import DocumentVersion
from schemas.trace import Passage, Trace
from tests.builders import NOW, trace

_moments = st.none() | st.integers(-3, 3).map(lambda days: NOW + timedelta(days=days))
_ids, _versions = st.sampled_from(["a", "b"]), st.sampled_from(["", "1", "2", "10"])
_trusts = st.sampled_from(["trusted", "untrusted", "unknown"])
_roles = st.sampled_from([(), ("x",), ("x", "y")])


@st.composite
def _documents(draw: st.DrawFn) -> list[DocumentVersion]:
    keys = draw(st.lists(st.tuples(_ids, _versions), unique=True, max_size=6))
    return [
        DocumentVersion(
            doc_id=doc_id,
            version=version,
            effective_from=draw(_moments),
            updated_at=draw(_moments),
            first_seen_at=draw(_moments),
            archived=draw(st.booleans()),
            archived_at=draw(_moments),
            superseded_by=draw(st.sampled_from(["", "2"])),
            superseded_at=draw(_moments),
            allowed_roles=draw(_roles),
            trust=draw(_trusts),
        )
        for doc_id, version in keys
    ]


_passages = st.builds(
    Passage,
    doc_id=_ids,
    version=_versions,
    text=st.just("text"),
    updated_at=_moments,
    effective_from=_moments,
    archived=st.booleans(),
    superseded_by=st.sampled_from(["", "2"]),
    allowed_roles=_roles,
    trust=_trusts,
)
_traces = st.lists(_passages, max_size=4).map(lambda passages: trace(passages=tuple(passages)))


@given(documents=_documents(), seen=_traces, data=st.data())
def test_the_order_of_documents_is_no_matter(
    documents: list[DocumentVersion], seen: Trace, data: st.DataObject
) -> None:
    """A file may be sorted in any way."""
    other = data.draw(st.permutations(documents))

    assert annotate(seen, Snapshot.of(documents)) == annotate(seen, Snapshot.of(other))


@given(documents=_documents(), seen=_traces)
def test_telling_twice_changes_nothing(documents: list[DocumentVersion], seen: Trace) -> None:
    """So a trace that comes again is stored as it was."""
    snapshot = Snapshot.of(documents)
    once = annotate(seen, snapshot)

    assert once == annotate(once, snapshot)


@given(documents=_documents(), seen=_traces)
def test_what_a_passage_says_is_never_taken_back(documents: list[DocumentVersion], seen: Trace) -> None:
    """Only gaps are filled, and archived or superseded are added."""
    after = annotate(seen, Snapshot.of(documents)).passages or ()

    for old, new in zip(seen.passages or (), after, strict=True):
        said = {key: value for key, value in old.model_dump().items() if value not in (None, "", (), "unknown", False)}
        assert said.items() <= new.model_dump().items()


@given(passages=st.lists(_passages, max_size=6), at=st.integers(-3, 3).map(lambda days: NOW + timedelta(days=days)))
def test_staleness_goes_with_the_passage_not_with_its_place(passages: list[Passage], at: datetime) -> None:
    """Any order gives every passage the same reason, and a copy beside it changes nothing."""
    rules = stale_rules(passages, at)

    assert rules[::-1] == stale_rules(passages[::-1], at)
    assert (*rules, *rules) == stale_rules([*passages, *passages], at)
