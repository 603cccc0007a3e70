"""Every `fixtures/bonniepp/<case>.txt`, printed by bonnie++ itself, reads as `<case>.expected.json` says.

Write the expected half of a new case with `python -m tests.parsers.test_bonniepp_fixtures <case>`, then check it
against the output by eye.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from apps.parsers import bonniepp
from apps.parsers.shape import ParsedRun, ParsedSample
from apps.parsers.source_text import SourceText

FIXTURES = Path(__file__).parent / "fixtures" / "bonniepp"
CASES = sorted(path.name.removesuffix(".expected.json") for path in FIXTURES.glob("*.expected.json"))


def sample(one: ParsedSample) -> list[Any]:
    point = [one.file_size, one.block_size, one.threads]
    said = [one.quality, one.missing_reason, one.note]
    return [one.operation, one.metric, one.value, one.low, one.cpu, one.printed, one.line, point, said]


def run(one: ParsedRun) -> dict[str, Any]:
    return {
        "host": one.host, "version": one.tool_version, "lines": [one.line, one.last_line], "caption": one.caption,
        "workload": one.workload, "labels": one.labels, "samples": [sample(each) for each in one.samples],
    }  # fmt: skip


def told(case: str) -> dict[str, Any]:
    text = SourceText((FIXTURES / f"{case}.txt").read_bytes())
    parsed = bonniepp.parse(text)
    return {
        "looks_like": bonniepp.looks_like(text),
        "warnings": list(parsed.warnings),
        "broken": [str(one) for one in parsed.broken],
        "runs": [run(one) for one in parsed.runs],
    }


@pytest.mark.parametrize("case", CASES)
def test_output_reads_as_expected(case: str) -> None:
    assert json.loads(json.dumps(told(case))) == json.loads((FIXTURES / f"{case}.expected.json").read_text())


def test_every_output_has_its_expected_half() -> None:
    assert {path.stem for path in FIXTURES.glob("*.txt")} == set(CASES) != set()


def dumped(case: str) -> str:
    """A sample a line, to be read."""
    text = json.dumps(told(case), indent=1)
    parsed = json.loads(text)
    for one in parsed["runs"]:
        one["samples"] = [f"@{json.dumps(each)}@" for each in one["samples"]]
    return json.dumps(parsed, indent=1).replace('"@', "").replace('@"', "").replace('\\"', '"') + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        (FIXTURES / f"{name}.expected.json").write_text(dumped(name))
