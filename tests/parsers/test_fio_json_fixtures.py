"""Every `fixtures/fio_json/<case>.json` reads as `<case>.expected.json` says. A new case is two files and no code.

Write the expected half of a new case with `python -m tests.parsers.test_fio_json_fixtures <case>`, then check it
against the report by eye.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from apps.parsers import fio_json
from apps.parsers.shape import ParsedRun, ParsedSample

FIXTURES = Path(__file__).parent / "fixtures" / "fio_json"
CASES = sorted(path.name.removesuffix(".expected.json") for path in FIXTURES.glob("*.expected.json"))


def sample(one: ParsedSample) -> dict[str, Any]:
    told = {
        "operation": one.operation, "metric": one.metric, "value": one.value, "printed": one.printed,
        "line": one.line, "point": [one.file_size, one.block_size, one.threads, one.iodepth],
        "section": one.section, "quality": one.quality,
        "missing_reason": one.missing_reason, "cpu": one.cpu, "note": one.note,
    }  # fmt: skip
    return {name: value for name, value in told.items() if value not in ("", None)}


def run(one: ParsedRun) -> dict[str, Any]:
    return {
        "tool_version": one.tool_version,
        "problem": one.problem,
        "started_at": one.started_at,
        "ended_at": one.ended_at,
        "sections": [[section.number, section.name, section.error] for section in one.sections],
        "samples": [sample(each) for each in one.samples],
        "series": [[s.section, s.operation, s.metric, list(s.times_s), list(s.values)] for s in one.series],
        "histograms": [
            [h.section, h.operation, h.kind, len(h.bins), sum(n for _, n in h.bins)] for h in one.histograms
        ],
    }


def told(case: str) -> dict[str, Any]:
    parsed = fio_json.parse((FIXTURES / f"{case}.json").read_bytes())
    return {"warnings": list(parsed.warnings), "runs": [run(one) for one in parsed.runs]}


@pytest.mark.parametrize("case", CASES)
def test_report_reads_as_expected(case: str) -> None:
    expected = json.loads((FIXTURES / f"{case}.expected.json").read_text())
    assert json.loads(json.dumps(told(case))) == expected


def test_every_report_has_its_expected_half() -> None:
    reports = {path.name.removesuffix(".json") for path in FIXTURES.glob("*.json") if ".expected" not in path.name}
    assert reports == set(CASES)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        (FIXTURES / f"{name}.expected.json").write_text(json.dumps(told(name), indent=1, ensure_ascii=False) + "\n")
