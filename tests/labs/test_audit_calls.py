"""Every act in the audit trail names its actor."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

WRITERS = ("record", "record_repeated")


def calls() -> list[tuple[str, set[str]]]:
    """Return every call of one of `WRITERS` as (`file:line`, the names of its keywords)."""
    written = {path: path.read_text() for path in sorted((ROOT / "apps").rglob("*.py"))}
    return [
        (f"{path.relative_to(ROOT)}:{node.lineno}", {keyword.arg or "**" for keyword in node.keywords})
        for path, text in written.items()
        if any(f"{writer}(" in text for writer in WRITERS)  # to read the syntax of all files takes seconds
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITERS
    ]


def test_no_call_hides_the_actor_among_the_details() -> None:
    """`record` takes any keyword as a detail, so that an actor by another name would be lost as the system's act."""
    found = calls()
    assert [place for place, keywords in found if "who" in keywords] == []
    assert sum("actor" in keywords for _, keywords in found) > 40
