"""One loop around every agent, and nothing that the engine does not show: checked on the sources themselves."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOOP = "streams/agents/batches.py"
OF_THE_LOOP = {"noack", "noack_take", "take_events", "agent"}
"""What makes an agent and takes its messages; whoever else used it would have a second loop with rules of its own."""
PATCHED = {"streams/broker/odd_headers.py"}
"""Reads the wire itself, below the engine; its docstring says why."""


def parsed() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the wiring, by its path."""
    for path in sorted((ROOT / "streams").rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def attributes(tree: ast.AST) -> Iterator[ast.Attribute]:
    """All uses of an attribute."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))


def is_own(node: ast.Attribute) -> bool:
    """Whether the attribute is one of the object itself."""
    return isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}


def is_private(name: str) -> bool:
    """A leading underscore, but for the documented names that have one."""
    return (
        name.startswith("_") and not name.startswith("__") and name not in {"_exit", "_fields", "_asdict", "_replace"}
    )


def test_messages_are_taken_in_one_module_alone() -> None:
    """What leaves an agent's body unfinished counts as done, so the guard around it exists once."""
    used = {
        path
        for path, tree in parsed()
        for node in attributes(tree)
        if node.attr in OF_THE_LOOP and isinstance(node.ctx, ast.Load) and not is_own(node)
    }
    assert {LOOP} == used


def test_private_names_of_others_are_not_touched() -> None:
    """A release of the engine or of a client may change them without a word."""
    touched = [
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for path, tree in parsed()
        if path not in PATCHED
        for node in attributes(tree)
        if is_private(node.attr) and not is_own(node)
    ]
    assert [] == touched


def test_an_agent_reads_its_messages_one_after_the_other() -> None:
    """With more than one at a time, an offset would be committed over a message that is still in hand."""
    tree = dict(parsed())[LOOP]
    made = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "app.agent"]
    assert ["1"] == [ast.unparse(word.value) for call in made for word in call.keywords if word.arg == "concurrency"]
