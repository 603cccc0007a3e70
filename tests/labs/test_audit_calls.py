"""Every act in the audit trail names its actor."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

WRITERS = ("record", "record_repeated")


def calls(name: str) -> list[str]:
    """Return where one of `WRITERS` is called with a keyword of this name, as `file:line`."""
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "apps").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITERS
        if any(keyword.arg == name for keyword in node.keywords)
    ]


def test_no_call_hides_the_actor_among_the_details() -> None:
    """`record` takes any keyword as a detail, so that an actor by another name would be lost as the system's act."""
    assert calls("who") == []
    assert len(calls("actor")) > 40
