"""Answers of one shape each that a splitter with nested or unbounded looks takes quadratic time for."""

from collections.abc import Mapping

_UNITS: Mapping[str, str] = {
    "one line of words": "the plan costs five dollars a month and ",
    "one line of sentences": "The plan costs 5 dollars. ",
    "capitals after abbreviations": "Dr. Smith of the U.S. Food Dept. in Goleta, CA. ",
    "dots": ".",
    "dots and letters": "a.",
    "dots and capitals": "A. ",
    "ellipses": "… ",
    "alternating marks": ".!?。؟।|;；",
    "alternating marks, spaced": "a. B! c? D。 e؟ F। ",
    "dot and opening brackets": ". ((((",
    "opening brackets": "(",
    "closing brackets": ")",
    "nested brackets with sentences": "(A. B ",
    "square brackets": "[",
    "half citations": "[1",
    "citations": "[1]",
    "citations after sentences": "It is so. [1] [kb-2] (doc-3) ",
    "opening quotes": "“",
    "nested quotes": "“‘「『",
    "quotes with sentences": "He said “A. B. „C. D.“” ",
    "straight quotes": '"a. B" ',
    "lone straight quotes": ' "a. B',
    "backticks": "`a. B` ``",
    "apostrophes": "‘a’ b’ ",
    "spaces": " ",
    "words far apart": "A." + " " * 500,
    "tabs": "a\tb ",
    "newlines": "\n",
    "blank lines": "a\n \n",
    "wrapped lines": "a line that goes on and on until the margin is reached and be\n",
    "list items": "- Item\n",
    "nested items": "  - **Item**\n      - below\n",
    "headings": "# A\n",
    "bold lines": "**A**\n",
    "titles": "Title\n\n",
    "underlined": "Title\n---\n",
    "rules": "---\n",
    "fences with words": "```a1\n",
    "unlike fences": "```a\n~~~~b\n````\n~~~\n",
    "long fence": "`",
    "table rows": "| a | b |\n",
    "separators": "|---|---|\n",
    "one table row": "| a ",
    "tags": "<p>a</p>",
    "half tags": "<p ",
    "half inline tags": ". <b ",
    "closing tags": "</b>",
    "line breaks in a row": "<br>",
    "entities": "&nbsp;",
    "half entities": "A. &nbsp",
    "addresses": "https://a.b/c?d=e. F ",
    "one address": "https://a.b/",
    "scheme letters": "http",
    "emoji": "👍 ",
    "combining signs": "a\u0301\u0301\u0301",
    "key and value": "Key: value\n",
    "colons": "a: ",
    "definitions": "Term\n: Text\n",
    "refusals": "I do not know, and but because i don't have information about ",
    "Thai": "การคืนเงินใช้เวลา ",
    "Thai without spaces": "การคืนเงินใช้เวลา",
    "Chinese": "退款需要5天。",
    "Chinese without marks": "退款需要",
    "Japanese quotes": "「返金。」と",
    "Arabic": "هل هذا مجاني؟ نعم. ",
    "Hindi bars": "है|",
    "Tibetan": "བོད།",
    "dates": "am 3. 3. ",
    "initials": "J. R. ",
    "NUL": "\x00",
    "surrogates": "\ud83d",
    "overrides": ".\u202e\u202d",
    "zero width": ".\u200b",
    "question marks": "?",
    "sources": "Sources:\n- a\n",
}


def nasty_answers(characters: int) -> dict[str, str]:
    """An answer of so many characters for each shape, by name."""
    answers = {name: (unit * (characters // len(unit) + 1))[:characters] for name, unit in _UNITS.items()}
    answers["row with line breaks"] = ("| a" + "<br>b" * characters)[:characters]
    answers["unclosed quote"] = ("He said “" + "a. B " * characters)[:characters]
    answers["unclosed fence"] = ("```\n" + "It is. So\n" * characters)[:characters]
    answers["brackets in brackets"] = ("(" * (characters // 2) + ")" * (characters // 2))[:characters]
    answers["sentence without end"] = ("The " + "(b. c) " * characters)[:characters]
    answers["quotations without end"] = ("The " + "“b. c” " * characters)[:characters]
    return answers
