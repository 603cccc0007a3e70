"""fio's normal report: units of every version, runs and groups, and what belongs to none."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.parsers.core.models import ParsedFile, ParsedRun, ParsedSample, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.quantities import Style, read_version
from apps.parsers.fio.text import format as text_format
from tests.pace import within
from tests.sampling import for_each

V2 = """test: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=16
fio-2.2.10
Starting 2 processes

test: (groupid=0, jobs=2): err= 0: pid=7: Fri Apr  7 18:42:49 2017
  read : io=1752.1MB, bw=59809KB/s, iops=14952, runt= 30012msec
    slat (usec): min=1, max=23996, avg= 3.72, stdev=61.46
    clat (msec): min=16, max=756523K, avg=825.75, stdev=781.28
     lat (usec): min=36, max=27862, avg=829.81, stdev=783.79
    clat percentiles (usec):
     |  1.00th=[   68], 50.00th=[  692], 60.00th=[  812],
     | 99.90th=[10688], 99.99th=[19328]
    bw (KB  /s): min=61984, max=86376, per=12.55%, avg=76665.15, stdev=7193.34
    lat (usec) : 20=0.01%, 50=0.04%
  cpu          : usr=3.28%, sys=7.99%, ctx=60641, majf=0, minf=200
  IO depths    : 1=0.1%, 2=0.1%
     issued    : total=r=1048576/w=0/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0

Run status group 0 (all jobs):
   READ: io=1752.1MB, aggrb=59809KB/s, minb=59809KB/s, maxb=59809KB/s, mint=30012msec, maxt=30012msec

Disk stats (read/write):
  vda: ios=1029590/2, merge=0/5, ticks=291836/0, in_queue=291620, util=98.05%
"""
RATES = "  read: IOPS=6387k, BW=24.3GiB/s (26.1GB/s)(1457GiB/60000msec)"
V3 = f"job: (groupid=0, jobs=1): err= 0: pid=9: Sat Jun 25 02:08:42 2022\n{RATES}\n"


def parse(text: str) -> ParsedFile:
    return text_format.parse(SourceText(text))


def only(text: str) -> ParsedRun:
    (run,) = parse(text).runs
    return run


def one(run: ParsedRun, metric: str, operation: str = "randread") -> ParsedSample:
    (found,) = [s for s in run.samples if (s.metric, s.operation) == (metric, operation)]
    return found


def test_a_report_of_version_2_is_read_in_base_units() -> None:
    run = only(V2)
    assert (run.tool_version, run.line, run.last_line) == ("2.2.10", 1, 23)
    assert {metric: one(run, metric).value for metric in ("iops", "bandwidth", "slat_mean", "clat_min")} == {
        "iops": 14952, "bandwidth": 59809 * 1024, "slat_mean": 3720, "clat_min": 16_000_000,
    }  # fmt: skip
    assert one(run, "clat_max").value == 756_523_000 * 10**6
    assert one(run, "clat_p99_9").value == 10_688_000
    assert one(run, "bandwidth_mean").value == 76665.15 * 1024
    assert {(s.block_size, s.iodepth, s.threads) for s in run.samples if s.operation != "disk"} == {(4096, 16, 2)}


def test_the_cpu_of_a_group_is_that_of_all_its_processes() -> None:
    assert one(only(V2), "cpu").value == pytest.approx(2 * 0.1127)


def test_digits_that_old_fio_printed_behind_the_point_are_no_decimals() -> None:
    sample = one(only(V2), "io_bytes")
    assert (sample.low, sample.high, sample.quality) == (1752 * 2**20, 1753 * 2**20, "approximate")
    assert sample.value == pytest.approx(1752.1 * 2**20)


def test_the_sums_of_a_group_are_not_read_beside_its_jobs() -> None:
    assert [section.name for section in only(V2).sections] == ["test"]


def test_the_sums_of_a_group_are_read_where_its_jobs_are_missing() -> None:
    lines = V2.splitlines()
    run = only("\n".join(lines[:3] + lines[17:]))
    assert one(run, "bandwidth", "randread").value == 59809 * 1024  # as the definition has it
    newer = "Run status group 0 (all jobs):\n  WRITE: bw=200MiB/s (210MB/s), 90.5MiB/s-110MiB/s (95MB/s-115MB/s), io=4096KiB (4194kB), run=20-20msec"
    told = {s.metric: s.value for s in only(newer).samples}
    assert told == {
        "bandwidth": 200 * 2**20, "bandwidth_min": 90.5 * 2**20, "bandwidth_max": 110 * 2**20, "io_bytes": 2**22,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "style", "value"),
    [
        ("24.3GiB/s", Style((3, 30)), 24.3 * 2**30),
        ("26.1GB/s", Style((3, 30)), 26.1e9),
        ("195Mibit/s", Style((3, 30)), 195 * 2**20 / 8),
        ("1.50TiB", Style((3, 30)), 1.5 * 2**40),
        ("20683B/s", Style((2, 2), True), 20683),
        ("611058KB/s", Style((2, 2), True), 611058 * 1024),
        ("611058KB/s", Style((2, 2), True, 1000), 611_058_000),
        ("2PB", Style((2, 2), True), 2 * 2**40),  # after G old fio goes on with P
        ("413696 B", Style((1, 59), True), 413_696),
    ],
)
def test_a_size_says_its_unit(text: str, style: Style, value: float) -> None:
    read = style.size(text)
    assert read is not None
    assert read.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("version", "is_open"), [((2, 20), True), ((3, 25), True), (None, True), ((3, 26), False), ((2, 19), False)]
)
def test_zeros_behind_the_point_may_be_a_carry_that_fio_lost(version: tuple[int, ...] | None, is_open: bool) -> None:
    read = Style(version).size("79.0MiB")
    assert read is not None
    assert (read.low, read.high) == ((79 * 2**20, 80 * 2**20) if is_open else (None, None))
    whole = Style(version).size("79MiB")
    assert whole is not None
    assert whole.low is None


@pytest.mark.parametrize(
    ("rates", "bandwidth", "moved"),
    [
        ("BW=79.0MiB/s (83.9MB/s)(158MiB/2000msec)", 80, 158),
        ("BW=79.0MiB/s (82.9MB/s)(79.0MiB/1000msec)", 79, 79),
        ("BW=79.9MiB/s (83.8MB/s)(79.0MiB/1000msec)", 79.9, 80),
    ],
)
def test_a_carry_that_fio_lost_is_found_where_another_figure_has_it(rates: str, bandwidth: float, moved: float) -> None:
    run = only(f"fio-3.7\n{V3.replace(RATES, '  read: IOPS=20.0k, ' + rates)}")
    assert (one(run, "bandwidth", "read").value, one(run, "bandwidth", "read").low) == (bandwidth * 2**20, None)
    assert (one(run, "io_bytes", "read").value, one(run, "io_bytes", "read").low) == (moved * 2**20, None)
    assert (one(run, "iops", "read").low, one(run, "iops", "read").high) == (20_000, 21_000)


@pytest.mark.parametrize(
    ("size", "iops", "kb"),
    [
        (4000, 7288, 1000),
        (4096, 7117, 1000),
        (4096, 7288, 1024),
        (4096, 9000, 1024),
        (4096, 3, 1024),
        (728_800, 40, 1024),
    ],
)
def test_what_k_is_in_old_text_is_told_by_the_size_of_the_ios(size: int, iops: int, kb: int) -> None:
    definition = f"k: (g=0): rw=read, bs={size}-{size}/4K-4K/4K-4K, ioengine=psync, iodepth=1\nfio-2.1.10\n"
    head = "k: (groupid=0, jobs=1): err= 0: pid=9: Wed Nov 25 10:57:25 2026\n"
    run = only(f"{definition}{head}  read : io=29184KB, bw=29152KB/s, iops={iops}, runt=  1001msec\n")
    assert one(run, "bandwidth", "read").value == 29152 * kb
    assert one(run, "io_bytes", "read").value == 29184 * kb


@pytest.mark.parametrize(
    ("version", "most", "scale"),
    [
        ("fio 1.59\n", 1024, 1000),
        ("fio-2.0.8\n", 1000, 1024),
        ("", 1024, 1000),
        ("", 1000, 1024),
        ("fio 1.59\n", 500, 1000),
    ],
)
def test_the_fastest_job_of_a_group_is_bytes_a_millisecond_before_2_0_8(version: str, most: int, scale: int) -> None:
    sums = f"   READ: io=1000KB, aggrb=1000KB/s, minb={most}KB/s, maxb={most}KB/s, mint=1000msec, maxt=1000msec\n"
    run = only(f"{version}Run status group 0 (all jobs):\n{sums}")
    assert one(run, "bandwidth", "read").value == 1000 * 1024
    assert one(run, "bandwidth_max", "read").value == most * scale


def test_a_carry_that_the_sums_of_a_group_lost_is_found_in_the_other_unit() -> None:
    sums = "   READ: bw=79.0MiB/s (83.9MB/s), 12.0MiB/s-13.0MiB/s (12.6MB/s-13.6MB/s), io=32.0GiB (34.4GB), run=85224-85313msec\n"
    told = {s.metric: (s.value, s.low) for s in only(f"Run status group 0 (all jobs):\n{sums}").samples}
    assert (told["bandwidth"], told["io_bytes"]) == ((80 * 2**20, None), (32 * 2**30, None))
    assert told["bandwidth_min"] == (12 * 2**20, 12 * 2**20)  # nobody tells


@pytest.mark.parametrize("text", ["", "x", "1.2.3KB/s", "9" * 30, "12QB"])
def test_what_is_no_size_is_none(text: str) -> None:
    assert Style().size(text) is None


def test_k_of_a_count_is_1000_in_every_version() -> None:
    for style in (Style((3, 1)), Style((1, 59), True)):
        read = style.count("6387k")
        assert read is not None
        assert read.value == 6_387_000


@pytest.mark.parametrize(
    ("line", "version"),
    [("fio-3.30-63-g66087", (3, 30)), ("fio 1.59", (1, 59)), ("fio-2.0.15", (2, 0, 15)), ("fiop", None)],
)
def test_a_version_line_gives_the_numbers(line: str, version: tuple[int, ...] | None) -> None:
    found = read_version(line)
    assert (found and found[1]) == version


def test_before_1_25_2_kib_a_second_is_bytes_a_millisecond() -> None:
    report = "job: (groupid=0, jobs=1): err= 0: pid=1\n  read : io=102400KiB, bw={}KiB/s, iops=25 , runt= 10000msec\n"
    assert one(only("fio 1.20\n" + report.format(10485)), "bandwidth", "read").value == 10_485_000
    assert one(only("fio 1.26\n" + report.format(10240)), "bandwidth", "read").value == 10240 * 1024
    assert one(only(report.format(10485)), "bandwidth", "read").value == 10_485_000
    assert one(only(report.format(10240)), "bandwidth", "read").value == 10240 * 1024
    assert "1000 or 1024" in one(only(report.format(70000)), "bandwidth", "read").missing_reason


def test_the_spread_of_bandwidth_is_kib_whatever_kb_base_makes_of_its_label() -> None:
    report = V3.replace("24.3GiB/s (26.1GB/s)", "26.1GB/s (24.3GiB/s)")
    line = "   bw (  {}/s): min=  100, max=  200, per=100.00%, avg=150.00, stdev= 5.00, samples=4\n"
    assert one(only(report + line.format("kB")), "bandwidth_min", "read").value == 100 * 1024
    assert one(only(report + line.format("MiB")), "bandwidth_min", "read").value == 100 * 1024 * 1000
    assert one(only(V3 + line.format("MiB")), "bandwidth_min", "read").value == 100 * 2**20


def test_a_line_between_those_of_a_list_of_percentiles_does_not_end_it() -> None:
    text = V3 + "    clat percentiles (usec):\n\n[next-job]\n     | 50.00th=[  692],\n a word\n     | 99.00th=[  700]\n"
    run = only(text)
    assert [one(run, metric, "read").value for metric in ("clat_p50", "clat_p99")] == [692_000, 700_000]


def test_percentiles_by_priority_are_left_out() -> None:
    text = V3 + "    clat prio 1/0 (50.00% of IOs) percentiles (usec):\n     | 50.00th=[  692]\n"
    assert "clat_p50" not in {s.metric for s in only(text).samples}
    assert "clat_min" not in {s.metric for s in only(V3 + "    clat prio 1/0 (usec): min=1, max=2, avg=3\n").samples}


def test_flushes_are_an_operation_of_their_own() -> None:
    text = V3 + "  fsync/fdatasync/sync_file_range:\n    sync (usec): min=156, max=416, avg=244.17, stdev=49.88\n"
    assert one(only(text), "latency_mean", "sync").value == 244_170
    assert one(only(text), "latency_mean", "sync").block_size is None


def test_several_runs_in_a_file_stay_several() -> None:
    assert len(parse(V2 + V2).runs) == 2
    assert [run.line for run in parse("# fio a.fio\n" + V3 + "# fio b.fio\n" + V3).runs] == [1, 4]
    assert len(parse(RATES + "\n" + RATES).runs) == 2


def test_a_report_that_comes_again_under_the_same_process_is_one_run() -> None:
    status = V3 + "\nRun status group 0 (all jobs):\n"
    parsed = parse(status.replace("6387k", "5000k") + status)
    assert [one(run, "iops", "read").value for run in parsed.runs] == [6_387_000]
    assert "2 status reports" in parsed.warnings[0]


def test_the_sum_of_all_clients_is_not_one_more_job() -> None:
    run = only(V3 + V3.replace("job:", "All clients:"))
    assert [section.name for section in run.sections] == ["job"]


def test_means_are_printed_with_true_decimals_in_every_version() -> None:
    found = one(only(V2.replace("avg= 3.72", "avg=453.72")), "slat_mean")
    assert (found.value, found.quality, found.low) == (453_720, "rounded", None)


def test_a_line_of_the_old_form_has_the_old_digits_where_no_version_is_printed() -> None:
    text = "  write: io=768KB, bw=512KB/s, iops=128, runt=  1500msec\n    clat (usec): min=2, max=1931.4K, avg=33.25, stdev=4.50\n"
    found = one(only(text), "clat_max", "write")
    assert (found.low, found.high, found.quality) == (1931 * 10**6, 1932 * 10**6, "approximate")


@pytest.mark.parametrize(
    ("printed", "size"), [("16.0KiB", 16384), ("64.0KiB", 65536), ("128KiB", 131072), ("512B", 512)]
)
def test_a_block_size_is_whole_where_no_digits_follow_the_point(printed: str, size: int) -> None:
    sizes = f"(R) {printed}-{printed}, (W) {printed}-{printed}, (T) {printed}-{printed}"
    run = only(f"job: (g=0): rw=randread, bs={sizes}, ioengine=libaio, iodepth=4\nfio-3.7\n{V3}")
    assert run.workload["block_size"] == size


@pytest.mark.parametrize(
    ("sizes", "size"),
    [
        ("bs=4096B-4096B,8192B-8192B,4096B-4096B, ", 4096),  # fio 2.17 and 2.18
        ("bs(seq/rand)=4K-4K/64K-64K, ", 65536),
        ("bs=4096B-4096B,64.0KiB-64.0KiB, bs_is_seq_rand, ", 65536),
        ("bs=(R) 4096B-4096B, (W) 64.0KiB-64.0KiB, bs_is_seq_rand, ", 65536),
        ("bs=4096B-8192B,8192B-8192B,4096B-4096B, ", None),
        ("bs=(R) 4096B-4096B, (W) 8192B-16.0KiB, bs_is_seq_rand, ", None),
    ],
)
def test_block_sizes_are_read_as_every_version_spells_them(sizes: str, size: int | None) -> None:
    parsed = parse(f"job: (g=0): rw=randread, {sizes}ioengine=libaio, iodepth=4\n{V3}")
    assert one(parsed.runs[0], "iops").block_size == size
    assert not [told for told in parsed.warnings if "definition" in told]


def test_a_job_without_a_name_has_its_own_definition() -> None:
    sizes = "(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B"
    run = only(f": (g=0): rw=randread, bs={sizes}, ioengine=libaio, iodepth=4\nfio-3.42\n{V3.removeprefix('job')}")
    assert (run.line, run.sections[0].name) == (1, "")
    assert (one(run, "iops").block_size, one(run, "iops").iodepth, one(run, "iops").threads) == (8192, 4, 1)


def test_a_block_size_with_a_rest_is_not_made_whole() -> None:
    sizes = "(R) 10.5KiB-10.5KiB, (W) 10.5KiB-10.5KiB, (T) 10.5KiB-10.5KiB"
    assert "block_size" not in only(f"job: (g=0): rw=read, bs={sizes}, ioengine=sync, iodepth=1\n{V3}").workload


@pytest.mark.parametrize(
    "starter",
    ["numactl --cpunodebind=1 --membind=1", "taskset -c 3", "LD_PRELOAD=/x.so", "sudo ionice -c 2", "docker exec n1"],
)
def test_a_command_may_be_started_by_another(starter: str) -> None:
    run = only(f"root@a:~# {starter} fio --name=job --rw=randread --bs=16k\n{RATES}\n")
    assert run.workload["command"] == "fio --name=job --rw=randread --bs=16k"
    assert {(s.operation, s.block_size) for s in run.samples} == {("randread", 16384)}


def test_a_name_in_a_path_starts_nothing() -> None:
    assert "command" not in only(f"# apt-get install fio -y\n{V3}").workload


def test_percentiles_of_what_was_not_counted_are_none() -> None:
    zeros = "    clat percentiles (usec):\n     |  1.00th=[    0], 50.00th=[    0],\n     | 99.00th=[    0]\n"
    latency = "     lat (usec): min=0, max=13242, avg= 1.97, stdev=70.96\n"
    assert {s.metric for s in only(V3 + latency + zeros).samples if "clat" in s.metric} == set()
    assert {s.metric for s in only(V3 + zeros).samples if "clat" in s.metric} == set()
    assert one(only(V3 + zeros.replace("99.00th=[    0]", "99.00th=[    1]")), "clat_p50", "read").value == 0
    assert one(only(V3 + latency.replace(" lat", "clat") + zeros), "clat_p99", "read").value == 0


def test_percentiles_that_a_mail_wrapped_inside_a_value_are_all_read() -> None:
    text = (
        "    clat percentiles (usec):\n     |  1.00th=[   61],  5.00th=[   62], 50.00th=[ \n640],\n"
        "     | 90.00th=[  912], 95.00th=[ 1004], \n99.00th=[ 1500],\n     | 99.99th=[ 7001]\n"
        "   bw (  KiB/s): min=  1, max=  9, per=100.00%, avg= 5.00, stdev= 1.00, samples=4\n"
    )
    run = only(V3 + text)
    found = {
        metric: one(run, f"clat_{metric}", "read").value for metric in ("p1", "p50", "p90", "p95", "p99", "p99_99")
    }
    assert found == {
        "p1": 61_000, "p50": 640_000, "p90": 912_000, "p95": 1_004_000, "p99": 1_500_000, "p99_99": 7_001_000,
    }  # fmt: skip


def test_a_direction_behind_a_name_is_a_report_of_its_own() -> None:
    text = "old.1.log:   read: IOPS=71.5k, BW=279MiB/s (293MB/s)(8380MiB/30001msec)\n+ new : write: IOPS=810, BW=3240KiB/s\n"
    first, second = parse(text).runs
    assert [(run.sections[0].name, run.line) for run in (first, second)] == [("old.1.log", 1), ("new", 2)]
    assert one(first, "io_bytes", "read").value == 8380 * 2**20
    assert {s.metric: s.value for s in second.samples} == {"bandwidth": 3240 * 1024, "iops": 810}


def test_a_second_report_without_its_name_is_not_lost_behind_one_that_has_it() -> None:
    other = "  read: IOPS=411, BW=411MiB/s (431MB/s)(12.0GiB/30004msec)\n"
    assert [one(run, "iops", "read").value for run in parse(V3 + other).runs] == [6_387_000, 411]


@pytest.mark.parametrize("between", ["", "Run status group 0 (all jobs):\n   READ: bw=24.3GiB/s\n\n"])
def test_a_line_that_is_said_over_again_is_no_second_report(between: str) -> None:
    assert len(parse(f"{V3}{between}as you see\n{RATES}\n").runs) == 1


def test_a_mail_that_was_filled_anew_keeps_its_rates() -> None:
    text = (
        V3.replace("08:42 2022\n  read:", "08:42\n2022 read:").rstrip()
        + "; 0 zone\nresets slat (usec): min=6, max=9, avg=7.50\n"
    )
    run = only(text)
    assert one(run, "iops", "read").value == 6_387_000
    assert one(run, "slat_mean", "read").value == 7500


def test_the_command_line_tells_what_the_report_does_not() -> None:
    command = "root@a:~# fio --name=job --rw=read --bs=$((128 *1024)) --size=4g \\\n  --direct=1 --runtime=60 --filename /dev/sdb"
    run = only(f"{command}\n{V3}")
    assert run.workload == {
        "command": "fio --name=job --rw=read --bs=$((128 *1024)) --size=4g --direct=1 --runtime=60 --filename /dev/sdb",
        "rw": "read", "block_size": 131072, "file_size": 2**32, "direct": 1, "runtime": 60,
    }  # fmt: skip
    assert run.target == "/dev/sdb"
    assert {(s.block_size, s.file_size) for s in run.samples} == {(131072, 2**32)}


def test_options_that_stand_in_a_job_file_are_not_made_up() -> None:
    run = only(f"$ sudo fio --filename=/dev/sdb job.fio\n{V3}")
    assert run.workload == {"command": "fio --filename=/dev/sdb job.fio"}
    assert {s.block_size for s in run.samples} == {None}


def test_a_command_that_came_to_nothing_lends_nothing_to_the_next() -> None:
    first = (
        "# fio --name=job --rw=write --bs=1m\njob: (g=0): rw=write, bs=1M-1M/1M-1M/1M-1M, ioengine=sync, iodepth=1\n"
    )
    run = only(first + "fio: engine sync not loadable\n# fio --name=job --rw=randread --bs=8k\n" + V3)
    assert (run.workload["rw"], run.workload["block_size"], run.line) == ("randread", 8192, 4)


def test_lines_that_a_mail_wrapped_are_joined() -> None:
    wrapped = V2.replace(", runt=", ",\nrunt=").replace(", stdev=61.46", ",\nstdev=61.46")
    run = only(wrapped)
    assert one(run, "iops").value == 14952
    assert one(run, "slat_stdev").value == 61_460


def test_a_quoted_report_is_read() -> None:
    run = only("\n".join("> " + line for line in V2.splitlines()))
    assert one(run, "iops").value == 14952


def test_a_job_that_failed_before_it_began_has_a_reason() -> None:
    text = "bad: (g=0): rw=write, bs=4K-4K/4K-4K/4K-4K, ioengine=psync, iodepth=1\n"
    text += "fio: pid=0, err=2/file:filesetup.c:174, func=open, error=No such file or directory\n"
    run = only(text + V3)
    assert run.problem == "fio's bad ended with error 2 (No such file or directory)"
    assert one(run, "bandwidth", "write").missing_reason == "failed: error 2 (No such file or directory)"


def test_a_ratio_of_nothing_is_no_value() -> None:
    run = only(V3 + "  mixed: IOPS=0, BW=0 (0)(0B/0msec)\n")
    assert {s.operation for s in run.samples} == {"read"}


def test_a_second_figure_of_the_same_measure_is_told_and_the_first_stays() -> None:
    lines = "    slat (usec): min=3, max=335, avg= 9.73, stdev= 5.76\n"
    parsed = parse(V3 + lines + lines.replace("9.73", "8.00"))
    assert one(parsed.runs[0], "slat_mean", "read").value == 9730
    assert parsed.warnings[0] == "line 4: slat is there a second time; the first one was kept"


def test_json_of_the_same_run_is_preferred() -> None:
    document = '{"fio version": "fio-3.33", "jobs": [{"jobname": "job", "read": {"runtime": 60000, "io_bytes": 1}}]}'
    parsed = parse(V3 + document)
    assert parsed.runs == ()
    assert "JSON" in parsed.warnings[0]
    assert len(parse(V3 + document.replace("60000", "60001")).runs) == 1


def test_a_text_without_a_report_is_refused() -> None:
    with pytest.raises(ParseError):
        parse("fio is a tool for tests of disks\nread : a book\n")


HOSTILE = {
    "names": "a: " * 300_000 + "\n" + "x" * 300 + ": (groupid=0, jobs=1): err= 0: pid=9\n",
    "headers": "a: (groupid=0, jobs=1): err= 0: pid=9\n" * 27_000,
    "heads of jobs": "a: (g=0): rw=read\n" * 55_000,
    "one job after the other": V3 * 8000,
    "many heads and many jobs": "".join(f"j{n}: (g=0): rw=read\n" for n in range(25_000))
    + "".join(f"j{n}: (groupid=0, jobs=1): err= 0: pid=9\n" for n in range(12_000)),
    "rates": RATES + "\n" + (RATES + "\n") * 15_000,
    "named rates": V3 + "".join(f"a{n}: read: IOPS={n}, BW=1MiB/s\n" for n in range(10_000)),
    "repeated rates": V3 + (RATES + "\n") * 15_000,
    "starters": "# numactl " + "a " * 500_000 + "fio ",
    "digits": "  read : io=" + "1" * 900_000 + "KB, bw=1KB/s, iops=1, runt=1msec\n" + V3,
    "directions": "read: IOPS=" * 90_000,
    "many long lines": ("  read : io=" + "1" * 900 + "\n") * 1100,
    "blanks": "  read" + " " * 900_000 + ": io=\n" + V3,
    "commands": "# fio " * 170_000,
    "open arithmetic": "# fio --bs=" + "$((" * 300_000,
    "groups": "Run status group 0 (all jobs):\n   READ: bw=1" + ",1-1" * 200_000,
    "percentiles": V3 + "    clat percentiles (usec):\n" + ("     |" + " 50.00th=[  692]," * 50 + "\n") * 1200,
    "latencies": V3 + "    clat (usec): min=1, max=2, avg=3, stdev=4\n" * 20_000,
    "numbers of no size": V3 + "    clat (usec): min=" + "9" * 5000 + ", max=inf, avg=nan, stdev=1e999\n",
}


@pytest.mark.slow
@for_each("name", HOSTILE, number=4)
def test_a_hostile_mebibyte_is_read_or_refused_within_two_seconds(name: str) -> None:
    spent = []
    for _ in range(2):
        before = time.process_time()
        text = SourceText(HOSTILE[name])
        text_format.looks_like(text)
        try:
            parsed = text_format.parse(text)
            assert all(s.value is None or abs(s.value) < 1e300 for run in parsed.runs for s in run.samples)
        except ParseError:
            pass
        spent.append(time.process_time() - before)
    assert within(min(spent), 2)


@settings(deadline=None)
@given(st.integers(0, len(V2)), st.integers(0, 300), st.text(max_size=20))
def test_a_report_with_a_piece_replaced_is_read_or_refused(start: int, length: int, text: str) -> None:
    try:
        parsed = parse(V2[:start] + text + V2[start + length :])
    except ParseError:
        return
    for run in parsed.runs:
        keys = [(s.operation, s.metric, s.block_size, s.threads, s.iodepth, s.section) for s in run.samples]
        assert len(set(keys)) == len(keys)


AVERAGES = """before:
write: io=2048.0MB, bw=254117KB/s, iops=63528.9 , runt=  8279msec
lat (usec): min=1 , max=742361 , avg=30.918, stdev=1601.02
after:
write: io=2048.0MB, bw=254044KB/s, iops=63510.3 , runt=  8274.4msec
lat (usec): min=1 , max=856333 , avg=31.043, stdev=1769.32
"""


def test_averages_of_several_reports_are_read_as_they_are_told() -> None:
    runs = parse(AVERAGES).runs
    assert [[one(run, metric, "write").value for metric in ("iops", "latency_mean")] for run in runs] == [
        [63528.9, 30_918], [63510.3, 31_043],
    ]  # fmt: skip


def test_figures_in_bold_are_read() -> None:
    bold = AVERAGES.replace("iops=63528.9", "*iops=63528.9*").replace("bw=254044KB/s", "*bw=254044KB/s*")
    assert [run.samples for run in parse(bold).runs] == [run.samples for run in parse(AVERAGES).runs]


def test_marks_before_a_direction_are_no_name() -> None:
    (run,) = parse("// read : io=5120.0MB, bw=19953KB/s, iops=4988 , runt=262833msec\n").runs
    assert [section.name for section in run.sections] == [""]


def test_a_global_section_on_the_command_line_is_no_job() -> None:
    command = "# fio --name=global --bs=4k --size=3G --name=readers --rw=randread --filename=/mnt/f\n"
    report = "readers: (groupid=0, jobs=1): err= 0: pid=28099\n  read : io=21060KB, bw=718776 B/s, iops=175 , runt= 30003msec\n"
    sample = one(only(command + report), "iops")
    assert (sample.file_size, sample.block_size) == (3 << 30, 4096)
    other = command.replace("\n", " --name=writers --rw=write\n")
    assert one(only(other + report), "iops", "read").file_size is None
