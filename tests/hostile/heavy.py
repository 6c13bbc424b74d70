"""Kinds that cost megabytes or tenths of a second: of each there are one or a few in ten thousand messages."""

from tests.hostile.message import Hostile, Kind, Maker

_TEXT = "Lamps may be returned within 30 days of delivery."
_SENTENCE = "Lamp {0} may be returned within {0} days of delivery. "


def _answer(text: str, outcome: str = "") -> Kind:
    return lambda m: m.stored(m.encoded(answer=text), outcome)


def _passages(m: Maker) -> Hostile:
    passages = [{"doc_id": f"d{n}", "text": _SENTENCE.format(n)} for n in range(10_000)]
    return m.stored(m.encoded(passages=passages))


def _prompt(m: Maker) -> Hostile:
    alike = [{"doc_id": f"d{n}", "text": "ab" * 20 + f"c{n}"} for n in range(1_000)]
    return m.stored(m.encoded(packed_prompt="ab" * 2_000_000, passages=alike))


def _cited(m: Maker) -> Hostile:
    numbers = range(1_000)
    answer = "".join(f"Lamp {n} may be returned [d{n}]. " for n in numbers)
    return m.stored(
        m.encoded(answer=answer, passages=[{"doc_id": f"d{n}", "text": _SENTENCE.format(n)} for n in numbers])
    )


def _surrogate(m: Maker) -> Hostile:
    answer = m.encoded(answer="X").replace(b'"X"', b'"' + b"All is well. " * 400_000 + rb'\ud83d"')
    return m.stored(answer, "error:too_long", "surrogate_replaced")


def _citations(form: str) -> Kind:
    def make(m: Maker) -> Hostile:
        marks = "".join(form.format(number) for number in range(10_000))
        return m.stored(m.encoded(answer=f"You can return a lamp within 30 days {marks}."))

    return make


COSTLY: dict[str, Kind] = {
    "same_passage_500_times": lambda m: m.stored(m.encoded(passages=[{"doc_id": "returns", "text": _TEXT}] * 500)),
    "citations_by_number": _citations("[{}]"),
    "citations_by_name": _citations("[source:{}]"),
    "citations_alike": _citations("[returns]"),
    "many_claims": _answer("- Lamps may be returned.\n" * 2000),
}
HEAVY: dict[str, Kind] = {
    "answer_of_5_mb": _answer("All is well here. " * 290_000, "error:too_long"),
    "line_of_10_mb": lambda m: m.stored(
        m.encoded(passages=[{"doc_id": "returns", "text": "x" * 10_000_000}]), "error:too_long"
    ),
    "passage_of_5_mb": lambda m: m.stored(
        m.encoded(passages=[{"doc_id": "returns", "text": "Lamps may be returned. " * 220_000}]), "error:too_long"
    ),
    "tool_output_of_5_mb": lambda m: m.stored(
        m.encoded(tool_calls=[{"name": "find", "output": "lamp " * 1_000_000}]), "error:too_long"
    ),
    "user_of_5_mb": lambda m: m.stored(m.encoded(user_id="u" * 5_000_000)),
    "ten_thousand_passages": _passages,
    "prompt_of_alike_passages": _prompt,
    "a_thousand_citations_of_a_thousand": _cited,
    "list_items": _answer("- a\n" * 100_000, "error:too_long"),
    "surrogate_behind_5_mb": _surrogate,
    "hundred_thousand_fields": lambda m: m.stored(m.encoded(**{f"f{n}": n for n in range(100_000)})),
    "million_wrong_passages": lambda m: m.letter(m.written("passages", "[" + "{}," * 999_999 + "{}]"), "missing_field"),
    "million_wrong_numbers": lambda m: m.letter(
        m.written("token_logprobs", "[" + '"x",' * 999_999 + '"x"]'), "wrong_type"
    ),
    "open_lists": lambda m: m.letter(b"[" * 5_000_000, "too_deep"),
    "cut_off_at_5_mb": lambda m: m.letter(b'{"answer": "' + b"x" * 5_000_000, "not_json"),
    "binary_of_5_mb": lambda m: m.letter(b"\xff" + m.rng.randbytes(5_000_000), "not_utf8"),
}
