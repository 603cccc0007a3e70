"""Outputs of the results' tools in shapes that other people's shells give them."""

import pytest

from apps.parsers.bonnie import format as bonnie_format
from apps.parsers.core.models import ParsedRun
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from apps.parsers.hdparm import format as hdparm_format
from apps.parsers.iozone import format as iozone_format

MIB = 1024.0**2

ZSH = """\
% time dd if=/dev/zero bs=1k of=one count=1
1+0 records in
1+0 records out
1024 bytes (1.0 kB, 1.0 KiB) copied, 0.000286261 s, 3.6 MB/s
dd if=/dev/zero bs=1k of=one count=1  0.00s user 0.00s system 89% cpu 0.003 total
% time dd if=/dev/zero bs=1024k of=two count=1
1+0 records in
1+0 records out
1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.00084763 s, 1.2 GB/s
dd if=/dev/zero bs=1024k of=two count=1  0.00s user 0.02s system 98% cpu 0.023 total
"""


def test_the_line_that_zsh_prints_of_a_timed_dd_is_no_command() -> None:
    runs = dd_format.parse(SourceText(ZSH)).runs
    assert [(run.samples[0].operation, run.target, run.line, run.last_line) for run in runs] == [
        ("write", "one", 2, 5),
        ("write", "two", 7, 10),
    ]


BARE = "1048576000 bytes (1.0 GB) copied, {} s, {} MB/s\n"
RECORDS = "8+0 records in\n8+0 records out\n8388608 bytes (8.4 MB, 8.0 MiB) copied, 0.0123 s, 682 MB/s\n"


def dd_runs(text: str) -> tuple[ParsedRun, ...]:
    return dd_format.parse(SourceText(text)).runs


def test_what_empties_the_cache_before_a_dd_is_no_prompt() -> None:
    typed = "sync; echo 3 > /proc/sys/vm/drop_caches; dd if=/srv/a of=/dev/null bs=1M"
    for prompt in ("", "$ ", "[root@lab ~]# ", "❯ "):
        (run,) = dd_runs(f"{prompt}{typed}\n{RECORDS}")
        assert (run.workload["command"], run.target) == (typed, "/srv/a")


def test_bare_results_below_each_other_are_of_the_command_above_that_was_run_again() -> None:
    text = "$ dd if=/dev/zero of=one bs=1M count=1000 (run 3 times)\n\n"
    text += BARE.format("3.31", 317) + BARE.format("2.06", 509) + BARE.format("3.16", 332)
    assert [(run.target, run.samples[0].operation) for run in dd_runs(text)] == [("one", "write")] * 3
    other = text.replace("1048576000 bytes (1.0 GB) copied, 3.16", "2097152000 bytes (2.1 GB) copied, 6.32")
    assert [run.target for run in dd_runs(other)] == ["one", "one", ""]  # as many bytes, or something else was run


def test_a_short_command_has_a_blank_line_before_its_bare_result() -> None:
    (run,) = dd_runs("$ dd if=/srv/a of=/dev/null bs=1M\n\n" + BARE.format("3.31", 317))
    assert (run.target, run.samples[0].operation) == ("/srv/a", "read")


def test_a_blank_in_a_path_behind_a_backslash_is_of_the_path() -> None:
    (run,) = dd_runs("$ sudo dd bs=1M count=8 if=/dev/zero of=/media/lab/USB\\ Stick/test.bin\n" + RECORDS)
    assert (run.target, run.workload["block_size"]) == ("/media/lab/USB Stick/test.bin", 1 << 20)
    (run,) = dd_runs("C:\\> dd if=\\\\.\\PhysicalDrive1 of=/dev/null bs=1M\n" + RECORDS)
    assert run.target == "\\\\.\\PhysicalDrive1"


def test_the_date_that_was_asked_for_before_a_copy_is_no_end_of_its_command() -> None:
    for day in ("Wed Mar  2 20:54:22 GMT 2021", "Fri 13 Dec 10:16:01 CET 2019"):
        (run,) = dd_runs(f"$ date; dd if=/dev/zero of=one bs=1M count=8; date\n{day}\n{RECORDS}{day}\n")
        assert (run.target, run.workload["command"]) == ("one", "date; dd if=/dev/zero of=one bs=1M count=8; date")


WORDS = (
    "Получаем:", "The output will be::", "Вывод", "Ergebnis:", "Output should be something like this:", "**Résultat:**",
    "And the output for that should be something like this:",
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_words_for_the_output_stand_between_command_and_output(word: str) -> None:
    (run,) = dd_runs(f"```\ndd if=/dev/zero of=one bs=1M count=8\n```\n{word}\n```\n{RECORDS}```\n")
    assert run.target == "one"
    (run,) = dd_runs(f"dd if=/dev/zero of=one bs=1M count=8\n\nOn the other disk:\n{RECORDS}")
    assert run.target == ""


def test_a_word_for_the_output_before_a_result_is_no_label() -> None:
    (run,) = dd_runs("  `busybox dd if=/mnt/a of=/dev/null bs=4K`\n\n  结果：" + BARE.format("14.18", 73.9))
    assert (run.target, run.samples[0].block_size) == ("/mnt/a", 4096)


def test_a_command_before_a_result_in_the_same_line_is_its_command() -> None:
    (run,) = dd_runs("sudo dd if=/dev/zero of=/mnt/a count=1000 bs=1M oflag=dsync # " + BARE.format("156.8", "6.7"))
    assert (run.target, run.workload["sync"], run.samples[0].operation) == ("/mnt/a", "dsync", "write")


def test_a_command_in_bold_is_one() -> None:
    (run,) = dd_runs("root@lab:/srv# **dd if=/dev/zero of=/srv/a count=8 bs=1M**\n" + RECORDS)
    assert (run.target, run.workload["command"]) == ("/srv/a", "dd if=/dev/zero of=/srv/a count=8 bs=1M")
    assert run.workload["block_size"] == 1 << 20


def test_what_a_quota_tells_is_no_end_of_the_command() -> None:
    told = "sdb1: write failed, user block limit reached.\ndd: writing `two': Disk quota exceeded\n"
    (run,) = dd_runs(f"$ dd if=/dev/zero of=two bs=1M count=9\n{told}{RECORDS}")
    assert (run.target, run.problem) == ("two", "dd: writing `two': Disk quota exceeded")


def test_zeros_are_no_disk_to_write_to() -> None:
    (run,) = dd_runs("# dd if=/dev/ada0 of=/dev/zero bs=1m count=8\n" + RECORDS)
    assert (run.samples[0].operation, run.target) == ("read", "/dev/ada0")


def test_progress_in_lines_of_its_own_is_no_result() -> None:
    told = [(104857600, 1), (205520896, 2), (306184192, 3), (511705088, 6)]
    text = "".join(f"{size} bytes ({size // 10**6} MB) copied, {time} s, 102 MB/s\n" for size, time in told)
    end = "128+0 records in\n128+0 records out\n536870912 bytes (537 MB, 512 MiB) copied, 6.4122 s, 83.7 MB/s\n"
    assert [(run.samples[0].file_size, run.line) for run in dd_runs(text + end)] == [(536870912, 5)]
    assert [run.samples[0].file_size for run in dd_runs(text)] == [511705088]  # cut off: the last that is known


CACHED = " Timing cached reads:   2{0}68 MB in  2.00 seconds = 1{0}84.19 MB/sec\n"
DISK = " Timing buffered disk reads: 3{0}0 MB in  3.00 seconds = 1{0}0.00 MB/sec\n"


def hdparm_runs(text: str) -> list[tuple[str, str, list[float]]]:
    found = hdparm_format.parse(SourceText(text))
    assert not found.broken
    return [
        (run.target, str(run.workload.get("command", "")), [(one.value or 0) / MIB for one in run.samples])
        for run in found.runs
    ]


def test_a_timing_below_blank_lines_is_of_the_device_above() -> None:
    text = "/dev/sda:\n" + DISK.format(0) + "\n" + DISK.format(3) + "\n2.6.20\n\n" + DISK.format(6)
    assert [target for target, _, _ in hdparm_runs(text)] == ["/dev/sda", "/dev/sda", ""]


def test_two_commands_without_device_lines_are_two_runs() -> None:
    text = "# hdparm -t /dev/sda\n" + DISK.format(0) + "\n# hdparm -T /dev/sdb\n" + CACHED.format(0)
    assert [(target, command) for target, command, _ in hdparm_runs(text)] == [
        ("/dev/sda", "hdparm -t /dev/sda"),
        ("/dev/sdb", "hdparm -T /dev/sdb"),
    ]


def test_a_rate_in_bold_is_one() -> None:
    text = "| hdparm -t /dev/sdb1 |\n|---|\n|" + DISK.format(3).replace("130.00 MB/sec", "**130.00 MB/sec** |")
    assert hdparm_runs(text) == [("/dev/sdb1", "hdparm -t /dev/sdb1", [130.0])]


def test_commands_behind_a_path_before_others_and_in_sentences_are_read() -> None:
    told = {
        "# /sbin/hdparm -tT /dev/hda;/sbin/hdparm -i /dev/hda": "hdparm -tT /dev/hda",
        "Some numbers from hdparm -t /dev/hda:": "hdparm -t /dev/hda",
        "root@lab:~# **hdparm -Tt /dev/hda**": "hdparm -Tt /dev/hda",
        "then tried hdparm -a 8192 /dev/hda, and got this:": "",  # which times nothing
    }
    for typed, command in told.items():
        assert hdparm_runs(f"{typed}\n\n/dev/hda:\n{DISK.format(0)}") == [("/dev/hda", command, [100.0])]


def test_devices_of_windows_are_devices() -> None:
    text = "C:\\tools>hdparm -t hdb\n\nhdb:\n" + DISK.format(0) + "\nC:\\tools>hdparm -t hda\n\nhda:\n" + DISK.format(3)
    assert [(target, command) for target, command, _ in hdparm_runs(text)] == [
        ("hdb", "hdparm -t hdb"),
        ("hda", "hdparm -t hda"),
    ]


def test_a_patched_bonnie_says_xxxx_of_what_it_left_out() -> None:
    text = """\
              -------Sequential Output-------- ---Sequential Input-- --Random--
              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---
           MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU
          400  xxxx xxxx 12001 12.1  5002 10.8  xxxx xxxx 13003 12.1   xxx  xxx
"""
    (run,) = bonnie_format.parse(SourceText(text)).runs
    assert [(one.operation, one.value and one.value / 1024) for one in run.samples] == [
        ("char_write", None), ("write", 12001), ("rewrite", 5002), ("char_read", None), ("read", 13003), ("seek", None),
    ]  # fmt: skip
    assert {one.missing_reason for one in run.samples if one.value is None} == {"xxxx: not run"}


def test_a_test_without_a_name_is_no_end_of_a_throughput_report() -> None:
    text = """\
"Throughput report Y-axis is type of test X-axis is number of processes"
    "Record size = 4 kBytes "
    "Output is in ops/sec"

    "  Initial write "       0.00_

    "                "       0.00_

    "           Read "    1901.33_

    "        Re-read "    2002.95_
"""
    found = iozone_format.parse(SourceText(text.replace("_", " ")))
    assert [(one.operation, one.value) for run in found.runs for one in run.samples] == [
        ("write", None), ("read", 1901.33), ("reread", 2002.95),
    ]  # fmt: skip
    assert not found.broken


def test_an_end_below_the_next_command_is_no_line_of_the_run_before() -> None:
    report = '"Writer report"\n        "4"\n"1024"   2102 \n\n'
    text = f"./iozone -i 0 -O -r 4k -s 1m -R\n\n{report}./iozone -i 1 -O -r 4k -s 1m -R\niozone test complete.\n\n"
    runs = iozone_format.parse(SourceText(text + report.replace("Writer", "Reader"))).runs
    assert [(run.line, run.last_line) for run in runs] == [(1, 5), (7, 12)]
