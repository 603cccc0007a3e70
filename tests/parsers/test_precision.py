"""What a tool printed and what it rounded are told apart by one rule in all formats."""

import json
import re

import pytest

from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSample
from apps.parsers.core.precision import mark_rounded
from apps.parsers.core.registry import recognise
from apps.parsers.core.source_text import SourceText
from tests.parsers.seeds import TEXTS

FIO_TEXT = """a: (groupid=0, jobs=1): err= 0: pid=9: Sat Jun 25 02:08:42 2022
  read: IOPS=12.2k, BW=47.8MiB/s (50.1MB/s)(1434MiB/30001msec)
    clat (usec): min=44, max=790, avg=80.21, stdev=17.10
     lat (nsec): min=44100, max=790200, avg=80300.21, stdev=17.10
"""
FIO_JSON = {
    "fio version": "fio-3.33",
    "jobs": [{"jobname": "a", "read": {
        "io_bytes": 40960000, "bw_bytes": 4096000, "bw": 4000, "iops": 1000.0, "total_ios": 10000,
        "clat_ns": {"min": 9000, "max": 99000, "mean": 20000.5, "stddev": 10.5, "N": 10000},
    }}],
}  # fmt: skip
# format → metric → quality; a metric with two had figures of both
MATRIX: dict[str, dict[str, str]] = {
    "bonnie": {"bandwidth": "exact", "rate": "exact"},  # always K/s
    "dd": {"bandwidth": "exact", "elapsed": "exact"},  # computed from bytes and seconds
    "dd in scripts": {"bandwidth": "rounded"},
    "hdparm": {"bandwidth": "exact"},
    "ioping": dict.fromkeys(("iops", "bandwidth", "io_bytes", "latency_mean", "latency_max"), "rounded"),
    "ioping json": dict.fromkeys(("iops", "bandwidth", "io_bytes", "latency_mean", "latency_max"), "exact"),
    "iperf2": {"bandwidth": "rounded", "io_bytes": "rounded"},
    "iperf2 csv": {"bandwidth": "exact", "io_bytes": "exact"},
    "iperf3": {"bandwidth": "rounded", "io_bytes": "rounded", "retransmits": "exact"},
    "iperf3 json": {"bandwidth": "exact", "io_bytes": "exact", "retransmits": "exact"},
    "netperf": {"bandwidth": "exact"},
    "sysbench fileio": {"iops": "exact", "bandwidth": "exact", "latency_mean": "exact", "latency_min": "rounded"},
    "vdbench": {"iops": "exact", "bandwidth": "exact", "latency_mean": "exact"},
    "vdbench flatfile": {"iops": "exact", "bandwidth": "exact", "latency_mean": "exact"},
    "fio text": {"iops": "rounded", "bandwidth": "rounded", "io_bytes": "rounded", "clat_mean": "rounded", "latency_min": "exact"},
    "fio json": {"iops": "exact", "bandwidth": "exact", "io_bytes": "exact", "clat_mean": "exact"},
}  # fmt: skip
OWN = {"fio text": FIO_TEXT, "fio json": json.dumps(FIO_JSON)}
CHOSEN = re.compile(r"\d ?[kMGT]i?(?:bits|Bytes|B)(?:/s(?:ec)?)?\b")  # a unit that may have been chosen by size
FIXED = ("bonnie", "hdparm", "iozone", "netperf", "vdbench", "vdbench flatfile", "sysbench fileio", "time cp")


def samples_of(name: str) -> list[ParsedSample]:
    texts = [OWN[name]] if name in OWN else list(TEXTS.values())
    readings = [reading for text in texts for reading in recognise(SourceText(text)) if reading.format.name == name]
    return [s for r in readings if r.parsed for run in r.parsed.runs for s in run.samples if s.value is not None]


@pytest.mark.parametrize("name", MATRIX)
def test_a_figure_is_exact_or_rounded_by_one_rule(name: str) -> None:
    samples = samples_of(name)
    for metric, quality in MATRIX[name].items():
        assert {sample.quality for sample in samples if sample.metric == metric} == {quality}, metric


def test_a_unit_that_is_chosen_by_size_is_never_exact() -> None:
    """Except where the value is computed from exact figures beside it, or the unit is always the same."""
    for text in [*TEXTS.values(), *OWN.values()]:
        for reading in recognise(SourceText(text)):
            if (
                reading.parsed is None
                or reading.format.kind != "results"
                or reading.format.name in (*FIXED, "dd", "time cp")
            ):
                continue
            exact = [s for run in reading.parsed.runs for s in run.samples if s.quality == "exact" and s.value]
            assert not [s.printed for s in exact if CHOSEN.search(s.printed)], reading.format.name


@pytest.mark.parametrize(
    ("printed", "quality"), [("93.875Mb", "rounded"), ("14.635Gb", "rounded"), ("2.9644Mb/sec", "rounded")]
)
def test_old_sysbench_chooses_its_units(printed: str, quality: str) -> None:
    sample = ParsedSample("mixed", "bandwidth", 1.0, printed=printed)
    parsed = mark_rounded(ParsedFile((ParsedRun("sysbench", "0.4.12", samples=(sample,)),)), "sysbench fileio")
    assert parsed.runs[0].samples[0].quality == quality
    assert mark_rounded(parsed, "iozone") is parsed
