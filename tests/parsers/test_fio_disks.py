"""fio's `disk_util`: what the kernel counted at the disks, in all three reports."""

import pytest

from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText
from apps.parsers.fio.disks import NOT_TIMED
from apps.parsers.fio.json import format as json_format
from apps.parsers.fio.terse import format as terse_format
from apps.parsers.fio.text import format as text_format
from tests.parsers.test_fio_terse import READ, record

Told = tuple[str, float | None, int, str, int | None, str]
JOB = '"jobs" : [{"jobname" : "a", "job options" : {"rw" : "read", "disk_util" : "1"}, "read" : {"io_bytes" : 4096, "bw_bytes" : 4096}}]'
SDA = """{
      "name" : "sda",
      "read_ios" : 10,
      "write_ios" : 2,
      "read_sectors" : 80,
      "write_sectors" : 16,
      "read_merges" : 1,
      "aggr_util" : 77.0,
      "util" : 98.412698
    }"""
MD0 = '{"name" : "md0", "read_ios" : 12, "write_ios" : 0, "util" : 0.000000}'
TEXT = """fio-3.39
a: (groupid=0, jobs=1): err= 0: pid=1: Sat Nov 21 16:35:12 2026
  read: IOPS=10, BW=40.0KiB/s (41.0kB/s)(40.0KiB/1000msec)
  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%

Run status group 0 (all jobs):
   READ: bw=40.0KiB/s (41.0kB/s), 40.0KiB/s-40.0KiB/s (41.0kB/s-41.0kB/s), io=40.0KiB (41.0kB), run=1000-1000msec

Disk stats (read/write):
"""


def told(found: ParsedFile) -> list[Told]:
    (run,) = found.runs
    samples = [one for one in run.samples if one.operation == "disk"]
    assert all((one.file_size, one.block_size, one.threads, one.iodepth) == (None,) * 4 for one in samples)
    return [(one.metric, one.value, one.section, one.printed, one.line, one.note) for one in samples]


def in_json(disks: str) -> ParsedFile:
    return json_format.parse(f'{{"fio version" : "fio-3.39",\n{JOB},\n  "disk_util" : {disks}\n}}')


def in_text(lines: str) -> ParsedFile:
    return text_format.parse(SourceText(TEXT + lines))


def test_each_disk_of_a_json_report_has_its_figures_and_their_lines() -> None:
    found = in_json(f"[\n    {SDA},\n    {MD0}\n  ]")
    assert told(found) == [
        ("disk_reads", 10, 0, "10 reads", 6, "disk sda"),
        ("disk_writes", 2, 0, "2 writes", 7, "disk sda"),
        ("disk_bytes_read", 80 * 512, 0, "80 sectors", 8, "disk sda"),
        ("disk_bytes_written", 16 * 512, 0, "16 sectors", 9, "disk sda"),
        ("disk_util", pytest.approx(0.98412698), 0, "98.412698 %", 12, "disk sda"),
        ("disk_reads", 12, 1, "12 reads", 14, "disk md0"),
        ("disk_writes", 0, 1, "0 writes", 14, "disk md0"),
        ("disk_util", None, 1, "0.000000 %", 14, "disk md0"),
    ]
    assert found.runs[0].samples[-1].missing_reason == NOT_TIMED


def test_disks_that_stand_before_the_jobs_are_those_of_the_report_all_the_same() -> None:
    found = json_format.parse(f'{{"disk_util": [{MD0}],\n"fio version": "fio-3.39",\n{JOB}}}')
    assert told(found)[0] == ("disk_reads", 12, 0, "12 reads", 1, "disk md0")


def test_a_disk_that_was_at_rest_is_a_measured_zero() -> None:
    found = in_json('[{"name" : "sda", "read_ios" : 0, "write_ios" : 0, "util" : 0.0}]')
    assert [(metric, value) for metric, value, *_ in told(found)] == [
        ("disk_reads", 0),
        ("disk_writes", 0),
        ("disk_util", 0),
    ]


@pytest.mark.parametrize(
    "disks", ["[]", "null", '[{"name" : "sda"}]', '[{"name" : "sda", "read_ios" : -1, "util" : 1e300}]']
)
def test_what_is_not_counted_is_no_figure(disks: str) -> None:
    found = in_json(disks)
    assert (told(found), found.warnings) == ([], ())


@pytest.mark.parametrize("disks", ['"none"', "[3]", '{"sda" : 1}', '[{"name" : "sda", "read_ios" : "many"}]'])
def test_what_is_no_list_of_disks_is_told_and_harms_no_job(disks: str) -> None:
    found = in_json(disks)
    assert told(found) == []
    assert found.runs[0].samples
    assert found.warnings[0].startswith("disk_util: found ")


def test_the_normal_report_has_the_same_figures() -> None:
    assert told(in_text("  sda: ios=10/2, sectors=80/16, merge=1/0, ticks=5/6, in_queue=11, util=98.41%\n")) == [
        ("disk_reads", 10, 0, "10 reads", 10, "disk sda"),
        ("disk_writes", 2, 0, "2 writes", 10, "disk sda"),
        ("disk_bytes_read", 80 * 512, 0, "80 sectors", 10, "disk sda"),
        ("disk_bytes_written", 16 * 512, 0, "16 sectors", 10, "disk sda"),
        ("disk_util", pytest.approx(0.9841), 0, "98.41 %", 10, "disk sda"),
    ]


def test_sums_over_members_are_no_disks() -> None:
    array = (
        "    md0: ios=12/3, merge=0/0, ticks=0/0, in_queue=0, util=0.00%, aggrios=6/2, aggrmerge=0/0, aggrutil=98.00%\n"
    )
    found = told(in_text(f"{array}  sdb: ios=6/2, merge=0/0, ticks=1/1, in_queue=2, util=98.00%\n"))
    assert [(metric, value, note) for metric, value, _, _, _, note in found] == [
        ("disk_reads", 12, "disk md0"), ("disk_writes", 3, "disk md0"), ("disk_util", None, "disk md0"),
        ("disk_reads", 6, "disk sdb"), ("disk_writes", 2, "disk sdb"), ("disk_util", 0.98, "disk sdb"),
    ]  # fmt: skip


def test_a_line_that_a_mail_wrapped_is_whole_and_one_said_twice_is_one_disk() -> None:
    wrapped = "    md0: ios=12/3, merge=0/0, ticks=4/4, in_queue=8,\nutil=40.00%, aggrios=0/0, aggrmerge=0/0,\naggrutil=0.00%\n"
    found = told(in_text(wrapped + "\nso the disk was hardly busy:\n" + wrapped))
    assert [(metric, value) for metric, value, *_ in found] == [
        ("disk_reads", 12),
        ("disk_writes", 3),
        ("disk_util", 0.4),
    ]


def test_disks_above_any_result_are_nobodys() -> None:
    with pytest.raises(ValueError, match="no report of fio"):
        text_format.parse(SourceText("  sda: ios=10/2, merge=1/0, ticks=5/6, in_queue=11, util=98.41%\n"))


def test_a_terse_record_ends_with_its_disks_and_what_follows_is_none() -> None:
    rest = ";md0;12;3;0;0;1;2;3;0.00%;slaves;6;2;0;0;1;1;2;98.00%;sdb;6;2;0;0;1;1;2;98.00%;0;0;my;own;words;1;2;3;4;5;6;7;8;9"
    found = told(terse_format.parse(SourceText(record(READ, READ, rest=rest) + "\n")))
    assert [(metric, value, printed, line, note) for metric, value, _, printed, line, note in found] == [
        ("disk_reads", 12, "12 reads", 1, "disk md0"), ("disk_writes", 3, "3 writes", 1, "disk md0"),
        ("disk_util", None, "0.00 %", 1, "disk md0"), ("disk_reads", 6, "6 reads", 1, "disk sdb"),
        ("disk_writes", 2, "2 writes", 1, "disk sdb"), ("disk_util", 0.98, "98.00 %", 1, "disk sdb"),
    ]  # fmt: skip
