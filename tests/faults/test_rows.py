"""The table of promises in docs/reference/faults.md: all 25 rows are there, each with a test that exists and says honestly when it runs."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "reference" / "faults.md"
ROWS = set(range(1, 26))
LINE = re.compile(r"\| (\d+) \| (.*?) ?\| `(tests/[\w/.]+)::(\w+)` \| (.+?) \| (.+?) \|")


def read_lines() -> list[tuple[int, str, str, str, str, str]]:
    """Return row, promise, file, test, count of the short and count of the long form of every line of the table."""
    rows = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if re.match(r"\| \d", line)]
    found = [LINE.match(line) for line in rows]
    assert None not in found, [line for line, match in zip(rows, found, strict=True) if match is None]
    return [(int(match[1]), *match.groups()[1:]) for match in found if match]  # type: ignore[misc]


LINES = read_lines()


@cache
def functions(path: Path) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


def is_long(path: Path, test: ast.FunctionDef) -> bool:
    """Return whether the test has the mark `long`, of its own or of its file."""
    marks = [ast.unparse(decorator) for decorator in test.decorator_list]
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            marks.append(ast.unparse(node.value))
    return any("mark.long" in mark for mark in marks)


def test_every_row_has_a_promise_in_words_and_a_test() -> None:
    assert {row for row, *_ in LINES} == ROWS
    promised = [row for row, promise, *_ in LINES if promise]
    assert sorted(promised) == sorted(ROWS), "each promise is said once"


def test_every_named_test_exists() -> None:
    lost = [f"row {row}: {file}::{name}" for row, _, file, name, *_ in LINES if name not in functions(ROOT / file)]
    assert not lost


def test_who_runs_in_the_long_form_alone_is_shown_so() -> None:
    for row, _, file, name, short, long in LINES:
        path = ROOT / file
        assert (short == "–") == is_long(path, functions(path)[name]), f"row {row}: {file}::{name}"
        assert long != "–"
