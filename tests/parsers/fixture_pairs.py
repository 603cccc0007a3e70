"""Fixture pairs: `fixtures/<format>/<case>.txt` (or .json, .log, .fio), printed by the tool itself, and
`<case>.expected.json`, what it reads as. MODULES says which module reads a folder.

`python -m tests.parsers.fixture_pairs FORMAT CASE…` writes the expected half of a new case, to be checked against the
output by eye.
"""

import importlib
import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from apps.parsers.core.models import ParsedHistogram, ParsedHistory, ParsedRun, ParsedSample, ParsedSeries
from apps.parsers.core.source_text import SourceText

FIXTURES = Path(__file__).parent / "fixtures"
FORMATS = sorted(path.name for path in FIXTURES.iterdir() if path.name != "inventory")  # has a walker of its own
MODULES = {
    "bonnie1": "bonnie.format", "bonniepp": "bonniepp.format", "dd": "dd.format", "fio_jobfile": "fio.job_file",
    "fio_json": "fio.json.format", "fio_logs": "fio.logs.format", "fio_terse": "fio.terse.format", "fio_text": "fio.text.format",
    "hdparm": "hdparm.format", "ioping": "ioping.format", "ioping_json": "ioping.json", "iozone": "iozone.format",
    "iperf2_csv": "iperf.iperf2_csv", "iperf2_text": "iperf.iperf2_text", "iperf3_json": "iperf.iperf3_json",
    "iperf3_text": "iperf.iperf3_text", "netperf": "netperf.format", "sysbench_fileio": "sysbench.format", "time_cp": "copy.format",
    "vdbench": "vdbench.format", "vdbench_flatfile": "vdbench.flatfile", "vdbench_histogram": "vdbench.histogram",
    "vdbench_skew": "vdbench.skew",
}  # fmt: skip
_HALF = ".expected.json"
_ROWS = ("samples", "series", "sections", "histograms", "histories")


def case_of(path: Path) -> str:
    return path.name.removesuffix(".txt").removesuffix(".json")


def outputs(folder: str) -> dict[str, Path]:
    """The tools' outputs by case."""
    return {case_of(path): path for path in sorted((FIXTURES / folder).iterdir()) if not path.name.endswith(_HALF)}


def half(folder: str, case: str) -> Path:
    return FIXTURES / folder / f"{case}{_HALF}"


def parser(folder: str) -> ModuleType:
    return importlib.import_module(f"apps.parsers.{MODULES.get(folder, folder)}")


def source(folder: str, case: str) -> SourceText:
    path = outputs(folder)[case]
    return SourceText(path.read_bytes(), path.name)


def told(folder: str, case: str) -> Any:
    """What the parser says, as JSON gives it back; without what is empty."""
    text = source(folder, case)
    parsed = parser(folder).parse(text)
    said = {
        "looks_like": parser(folder).looks_like(text),
        "warnings": parsed.warnings,
        "broken": [str(one) for one in parsed.broken],
        "runs": [_run(one) for one in parsed.runs],
        "workloads": [asdict(one) for one in parsed.workloads],
    }
    return json.loads(json.dumps(_filled(said)))


def _filled(said: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value not in ("", None, (), [], {}, False)}


def _run(one: ParsedRun) -> dict[str, Any]:
    said = {name: getattr(one, name) for name in one.__struct_fields__}
    said["sections"] = [[each.number, each.name, each.error] for each in one.sections]
    said["samples"] = [_sample(each) for each in one.samples]
    said["series"] = [_series(each) for each in one.series]
    said["histograms"] = [_histogram(each) for each in one.histograms]
    said["histories"] = [_history(each) for each in one.histories]
    return _filled(said)


def _sample(one: ParsedSample) -> list[Any]:
    """What every sample has, and then by name what only some have."""
    usual = ("operation", "metric", "value", "printed", "line")
    defaults = ParsedSample("", "", None)
    more = {name: value for name in one.__struct_fields__ if (value := getattr(one, name)) != getattr(defaults, name)}
    return [getattr(one, name) for name in usual] + [{name: more[name] for name in more if name not in usual}]


def _series(one: ParsedSeries) -> list[Any]:
    times, values = ([float(value) for value in column] for column in (one.times_s, one.values))
    return [one.section, one.operation, one.metric, one.source, times, values]


def _histogram(one: ParsedHistogram) -> list[Any]:
    return [one.section, one.operation, one.kind, len(one.bins), sum(count for _, count in one.bins)]


def _history(one: ParsedHistory) -> list[Any]:
    times = [float(second) for second in one.times_s]
    return [one.section, one.operation, one.kind, times, len(one.bins), one.counts.sum(axis=1).tolist()]


def dumped(said: dict[str, Any]) -> str:
    """A sample a line, to be read."""
    rows: list[str] = []

    def kept(row: list[Any]) -> str:
        rows.append(json.dumps(row, ensure_ascii=False))
        return f"@{len(rows) - 1}@"

    said = json.loads(json.dumps(said))
    for one in said.get("runs", []):
        one.update({name: [*map(kept, one[name])] for name in _ROWS if name in one})
    text = json.dumps(said, indent=1, ensure_ascii=False)
    return re.sub('"@([0-9]+)@"', lambda match: rows[int(match[1])], text) + "\n"


if __name__ == "__main__":
    folder_name, *names = sys.argv[1:]
    for name in names or outputs(folder_name):
        half(folder_name, name).write_text(dumped(told(folder_name, name)))
