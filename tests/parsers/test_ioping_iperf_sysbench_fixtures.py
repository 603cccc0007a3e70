"""Every `fixtures/<parser>/<case>.txt`, printed by the tool itself, reads as `<case>.expected.json` says.

Write the expected half of new cases with `python -m tests.parsers.test_ioping_iperf_sysbench_fixtures`, then check them
against the outputs by eye.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from apps.parsers.shape import ParsedRun, ParsedSample
from apps.parsers.source_text import SourceText

FIXTURES = Path(__file__).parent / "fixtures"
PARSERS = ("ioping", "ioping_json", "iperf2_text", "iperf2_csv", "iperf3_text", "iperf3_json", "sysbench_fileio")
CASES = sorted(f"{parser}/{path.stem}" for parser in PARSERS for path in (FIXTURES / parser).glob("*.txt"))


def sample(one: ParsedSample) -> list[Any]:
    point = [one.section, one.file_size, one.block_size, one.threads]
    doubts = [one.quality, one.missing_reason, one.note, one.cpu]
    return [one.operation, one.metric, one.value, one.printed, one.line, point, doubts]


def run(one: ParsedRun) -> dict[str, Any]:
    return {
        "version": one.tool_version, "lines": [one.line, one.last_line], "times": [one.started_at, one.ended_at],
        "problem": one.problem, "host": one.host, "target": one.target, "workload": one.workload, "labels": one.labels,
        "sections": [[section.number, section.name] for section in one.sections],
        "samples": [sample(each) for each in one.samples],
        "series": [[s.operation, s.metric, s.section, list(s.times_s), list(s.values)] for s in one.series],
        "histograms": [[h.operation, h.kind, len(h.bins), sum(count for _, count in h.bins)] for h in one.histograms],
    }  # fmt: skip


def told(case: str) -> Any:
    parser = importlib.import_module(f"apps.parsers.{case.partition('/')[0]}")
    text = SourceText((FIXTURES / f"{case}.txt").read_bytes())
    parsed = parser.parse(text)
    said = {
        "looks_like": parser.looks_like(text),
        "warnings": parsed.warnings,
        "broken": [str(one) for one in parsed.broken],
        "runs": [run(one) for one in parsed.runs],
    }
    return json.loads(json.dumps(said))


@pytest.mark.parametrize("case", CASES)
def test_output_reads_as_expected(case: str) -> None:
    assert told(case) == json.loads((FIXTURES / f"{case}.expected.json").read_text())


@pytest.mark.parametrize("case", CASES)
def test_every_printed_figure_stands_on_the_line_it_names(case: str) -> None:
    lines = (FIXTURES / f"{case}.txt").read_text().splitlines()
    for one in told(case)["runs"]:
        for _, _, value, printed, line, _, _ in one["samples"]:
            assert one["lines"][0] <= line <= one["lines"][1]
            word = printed.removeprefix("Rtry ").partition(" ")[0].removesuffix("ms")
            assert value is None or word in lines[line - 1]


def test_every_output_has_its_expected_half() -> None:
    halves = {f"{p.parent.name}/{p.name}" for parser in PARSERS for p in (FIXTURES / parser).glob("*.expected.json")}
    assert halves == {f"{case}.expected.json" for case in CASES} != set()


def dumped(case: str) -> str:
    """A sample and a series a line, to be read."""
    said, rows = told(case), []
    for one in said["runs"]:
        for name in ("samples", "series", "sections", "histograms"):
            rows += one[name]
            one[name] = [f"@{len(rows) - len(one[name]) + place}@" for place in range(len(one[name]))]
    text = json.dumps(said, indent=1)
    for place, row in enumerate(rows):
        text = text.replace(f'"@{place}@"', json.dumps(row), 1)
    return text + "\n"


if __name__ == "__main__":
    for name in CASES:
        (FIXTURES / f"{name}.expected.json").write_text(dumped(name))
