"""The laws between the figures of one job: one test a law, and all formats are held to them."""

from types import SimpleNamespace

import pytest

from apps.parsers.core import registry
from apps.parsers.core.models import ParsedFile, ParsedHistogram, ParsedRun, ParsedSample
from apps.parsers.core.source_text import SourceText
from apps.parsers.laws import LAWS, MOST_WARNINGS, apply_laws
from apps.parsers.laws.law import DOUBT
from tests.parsers.seeds import seeds

MS, S = 1e6, 1e9
# A job that moved 100 MB in 10 s, 4 KiB each, at depth 4
SOUND = {
    "bandwidth": 10_000_000.0, "iops": 2441.4, "io_bytes": 100_000_000.0,
    "slat_mean": 0.1 * MS, "slat_min": 0.05 * MS, "slat_max": 1 * MS,
    "clat_mean": 1.5 * MS, "clat_min": 0.5 * MS, "clat_max": 9 * MS, "clat_stdev": 0.2 * MS,
    "latency_mean": 1.6 * MS, "latency_min": 0.6 * MS, "latency_max": 9.5 * MS,
    "clat_p1": 0.6 * MS, "clat_p50": 1.4 * MS, "clat_p90": 2 * MS, "clat_p99": 4 * MS, "clat_p99_99": 9.05 * MS,
}  # fmt: skip


def run_of(
    figures: dict[str, float],
    *,
    tool: str = "fio",
    version: str = "3.33",
    threads: int | None = 1,
    iodepth: int | None = 4,
    block_size: int | None = 4096,
    printed: dict[str, str] | None = None,
    workload: dict[str, str | int | float] | None = None,
    kind: str = "clat",
) -> ParsedRun:
    samples = tuple(
        ParsedSample(
            "randread", metric, value, block_size=block_size, threads=threads, iodepth=iodepth, line=7,
            printed=(printed or {}).get(metric, f"{value:f}"),
        )
        for metric, value in figures.items()
    )  # fmt: skip
    histogram = ParsedHistogram("randread", kind, 0, ((1000, 5),))
    return ParsedRun(tool, version, samples=samples, histograms=(histogram,), workload=workload or {}, line=1)


def judged(run: ParsedRun) -> tuple[dict[str, ParsedSample], ParsedFile]:
    parsed = apply_laws(ParsedFile((run,)))
    return {sample.metric: sample for sample in parsed.runs[0].samples}, parsed


def touched(run: ParsedRun) -> dict[str, str]:
    """What became of each figure that was touched."""
    before = {sample.metric: sample for sample in run.samples}
    after, _ = judged(run)
    return {
        metric: "withheld" if sample.missing_reason else "bounded" if sample.value is None else "doubted"
        for metric, sample in after.items()
        if sample != before[metric]
    }


def test_figures_that_agree_stay_as_they_are() -> None:
    parsed = ParsedFile((run_of(SOUND),))
    assert apply_laws(parsed) is parsed


@pytest.mark.parametrize(
    ("metric", "value", "printed"),
    [
        ("retransmits", -1.0, "-1"), ("retransmits", 4294967295.0, "4294967295"), ("io_bytes", -4096.0, "-4096 B"),
        ("latency_max", 1.8446744073709552e19, "18446744073709551615 ns"), ("disk_reads", 2.0**64 - 5, "18446744073709551611"),
        ("latency_min", 4294967295000.0, "min=4294967295 usec"),
    ],
)  # fmt: skip
def test_counter_sign(metric: str, value: float, printed: str) -> None:
    run = run_of({metric: value}, printed={metric: printed})
    assert touched(run) == {metric: "withheld"}


def test_counter_sign_lets_large_counters_be() -> None:
    sound = {"io_bytes": 4294967296.0 - 296, "bandwidth": 4294967000.0, "disk_reads": 4294900000.0, "iops": 5e9}
    assert touched(run_of(sound, block_size=None)) == {}


def test_shares() -> None:
    sample, parsed = judged(run_of({"lost": 1.25}))
    assert (sample["lost"].value, sample["lost"].missing_reason) == (None, "1.25 of 1: more were lost than sent")
    assert parsed.warnings == ("line 7: randread: 1.25 of 1: more were lost than sent",)
    assert touched(run_of({"disk_util": 1.004})) == {}
    assert touched(run_of({"cpu": 7.5})) == {}  # of several cores


def test_stopped_clock() -> None:
    assert touched(run_of({"io_bytes": 81920.0, "bandwidth": 0.0, "iops": 0.0})) == {
        "bandwidth": "withheld", "iops": "withheld",
    }  # fmt: skip
    assert touched(run_of({"elapsed": 0.0, "io_bytes": 4096.0})) == {"elapsed": "withheld"}
    zeros = dict.fromkeys(("slat_min", "slat_mean", "slat_max"), 0.0)
    assert touched(run_of(SOUND | zeros)) == dict.fromkeys(zeros, "withheld")
    assert touched(run_of({"bandwidth": 0.0, "io_bytes": 0.0})) == {}  # nothing was moved, which is a figure
    assert touched(run_of({"iops": 0.0, "bandwidth": 68.0, "io_bytes": 4096.0}, block_size=None)) == {}  # rounded
    assert touched(run_of({"iops": 9.0, "latency_mean": 0.0, "latency_max": 5e4})) == {}  # rounded to 0.00 ms


LATE = {metric: value * 1e4 for metric, value in SOUND.items() if metric.startswith("clat")}


def test_latency_parts_where_the_depth_decides() -> None:
    late = {metric: value * 50 for metric, value in SOUND.items() if metric.startswith("clat")}
    run = run_of(SOUND | late)
    assert touched(run) == dict.fromkeys(late, "withheld")
    samples, parsed = judged(run)
    assert "at most 4 I/O can be under way" in samples["clat_p99"].missing_reason
    assert samples["latency_mean"].value == SOUND["latency_mean"]
    assert parsed.runs[0].histograms == ()  # it would give the percentiles again


def test_latency_parts_where_the_length_of_the_test_decides() -> None:
    run = run_of(SOUND | LATE, threads=None, iodepth=None)
    assert touched(run) == dict.fromkeys(LATE, "withheld")
    assert "the test took 10.0 s" in judged(run)[0]["clat_mean"].missing_reason.replace("\xa0", " ")


def test_latency_parts_where_nothing_decides() -> None:
    """At depth 4 an I/O of 1.63 ms and one of 1.2 ms are possible alike at 2,441 IOPS."""
    run = run_of({**SOUND, "latency_mean": 1.2 * MS})
    assert touched(run)["latency_mean"] == "doubted"
    assert touched(run)["clat_mean"] == "doubted"
    sample = judged(run)[0]["clat_mean"]
    assert (sample.value, sample.quality) == (1.5 * MS, "approximate")
    assert sample.note.startswith(f"{DOUBT}: clat mean")


def test_latency_parts_allows_for_rounding() -> None:
    figures = {"clat_mean": 2 * MS, "latency_mean": 1.6 * MS, "iops": 100.0}
    assert touched(run_of(figures, printed={"clat_mean": "avg=2 msec", "latency_mean": "avg=1600 usec"})) == {}
    both = {"clat_mean": 1.001 * MS, "latency_mean": 1 * MS}
    assert touched(run_of(both)) == {}


@pytest.mark.parametrize(
    ("version", "value", "printed", "low"),
    [
        ("3.33", 17112760320.0, "17112760320 ns", 17112760320.0),
        ("3.33", 17113e6, "99.00th=[17113] msec", 17112760320.0),
        ("3.8-83-g24a9", 17112760e3, "17112760 us", 17112760320.0),
        ("3.8", 17112761e3, "99.00th=[17112761] usec", 17112760320.0),
        ("2.2.10", 16711680e3, "16711680 us", 16711680000.0), ("2.1.11", 16712e6, "99.00th=[16712] msec", 16711680000.0),
        ("1.59", 16711e6, "99.00th=[16711] msec", 16711680000.0), ("", 17113e6, "99.00th=[17113] msec", 17112760320.0),
        ("", 16712e6, "99.00th=[16712] msec", 16711680000.0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["clat", "latency"])
def test_histogram_end(version: str, value: float, printed: str, low: float, kind: str) -> None:
    figures = {f"{kind}_p50": 5 * S, f"{kind}_p99": value, f"{kind}_mean": 6 * S, f"{kind}_max": 94 * S}
    samples, _ = judged(run_of(figures, version=version, printed={f"{kind}_p99": printed}))
    last = samples[f"{kind}_p99"]
    assert (last.value, last.low, last.high, last.quality) == (None, low, 94 * S, "lower_bound")
    assert "last bin of the histogram" in last.note
    assert (samples[f"{kind}_p50"].value, samples[f"{kind}_mean"].value) == (5 * S, 6 * S)


@pytest.mark.parametrize(
    ("tool", "version", "value"),
    [
        ("fio", "3.33", 16978542592.0), ("fio", "3.33", 16711680e3), ("fio", "2.2.10", 17113e6), ("fio", "2.2.10", 16580608e3),
        ("ioping", "1.2", 17112760320.0), ("vdbench", "", 17113e6),
    ],
)  # fmt: skip
def test_histogram_end_is_the_tools_own(tool: str, version: str, value: float) -> None:
    assert touched(run_of({"clat_p99": value}, tool=tool, version=version)) == {}


def test_histogram_end_of_sysbench() -> None:
    samples, _ = judged(run_of({"latency_p95": 100 * S, "latency_max": 130 * S}, tool="sysbench", version="1.0.20"))
    assert (samples["latency_p95"].value, samples["latency_p95"].low) == (None, 100 * S)


def test_mean_within_extremes() -> None:
    spread = {"clat_min": 2 * MS, "clat_mean": 1.5 * MS}
    assert touched(run_of(spread)) == {"clat_min": "doubted", "clat_mean": "doubted"}
    children = {"bandwidth": 4e9, "bandwidth_min": 4e9, "bandwidth_mean": 2e9, "bandwidth_max": 4e9}
    assert touched(run_of(children, tool="iozone", threads=2)) == {"bandwidth_min": "withheld"}
    alone = {"iops": 4787.2, "iops_mean": 4787.0, "iops_min": 1.0, "iops_max": 2.0}
    assert touched(run_of(alone, block_size=None)) == {"iops_max": "withheld"}
    printed = {"clat_mean": "avg=1.00 msec", "clat_max": "max=990 usec"}
    assert touched(run_of({"clat_mean": 1 * MS, "clat_max": 0.99 * MS}, printed=printed)) == {}


def test_percentile_order() -> None:
    assert touched(run_of({**SOUND, "clat_p99_99": 30 * MS})) == {"clat_p99_99": "withheld"}
    assert touched(run_of({**SOUND, "clat_p99_99": 9.1 * MS})) == {}  # the middle of a bin may be above the maximum
    descending = {"clat_p50": 2 * MS, "clat_p90": 1 * MS}
    assert touched(run_of(descending)) == {"clat_p50": "doubted", "clat_p90": "doubted"}
    below = {"clat_min": 3 * MS, "clat_p1": 1 * MS, "clat_max": 9 * MS}
    assert touched(run_of(below)) == {"clat_min": "doubted", "clat_p1": "doubted"}


def test_percentile_against_mean() -> None:
    """Half of all I/Os took 9 ms or more: the mean is at least 4.5 ms."""
    assert touched(run_of({"clat_p50": 9 * MS, "clat_mean": 1 * MS})) == {"clat_p50": "doubted", "clat_mean": "doubted"}
    far = {"clat_p50": 1 * MS, "clat_p99": 2 * MS, "clat_mean": 40 * MS, "clat_max": 90 * MS}
    assert set(touched(run_of(far))) == {"clat_p50", "clat_p99", "clat_mean"}
    tail = {"clat_p50": 1 * MS, "clat_p99": 2 * MS, "clat_mean": 40 * MS, "clat_max": 9000 * MS}
    assert touched(run_of(tail)) == {}  # one in a hundred may have taken seconds


def test_jitter_length() -> None:
    moved = {"bandwidth": 1e6, "io_bytes": 1e7}
    assert touched(run_of({**moved, "jitter": 300 * S}, tool="iperf3")) == {"jitter": "withheld"}
    assert touched(run_of({**moved, "jitter": 0.3 * S}, tool="iperf3")) == {}
    assert touched(run_of({"jitter": 11 * S}, tool="iperf3", workload={"runtime": 10.0})) == {"jitter": "withheld"}
    assert touched(run_of({"jitter": 11 * S}, tool="iperf3")) == {}  # nothing tells how long the test was


def test_in_flight() -> None:
    busy = {"iops": 5000.0, "latency_mean": 2 * MS}
    assert touched(run_of(busy, iodepth=16, threads=1)) == {}
    assert touched(run_of(busy, iodepth=2, threads=1)) == {"latency_mean": "doubted"}
    assert touched(run_of(busy, iodepth=2, threads=8)) == {}
    assert touched(run_of(busy, iodepth=None)) == {}
    endless = {"iops": 5000.0, "bandwidth": 2e7, "io_bytes": 2e8, "latency_mean": 7e5 * S, "latency_max": 8e5 * S}
    assert touched(run_of(endless, block_size=None)) == {"latency_mean": "withheld", "latency_max": "withheld"}


def test_block_rate() -> None:
    figures = {"iops": 1000.0, "bandwidth": 4096e3}
    assert touched(run_of(figures)) == {}
    assert touched(run_of(figures, block_size=65536)) == {"iops": "doubted", "bandwidth": "doubted"}
    assert touched(run_of(figures, block_size=None)) == {}
    slow = {"iops": 2.0, "bandwidth": 10_000.0}
    assert touched(run_of(slow, printed={"iops": "iops=2", "bandwidth": "bw=10KB/s"})) == {}  # whole I/Os


def test_each_law_is_named_and_says_its_reason() -> None:
    names = [law.name for law in LAWS]
    assert len(set(names)) == len(names)
    assert all(
        f"test_{name}" in globals() or any(key.startswith(f"test_{name}") for key in globals()) for name in names
    )
    assert all(len(law.reason) > 40 for law in LAWS)


def test_warnings_of_one_law_are_limited() -> None:
    run = run_of({"lost": 1.25})
    lines = tuple(
        ParsedSample("net_send", "lost", 2.0, section=number, line=number) for number in range(1, MOST_WARNINGS + 6)
    )
    warnings = apply_laws(ParsedFile((ParsedRun("iperf3", "3.9", samples=lines, line=1), run))).warnings
    assert len(warnings) == MOST_WARNINGS + 1
    assert warnings[-1] == "and 6 more contradictions of this kind (shares)"


def test_reasons_fit_where_they_are_stored() -> None:
    samples, _ = judged(run_of(SOUND | LATE))
    assert all(len(sample.missing_reason) <= 120 for sample in samples.values())


@pytest.mark.parametrize("name", [each.name for each in registry.formats()])
def test_every_format_is_held_to_the_laws(name: str) -> None:
    """Its own texts obey them, and a contradiction that its module would return does not get past the registry."""
    text = SourceText("x")
    contradiction = ParsedFile((run_of({"lost": 2.0, "io_bytes": 5.0, "bandwidth": 0.0}),))
    module = next(each for each in registry._iterate_modules() if getattr(each, "NAME", "") == name)
    changed = SimpleNamespace(**{**vars(module), "parse": lambda text: contradiction})
    samples = registry._make_format(changed).parse(text).runs[0].samples  # type: ignore[arg-type]
    assert [sample.metric for sample in samples if sample.value is None] == ["lost", "bandwidth"]
    read = registry.get_format(name)
    for data in seeds(read):
        reading = registry.read(read, SourceText(data))
        if reading.parsed is not None:
            assert apply_laws(reading.parsed) == reading.parsed
