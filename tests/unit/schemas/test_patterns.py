"""Patterns of the policy: what RE2 can run, and what it is told about text that people send."""

import pytest

from schemas.errors import ConfigError
from schemas.patterns import compile_any, compile_pattern


@pytest.mark.parametrize(
    "source",
    ["(", "[a", "*", "(?=a)", "(?<!a)b", r"(a)\1", "(?P<n>a)(?P=n)", "a{1001}", r"a\Z", "\ud800", "x" * 1001],
)
def test_a_pattern_that_re2_cannot_run_is_refused_with_the_fix(source: str) -> None:
    """Python's own engine would take some of these; what is checked is what runs."""
    with pytest.raises(ConfigError, match=r"needs a backslash|shorten it"):
        compile_pattern(source)


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("^policy-", "Policy-7", True),
        ("^policy-", "my policy-7", False),
        ("é", "CAFÉ", True),
        ("b", "a\ud800b", True),
        ("b", "a\x00b", True),
        ("b", "", False),
    ],
)
def test_a_pattern_is_searched_for_anywhere_and_ignores_case(source: str, text: str, expected: bool) -> None:
    """Half characters and NUL are only text."""
    assert expected is compile_pattern(source).is_in(text)


def test_a_pattern_made_to_be_slow_is_not() -> None:
    """Nested repeats over a long text would keep a backtracking engine busy past any limit."""
    assert not compile_pattern("(a|aa|a+)+$").is_in("a" * 1_000_000 + "b")


@pytest.mark.parametrize(
    ("sources", "text", "expected"),
    [
        (("^never", "a|b$"), "so B", True),
        (("^never", "a|b$"), "it never is", False),
        (("a{1000}{1000}", "b"), "b", None),
        ((r"\Qa(", "b"), "b", None),
    ],
)
def test_several_patterns_make_one_where_they_can(sources: tuple[str, ...], text: str, expected: bool | None) -> None:
    """It matches where any of them does; None sends the caller back to each."""
    found = compile_any(sources)

    assert expected == (None if found is None else found.is_in(text))
