"""Every `fixtures/fio_*/<case>` reads as its `<case>.expected.json` says. A new case is two files and no code.

Write the expected half of new cases with `python -m tests.parsers.test_fio_fixtures fio_json/null.json …`, then check
them against the files by eye.
"""

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from apps.parsers import fio_jobfile, fio_json, fio_logs, fio_terse, fio_text
from apps.parsers.shape import ParsedFile, ParsedRun, ParsedSample, ParsedSeries
from apps.parsers.source_text import SourceText
from apps.runs.metrics import METRICS, OPERATIONS

FIXTURES = Path(__file__).parent / "fixtures"
FORMATS: dict[str, ModuleType] = {
    "fio_json": fio_json, "fio_terse": fio_terse, "fio_text": fio_text, "fio_logs": fio_logs, "fio_jobfile": fio_jobfile,
}  # fmt: skip
CASES = sorted(
    f"{folder}/{file.name}"
    for folder in FORMATS
    for file in (FIXTURES / folder).iterdir()
    if not file.name.endswith(".expected.json")
)


def expected_half(case: str) -> Path:
    file = FIXTURES / case
    return file.with_name(file.name.removesuffix(".json").removesuffix(".txt") + ".expected.json")


def sample(one: ParsedSample) -> dict[str, Any]:
    told = {
        "operation": one.operation, "metric": one.metric, "value": one.value, "printed": one.printed,
        "line": one.line, "point": [one.file_size, one.block_size, one.threads, one.iodepth],
        "section": one.section, "quality": one.quality, "low": one.low, "high": one.high,
        "missing_reason": one.missing_reason, "cpu": one.cpu, "note": one.note,
    }  # fmt: skip
    return {name: value for name, value in told.items() if value not in ("", None)}


def series(one: ParsedSeries) -> list[Any]:
    times, values = ([float(value) for value in column] for column in (one.times_s, one.values))
    return [one.section, one.operation, one.metric, one.source, times, values]


def run(one: ParsedRun) -> dict[str, Any]:
    told = {name: getattr(one, name) for name in ("problem", "workload", "host", "target", "caption")}
    return {
        "tool_version": one.tool_version,
        **{name: value for name, value in told.items() if value},
        "lines": [one.line, one.last_line],
        "times": [one.started_at, one.ended_at],
        "sections": [[section.number, section.name, section.error] for section in one.sections],
        "samples": [sample(each) for each in one.samples],
        "series": [series(each) for each in one.series],
        "histograms": [
            [h.section, h.operation, h.kind, len(h.bins), sum(n for _, n in h.bins)] for h in one.histograms
        ],
    }


def parsed(case: str) -> ParsedFile:
    file = FIXTURES / case
    result = FORMATS[file.parent.name].parse(SourceText(file.read_bytes(), file.name))
    assert isinstance(result, ParsedFile)
    return result


def told(case: str) -> dict[str, Any]:
    result = parsed(case)
    found = {
        "warnings": list(result.warnings),
        "broken": [str(one) for one in result.broken],
        "runs": [run(one) for one in result.runs],
        "workloads": [asdict(one) for one in result.workloads],
    }
    return {name: value for name, value in found.items() if value}


@pytest.mark.parametrize("case", CASES)
def test_file_reads_as_expected(case: str) -> None:
    assert json.loads(json.dumps(told(case))) == json.loads(expected_half(case).read_text())


@pytest.mark.parametrize("case", CASES)
def test_a_file_is_recognised_by_its_own_format_alone(case: str) -> None:
    file = FIXTURES / case
    sure = {name for name, one in FORMATS.items() if one.looks_like(SourceText(file.read_bytes(), file.name)) > 0.5}
    beside = {"fio_text"} if "beside" in case else set()
    beside |= {"fio_json"} if "beside_json" in case else set()
    assert sure == {file.parent.name} | beside


@pytest.mark.parametrize("case", CASES)
def test_every_value_has_a_known_word_and_stands_once_in_its_run(case: str) -> None:
    for one in parsed(case).runs:
        keys = [
            (s.operation, s.metric, s.file_size, s.block_size, s.threads, s.iodepth, s.section) for s in one.samples
        ]
        assert len(set(keys)) == len(keys)
        rows = [(s.operation, s.metric, s.section, s.source) for s in one.series]
        assert len(set(rows)) == len(rows)
        assert {key[0] for key in [*keys, *rows]} <= set(OPERATIONS)
        assert {key[1] for key in [*keys, *rows]} <= set(METRICS)
        assert all((s.value is None) == bool(s.missing_reason) for s in one.samples)


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith(("fio_text", "fio_terse"))])
def test_every_printed_figure_stands_on_the_line_it_names(case: str) -> None:
    text = SourceText((FIXTURES / case).read_bytes())
    shown: dict[int, str] = {}
    for index, line in enumerate(text.lines):
        shown[text.number(index)] = shown.get(text.number(index), "") + re.sub("= +", "=", line)
    for one in parsed(case).runs:
        assert one.line is not None
        assert one.last_line is not None
        for each in one.samples:
            assert each.line is not None
            assert one.line <= each.line <= one.last_line
            figure = each.printed.removeprefix("usr ").split(" ")[0].rstrip("]")
            assert figure.split("[")[-1] in shown[each.line], each


def test_no_expected_half_is_without_its_file() -> None:
    halves = {path for folder in FORMATS for path in (FIXTURES / folder).glob("*.expected.json")}
    assert halves == {expected_half(case) for case in CASES}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        expected_half(name).write_text(json.dumps(told(name), indent=1, ensure_ascii=False) + "\n")
