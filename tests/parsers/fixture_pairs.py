"""Fixture pairs: `fixtures/<folder>/<case>.txt`, printed by the tool itself, and what it reads as beside it.

A test module names its parser and folder and gets its cases; `python -m tests.parsers.fixture_pairs PARSER FOLDER CASE`
writes the expected half of a new one, to be checked against the output by eye.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from apps.parsers.shape import ParsedRun, ParsedSample
from apps.parsers.source_text import SourceText

FIXTURES = Path(__file__).parent / "fixtures"


def cases(folder: str) -> list[str]:
    return sorted(path.stem for path in (FIXTURES / folder).glob("*.txt"))


def expected(folder: str, case: str) -> Any:
    return json.loads((FIXTURES / folder / f"{case}.expected.json").read_text())


def told(parser: Any, folder: str, case: str) -> Any:
    """What the parser says, as JSON gives it back."""
    text = SourceText((FIXTURES / folder / f"{case}.txt").read_bytes())
    parsed = parser.parse(text)
    said = {
        "looks_like": parser.looks_like(text),
        "warnings": parsed.warnings,
        "broken": [str(one) for one in parsed.broken],
        "runs": [_run(one) for one in parsed.runs],
    }
    return json.loads(json.dumps(said))


def _run(one: ParsedRun) -> dict[str, Any]:
    said = {
        name: getattr(one, name) for name in one.__struct_fields__ if name != "samples"
    }  # fmt: skip
    filled = {name: value for name, value in said.items() if value not in ("", None, (), {}, False)}
    return {**filled, "samples": [_sample(each) for each in one.samples]}


def _sample(one: ParsedSample) -> list[Any]:
    point = [one.file_size, one.block_size, one.threads]
    doubts = [each for each in (one.low, one.high, one.missing_reason, one.note, one.cpu) if each not in ("", None)]
    quality = [] if one.quality == "exact" else [one.quality]
    return [one.operation, one.metric, one.value, one.printed, one.line, point, *quality, *doubts]


def _write(parser: str, folder: str, case: str) -> None:
    said = told(importlib.import_module(f"apps.parsers.{parser}"), folder, case)
    for one in said["runs"]:
        one["samples"] = [f"@{json.dumps(each, ensure_ascii=False)}@" for each in one["samples"]]
    text = json.dumps(said, indent=1, ensure_ascii=False)
    text = text.replace('"@', "").replace('@"', "").replace('\\"', '"').replace("\\\\", "\\")
    assert json.loads(text) == told(importlib.import_module(f"apps.parsers.{parser}"), folder, case)
    (FIXTURES / folder / f"{case}.expected.json").write_text(text + "\n")


if __name__ == "__main__":
    parser_name, folder_name, *names = sys.argv[1:]
    for name in names or cases(folder_name):
        _write(parser_name, folder_name, name)
