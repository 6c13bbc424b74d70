"""The demo corpus keeps its promises: references, labels, figures, names, style and counts."""

import re
from collections import Counter
from datetime import timedelta
from statistics import median

import pytest

from demo.corpus import CORPUS_AS_OF, AnswerKind, DemoAnswer, build_corpus, load_corpus
from demo.recipe import DEMO_RECIPE
from schemas.errors import ConfigError

CORPUS = load_corpus()
CITATION = re.compile(r"\[([a-z-]+)\]")
FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
NAME = re.compile(r"(?<=[a-zß,;] )[A-Z][a-zäöüß]{2,}")
"""A capitalised word inside an English sentence."""
SOUND_FACTS = {AnswerKind.GOOD, AnswerKind.MISSING_CITATION, AnswerKind.WRONG_CITATION}


def of_kind(*kinds: AnswerKind) -> list[DemoAnswer]:
    """The answers of these kinds."""
    return [answer for answer in CORPUS.answers if answer.kind in kinds]


def seen_text(answer: DemoAnswer) -> str:
    """All passages of an answer as one text."""
    return "\n".join(chunk.text for chunk in CORPUS.passages_of(answer))


def cited(answer: DemoAnswer) -> set[str]:
    """Document ids cited in an answer."""
    return set(CITATION.findall(answer.answer))


def shown(answer: DemoAnswer) -> set[str]:
    """Document ids among the passages of an answer."""
    return {chunk.document.doc_id for chunk in CORPUS.passages_of(answer)}


def uncited_text(answer: DemoAnswer) -> str:
    """The answer without its citations."""
    return CITATION.sub("", answer.answer)


def hard_names(answer: DemoAnswer) -> set[str]:
    """Capitalised words of an English answer that neither its passages nor its question contain."""
    known = seen_text(answer) + answer.question
    return {name for name in NAME.findall(uncited_text(answer)) if name not in known}


def test_every_kind_has_answers_and_the_sound_ones_prevail() -> None:
    """A demo needs all kinds of fault, and more good answers than faults of any one kind."""
    counts = Counter(answer.kind for answer in CORPUS.answers)
    assert set(AnswerKind) == set(counts)
    assert counts[AnswerKind.GOOD] >= 260
    assert min(counts.values()) >= 5
    assert len(CORPUS.answers) >= 400


def test_documents_span_the_intents_with_old_versions_beside_new_ones() -> None:
    """About eighty current documents, and at least ten that replaced an older text with other figures."""
    current = [document for document in CORPUS.documents if not document.superseded_by]
    old = [document for document in CORPUS.documents if document.superseded_by]
    assert 80 <= len(current) <= 100
    assert len(old) >= 10
    by_key = {document.key: document for document in CORPUS.documents}
    for document in old:
        newer = by_key[document.superseded_by]
        assert document.doc_id == newer.doc_id
        assert document.effective_from < newer.effective_from
        assert set(FIGURE.findall(" ".join(document.chunks))) - set(FIGURE.findall(" ".join(newer.chunks)))


def test_documents_are_older_than_the_demo_window() -> None:
    """Otherwise an early trace would show a passage that was written after it."""
    newest = max(max(document.updated_at, document.effective_from) for document in CORPUS.documents)
    assert timedelta(days=1) + DEMO_RECIPE.window < CORPUS_AS_OF - newest


def test_documents_are_short() -> None:
    """Passages of a help centre, not essays."""
    sizes = [len(" ".join(document.chunks).split()) for document in CORPUS.documents]
    assert min(sizes) >= 25
    assert max(sizes) <= 160


def test_sound_answers_take_their_figures_from_their_passages() -> None:
    """A figure of our own would make the label wrong."""
    strange = {
        answer.id: set(FIGURE.findall(uncited_text(answer))) - set(FIGURE.findall(seen_text(answer)))
        for answer in of_kind(*SOUND_FACTS)
    }
    assert {} == {key: figures for key, figures in strange.items() if figures}


def test_good_answers_take_their_names_from_their_passages() -> None:
    """A name of our own would make the label wrong; German nouns are not names."""
    strange = {answer.id: hard_names(answer) for answer in of_kind(*SOUND_FACTS) if not answer.locale.startswith("de")}
    assert {} == {key: names for key, names in strange.items() if names}


def test_good_answers_cite_passages_that_they_were_given() -> None:
    """At least one citation, and none to a document that was not retrieved."""
    good = of_kind(AnswerKind.GOOD)
    assert [] == [answer.id for answer in good if not cited(answer)]
    assert [] == [answer.id for answer in good if cited(answer) - shown(answer)]


def cites_the_wrong_document(answer: DemoAnswer) -> bool:
    """True when a cited document was not given, or was given but holds none of the answer's figures."""
    cited_text = "\n".join(chunk.text for chunk in CORPUS.passages_of(answer) if chunk.document.doc_id in cited(answer))
    is_unknown = bool(cited(answer) - shown(answer))
    return is_unknown or not set(FIGURE.findall(uncited_text(answer))) & set(FIGURE.findall(cited_text))


def test_citation_faults_are_what_their_kind_says() -> None:
    """Missing: none at all. Wrong: to a document that was not given, or to one that says something else."""
    assert [] == [answer.id for answer in of_kind(AnswerKind.MISSING_CITATION) if cited(answer)]
    wrong = of_kind(AnswerKind.WRONG_CITATION)
    assert [] == [answer.id for answer in wrong if not cited(answer) or not cites_the_wrong_document(answer)]
    assert {False, True} == {bool(cited(answer) - shown(answer)) for answer in wrong}


def test_stale_answers_were_given_the_current_text() -> None:
    """Only then does the stale figure contradict what the model saw."""
    for answer in of_kind(AnswerKind.STALE_SOURCE):
        current = {chunk.document.doc_id for chunk in CORPUS.passages_of(answer) if not chunk.document.superseded_by}
        assert cited(answer) <= current


def test_wrong_figures_are_not_in_the_document_they_cite_for_them() -> None:
    """A wrong figure span differs from every statement of the passages."""
    assert [] == [
        answer.id
        for answer in of_kind(AnswerKind.WRONG_FIGURE, AnswerKind.MIXED)
        for span in answer.faulty_spans
        if span.lower() in seen_text(answer).lower()
    ]


def test_faulty_answers_look_like_good_ones() -> None:
    """Neither length nor citations may give the fault away."""
    good = of_kind(AnswerKind.GOOD)
    faulty = [answer for answer in CORPUS.answers if answer.is_hallucinated]
    assert pytest.approx(1, abs=0.25) == median(len(a.answer) for a in faulty) / median(len(a.answer) for a in good)
    assert sum(bool(cited(answer)) for answer in faulty) / len(faulty) >= 0.97
    bullets = [sum("\n- " in a.answer for a in answers) / len(answers) for answers in (good, faulty)]
    assert pytest.approx(bullets[0], abs=0.03) == bullets[1]


def test_every_cell_of_the_recipe_has_good_and_faulty_answers() -> None:
    """The stream draws both in every intent and tier."""
    for cell in DEMO_RECIPE.cells:
        here = [answer for answer in CORPUS.answers if (answer.intent, answer.tier) == (cell.intent, cell.tier)]
        assert len([answer for answer in here if answer.kind == AnswerKind.GOOD]) >= 5
        assert len({answer.kind for answer in here if answer.is_hallucinated}) >= 3
    assert {(a.intent, a.tier) for a in CORPUS.answers} == {(cell.intent, cell.tier) for cell in DEMO_RECIPE.cells}


def test_some_records_are_in_other_languages() -> None:
    """German and Spanish answers go with documents in their language."""
    foreign = [answer for answer in CORPUS.answers if not answer.locale.startswith("en")]
    assert len(foreign) >= 15
    for answer in foreign:
        assert {answer.locale[:2]} == {chunk.document.language for chunk in CORPUS.passages_of(answer)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"passages": ("no-such@1#1",)}, "passage 'no-such@1#1' does not exist"),
        ({"is_hallucinated": True}, "does not fit the kind good"),
        ({"faulty_spans": ("within",)}, "exactly the hallucinated answers"),
        ({"kind": AnswerKind.MIXED, "is_hallucinated": True, "faulty_spans": ("zzz",)}, "'zzz' is not in the answer"),
    ],
)
def test_a_wrong_record_is_refused_by_name(change: dict[str, object], message: str) -> None:
    """An edit that breaks the labels must not reach a stream."""
    good = of_kind(AnswerKind.GOOD)[0]
    with pytest.raises(ConfigError, match=re.escape(message)) as raised:
        build_corpus(CORPUS.documents, (good.model_copy(update=change),))
    assert good.id in str(raised.value)


def test_a_repeated_id_is_refused() -> None:
    """Labels are joined by id."""
    good = of_kind(AnswerKind.GOOD)[0]
    with pytest.raises(ConfigError, match="used more than once"):
        build_corpus(CORPUS.documents, (good, good))


def test_a_dangling_successor_is_refused() -> None:
    """An archived document names a document that exists."""
    lonely = CORPUS.documents[0].model_copy(update={"superseded_by": "gone@9"})
    with pytest.raises(ConfigError, match="gone@9"):
        build_corpus((lonely,), ())
