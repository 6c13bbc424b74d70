"""Lists of sources and footnotes of an answer."""

import pytest

from detectors.claims.references import read_sources, source_list_spans

LISTS = [
    ("It is free [1].\n\nSources: [1] Returns policy, [2] Terms", ["Sources: [1] Returns policy, [2] Terms"]),
    (
        "It is free.\n\n**References:**\n1. Returns\n2. Terms\n\nAnything else?",
        ["**References:**", "1. Returns", "2. Terms"],
    ),
    ("Es ist frei.\n\n## Quellen\n- rueckgabe\n- agb", ["## Quellen", "- rueckgabe", "- agb"]),
    ("Sources\n\nReturns policy\nShipping terms", ["Sources", "Returns policy", "Shipping terms"]),
    ("It is free [^1].\n\n[^1]: Return policy", ["[^1]: Return policy"]),
    ("It is free [1].\n[1]: https://shop.example/returns", ["[1]: https://shop.example/returns"]),
    ("It is free [1] and fast [2].\n\n[1] Returns\n[2] Delivery", ["[1] Returns", "[2] Delivery"]),
    ("It is free.¹\n\n¹ Return policy", ["¹ Return policy"]),
    ("無料です。\n出典：返品規約", ["出典：返品規約"]),
    ("It is free.\n\nSource: https://shop.example/returns", ["Source: https://shop.example/returns"]),
    ("It is free.\n\nSources:\n\n[1] Returns\n\n[2] Terms", ["Sources:", "[1] Returns", "[2] Terms"]),
    (
        "Sources:\n- How refunds are paid out\n- What You Can Return To Us",
        ["Sources:", "- How refunds are paid out", "- What You Can Return To Us"],
    ),
    ("Sources:\n- When it is free: https://x.example/y", ["Sources:", "- When it is free: https://x.example/y"]),
    ("Sources:\n- A refund is paid out in cash within 90 days (https://x.example/y)", []),
    ("[1] It opens\n[2] It closes", []),
    ("Sources of income: rent and pay.", []),
    ("Sources: the refund is paid within 90 days", []),
    ("Sources:\nRefunds take 90 days and they are paid in cash.", []),
    ("It is free [^1].\n\n[^1]: A refund is paid within 90 days of the return.", []),
    ("[1] Open the app\n[2] Choose an order", []),
    ("Steps:\n1. Open it\n2. Save it", []),
    ("Reference the order number. It is free.", []),
    ("", []),
]


@pytest.mark.parametrize(("answer", "expected"), LISTS)
def test_spans_hold_what_only_names_sources(answer: str, expected: list[str]) -> None:
    """A statement never hides in a list of sources; lines without a heading count when the text above cites them."""
    assert expected == [answer[start:end] for start, end in source_list_spans(answer)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("A [1].\n\nSources: [1] Returns, [2] Terms", {"1": "Returns", "2": "Terms"}),
        ("A [1].\n\nReferences:\n1. Returns\n2) Terms", {"1": "Returns", "2": "Terms"}),
        ("A [^Note].\n\n[^Note]: Return policy", {"note": "Return policy"}),
        ("A [^1].\n\n[^1]: A refund is paid within 90 days of it.", {"1": "A refund is paid within 90 days of it."}),
        ("A.²\n\nNotes\n\n² Terms", {"2": "Terms"}),
        ("A [1].\n\nSources: [1], [2]", {}),
        ("[1]: first\n[1]: second", {"1": "first"}),
    ],
)
def test_labels_are_read_with_what_they_stand_for(answer: str, expected: dict[str, str]) -> None:
    """The first definition of a label counts, and letter case is no matter."""
    assert expected == read_sources(answer).by_label


def test_ten_thousand_entries_are_read_in_one_go() -> None:
    """A long list is a list."""
    answer = "It is free [1].\n\nSources:\n" + "\n".join(f"[{number}] Returns {number}" for number in range(10_000))

    assert 10_001 == len(source_list_spans(answer))
