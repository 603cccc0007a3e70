"""Real fio reports of other people, against the true values of the corpus's index."""

import json
import re
from typing import Any

import pytest

from apps.parsers.core.models import ParsedFile, ParsedSample
from apps.parsers.fio.json import format as json_format
from tests.parsers.corpus import CORPUS, folder
from tests.sampling import for_each

_JOB = re.compile(
    r"(?P<job>[^;]+?) (?P<direction>read|write): iops (?P<iops>[\d.]+), bw (?P<bw>\d+) KiB/s, "
    r"io_bytes (?P<bytes>\d+|None), runtime \S+ ms, clat mean (?P<clat>[\d.]+) (?P<unit>ns|us)"
)


def _true_values() -> list[tuple[str, str, dict[str, str]]]:
    if not (CORPUS / "INDEX.md").exists():
        return []
    section = (CORPUS / "INDEX.md").read_text().split("## fio-json")[1].split("\n## ")[0]
    rows = [
        line.strip("|").split(" | ")
        for line in section.splitlines()
        if line.startswith("| ") and (".json" in line or ".txt" in line)
    ]
    return [
        (row[0].strip(), row[5].split(",")[0].strip(), match.groupdict())
        for row in rows
        for match in _JOB.finditer(re.sub(r"^fio-[^,]+, (?:jobs|client_stats) x\d+; ", "", row[5]))
    ]


TRUE = _true_values()


def parsed(name: str) -> ParsedFile:
    return json_format.parse((folder("fio-json") / name).read_bytes())


def value(samples: tuple[ParsedSample, ...], direction: str, metric: str, section: int) -> float | None:
    found = [
        s.value
        for s in samples
        if s.operation in (direction, f"rand{direction}") and s.metric == metric and s.section == section
    ]
    assert len(found) == 1
    return found[0]


@for_each("name, version, true", TRUE)
def test_values_are_those_of_the_index(name: str, version: str, true: dict[str, str]) -> None:
    if true["job"].strip() == "All clients":
        pytest.skip("the sum of all clients is not one more job")
    run = parsed(name).runs[0]
    assert f"fio-{run.tool_version}" == version
    section = next(s.number for s in run.sections if s.name.startswith(true["job"].strip()))
    old = version.startswith("fio-2")
    bandwidth = value(run.samples, true["direction"], "bandwidth", section)
    assert bandwidth is not None
    assert int(bandwidth) // 1024 == int(true["bw"])
    assert value(run.samples, true["direction"], "iops", section) == float(true["iops"])
    scale = 1000 if true["unit"] == "us" else 1
    clat = value(run.samples, true["direction"], "clat_mean", section)
    assert clat == pytest.approx(float(true["clat"]) * scale, abs=0.5 if not old else 5)
    if true["bytes"] != "None":
        assert value(run.samples, true["direction"], "io_bytes", section) == int(true["bytes"]) * (1024 if old else 1)


def test_every_file_of_the_corpus_is_recognised_and_read() -> None:
    files = sorted(folder("fio-json").iterdir())
    for file in files:
        data = file.read_bytes()
        assert json_format.looks_like(data[:4096]) > 0.5 or file.name.startswith("pbench"), file.name
        assert sum(len(run.samples) for run in json_format.parse(data).runs) >= 7, file.name


def test_all_clients_are_read_but_not_their_sum() -> None:
    run = parsed("pbench-client-server-3.7.txt").runs[0]
    assert len(run.sections) == 10
    assert "All clients" not in [section.name for section in run.sections]
    assert {(s.block_size, s.iodepth, s.threads) for s in run.samples if s.operation != "disk"} == {(4096, 32, 5)}


def test_an_error_in_the_document_stands_beside_what_was_measured() -> None:
    run = parsed("virtualclient-error-lines-before-json.txt").runs[0]
    assert run.problem == "fio's fiotest ended with error 42"
    assert value(run.samples, "read", "iops", 0) == 49501.318267


def test_other_peoples_percentiles_follow_from_their_bins() -> None:
    data = (folder("fio-json") / "arcaflow-3.29-json-plus.json").read_bytes()
    run = json_format.parse(data).runs[0]
    document: dict[str, Any] = json.loads(data)
    (job,) = document["jobs"]
    printed = job["read"]["clat_ns"]["percentile"]
    for metric, key in [("clat_p50", "50.000000"), ("clat_p99", "99.000000"), ("clat_p99_9", "99.900000")]:
        assert value(run.samples, "read", metric, 0) == printed[key]


def test_files_of_other_formats_are_not_taken_for_fio_reports() -> None:
    for other in ("smartctl-json", "lsblk", "iozone", "bonniepp", "fio-terse", "fio-text"):
        for file in sorted(folder(other).iterdir()):
            assert json_format.looks_like(file.read_bytes()[:4096]) < 0.5, file.name
