"""dd's outputs: real ones beside their expected halves, and what strange and damaged ones read as."""

import random
import time
from itertools import product

import pytest

from apps.parsers.core.models import ParsedFile, ParsedRun, ParseError
from apps.parsers.core.registry import get_format, read_as
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from apps.parsers.dd.command import parse_size, read_command
from apps.parsers.dd.lines import read_result
from tests.pace import within
from tests.parsers import fixture_pairs
from tests.sampling import for_each

RECORDS = "8+0 records in\n8+0 records out\n"


def parse(text: str) -> ParsedFile:
    return dd_format.parse(SourceText(text))


def only(text: str) -> ParsedRun:
    (run,) = parse(text).runs
    return run


def result(line: str) -> tuple[int | None, float | None]:
    bandwidth, elapsed = only(line + "\n").samples
    return bandwidth.file_size, elapsed.value


@for_each(
    "command, copied, announced",
    [
        ("if=/dev/zero of=f bs=1M count=4096", 1_200_000_000, 4 << 30),
        ("if=/dev/zero of=f bs=1M count=4096", 4 << 30, None),
        ("if=/dev/zero of=f ibs=4k obs=1k count=10", 40960, None),  # count is of input blocks
        ("if=/dev/zero of=f obs=4k count=10", 5120, None),
        ("if=/dev/zero of=f bs=1M count=1000 iflag=count_bytes", 1000, None),
        ("if=/dev/zero of=f bs=1M count=1000B", 1000, None),  # bytes or blocks: versions differ
        ("if=/dev/zero of=f bs=1M", 5 << 20, None),
        ("if=f of=/dev/null bs=1M count=100", 5 << 20, None),  # the file may be shorter
        ("if=/dev/zero of=f bs=1M count=4", 0, None),
        ("if=/dev/zero of=f bs=2147483648M count=2147483648", 5 << 20, None),  # no file has as many
    ],
)
def test_the_size_that_a_command_announces_and_no_row_has(command: str, copied: int, announced: int | None) -> None:
    run = only(f"$ dd {command}\n1+0 records in\n1+0 records out\n{copied} bytes copied, 0.5 s, 6.3 MB/s\n")
    assert run.workload.get("header_file_size") == announced


LINES = {  # as the tools' sources and translations write it, every one of 3145728 bytes in 0.5 s
    "coreutils 8.25 on": "3145728 bytes (3.1 MB, 3.0 MiB) copied, 0.5 s, 6.3 MB/s",
    "coreutils 6.10 on": "3145728 bytes (3.1 MB) copied, 0.5 s, 6.3 MB/s",
    "coreutils 5.9": "3145728 bytes (3.1 MB) copied, 0.500000 seconds, 6.3 MB/s",
    "coreutils 5.1": "3145728 bytes transferred in 0.500000 seconds (6291456 bytes/sec)",
    "FreeBSD, macOS": "3145728 bytes transferred in 0.500000 secs (6291456 bytes/sec)",
    "NetBSD, OpenBSD": "3145728 bytes transferred in 0.500 secs (6291456 bytes/sec)",
    "busybox": "3145728 bytes (3.0MB) copied, 0.500000 seconds, 6.0MB/s",
    "toybox": "3145728 bytes (3.0 M) copied, 0.500 s, 6.0 M/s",
    "German": "3145728 Bytes (3,1 MB) kopiert, 0,5 Sekunden, 6,3 MB/s",
    "German, ASCII": "3145728 Bytes (3.1 MB) kopiert, 0.5 s, 6.3 MB/s",
    "French": "3145728 octets (3,1 MB) copiés, 0,5 seconde, 6,3 MB/s",
    "Italian": "3145728 byte (3,1 MB) copiati, 0,5 s, 6,3 MB/s",
    "Spanish, Portuguese": "3145728 bytes (3,1 MB, 3,0 MiB) copiados, 0,5 s, 6,3 MB/s",
    "Russian": "3145728 байт (3,1 MB, 3,0 MiB) скопировано, 0,5 с, 6,3 MB/s",
    "Russian, with a Latin c": " скопировано 3145728 байт (3,1 MB), 0,5 c, 6,3 MB/c",
    "Polish": "skopiowane 3145728 bajtów (3,1 MB, 3,0 MiB), 0,5 s, 6,3 MB/s",
    "Chinese": "3145728字节(3.1 MB，3.0 MiB)已复制，0.5 s，6.3 MB/s",
    "Japanese": "3145728 バイト (3.1 MB, 3.0 MiB) コピーされました、 0.5 s、 6.3 MB/s",
    "Swedish": "3145728 byte (3,1 MB, 3,0 MiB) kopierade, 0,5 s, 6,3 MB/s",
    "Hungarian": "3145728 bájt (3,1 MB) másolva, 0,5 mp, 6,3 MB/s",
    "Hungarian, coreutils 5.94": "3145728 bájt (3,1 MB) másolva, 0,5 másodperc, 6,3 MB/mp",
    "Czech": "Zkopírováno 3145728 bajtů (3,1 MB, 3,0 MiB), 0,5 s, 6,3 MB/s",
    "aligned by hand": "3145728 bytes (3.1 MB) copied, 0.5 s,  6.3 MB/s",
    "an exponent": "3145728 bytes (3.1 MB, 3.0 MiB) copied, 5e-01 s, 6.3 MB/s",
    "behind a label": "md0: 3145728 bytes (3.1 MB, 3.0 MiB) copied, 0.5 s, 6.3 MB/s, fine",
}


@for_each("name", LINES)
def test_result_is_read_in_every_dialect(name: str) -> None:
    parsed = parse(LINES[name] + "\n")
    bandwidth, elapsed = parsed.runs[0].samples
    assert (bandwidth.file_size, bandwidth.value, elapsed.value) == (3145728, 6291456.0, 5e8)
    assert parsed.warnings == ()
    assert not parsed.runs[0].is_transcribed


@pytest.mark.parametrize("mark", ["'", "’", "\u202f", ".", ","])
def test_marks_in_the_bytes_are_a_persons_and_the_run_says_so(mark: str) -> None:
    run = only(f"1{mark}073{mark}741{mark}824 bytes (1.1 GB) copied, 2 s, 537 MB/s\n")
    assert run.samples[0].value == 536870912.0
    assert run.is_transcribed


def test_apostrophes_in_the_rate_are_read() -> None:
    run = only("104857600 bytes transferred in 0.372477 secs (281’514’434 bytes/sec)\n")
    assert run.samples[0].value == 281514434.0
    assert run.is_transcribed


@pytest.mark.parametrize("seconds", ["1.234,5", "1,234.5", "1.2.3", "1,2,3"])
def test_seconds_that_can_be_read_in_two_ways_are_broken(seconds: str) -> None:
    parsed = parse(f"{RECORDS}3145728 bytes (3.1 MB) copied, {seconds} s, 6.3 MB/s\n")
    assert parsed.runs == ()
    assert (parsed.broken[0].line, parsed.broken[0].found) == (3, seconds)


def test_rate_that_does_not_agree_is_told_and_not_taken() -> None:
    parsed = parse(
        "3145728 bytes (3.1 MB) copied, 0.5 s, 63 MB/s\n104857600 bytes transferred in 2.0 secs (9 bytes/sec)\n"
    )
    assert [run.samples[0].value for run in parsed.runs] == [6291456.0, 52428800.0]
    assert [run.samples[0].printed for run in parsed.runs] == ["63 MB/s", "9 bytes/sec"]
    assert len(parsed.warnings) == 2
    assert all("bytes/s" in run.samples[0].note for run in parsed.runs)


def test_rounding_of_seconds_and_rate_is_no_disagreement() -> None:
    assert parse("512 bytes transferred in 0.000001 secs (341333333 bytes/sec)\n").warnings == ()
    assert parse("10737418240 bytes (11 GB) copied, 7.78806 s, 1.4 GB/s\n").warnings == ()


def test_no_time_is_no_infinite_rate() -> None:
    for line in ("512 bytes copied, 0 s, Infinity B/s", "512 bytes transferred in 0.000000 secs (inf bytes/sec)"):
        (sample,) = only(f"{line}\n").samples
        assert (sample.value, sample.missing_reason) == (None, "dd printed no time that passed")


def test_records_alone_give_bytes_where_the_block_size_is_shown_and_no_rate() -> None:
    rate, size = only("# dd if=/dev/zero of=/dev/sdb bs=1024k count=8\n" + RECORDS).samples
    assert (rate.value, size.metric, size.value) == (None, "io_bytes", 8388608.0)
    assert [one.metric for one in only("done:\n" + RECORDS).samples] == ["bandwidth"]


def test_full_records_give_the_block_size() -> None:
    assert only(RECORDS + "8192 bytes (8.2 kB) copied, 1 s, 8.2 kB/s\n").workload == {"block_size": 1024}
    assert only("7+1 records in\n7+1 records out\n8000 bytes copied, 1 s, 8 kB/s\n").workload == {}


def test_progress_is_no_result() -> None:
    text = "$ dd if=/dev/sda of=/dev/null bs=1M\n\r100 bytes copied, 1 s, 100 B/s\r200 bytes copied, 2 s, 100 B/s\n"
    run = only(text + RECORDS + "8388608 bytes (8.4 MB) copied, 2.5 s, 3.4 MB/s\n")
    assert run.samples[0].value == 8388608 / 2.5
    assert (run.samples[0].operation, run.target) == ("read", "/dev/sda")


@pytest.mark.parametrize("bytes_of_it", [6000000, 8388608])
def test_progress_with_parts_of_a_second_is_no_result(bytes_of_it: int) -> None:
    text = f"{bytes_of_it} bytes (6.0 MB) copied, 2.01 s, 3.0 MB/s\n"
    report = RECORDS + "8388608 bytes (8.4 MB) copied, 2.5 s, 3.4 MB/s\n"
    assert only(text + report).samples[0].value == 8388608 / 2.5
    assert len(parse(text + text + report).runs) == 3  # results that somebody lists
    assert len(parse(text + "\n" + report).runs) == 2


def test_the_progress_that_freebsd_prints_hides_no_command() -> None:
    progress = "  2097152000 bytes (2097 MB, 2000 MiB) transferred 1.002s, 2093 MB/s\n"
    result = "3145728 bytes transferred in 0.500000 secs (6291456 bytes/sec)\n"
    run = only(f"$ dd if=/dev/zero of=/tank/t bs=384k status=progress\n{progress * 4}{RECORDS}{result}")
    assert (run.target, run.samples[0].operation, run.samples[0].value) == ("/tank/t", "write", 6291456.0)


def test_result_that_a_mail_wrapped_is_put_together() -> None:
    run = only(f"{RECORDS}3145728 bytes (3.1 MB, 3.0 MiB) copied, 0.5 s,\n6.3 MB/s\n")
    assert (run.samples[0].value, run.last_line) == (6291456.0, 4)


def test_result_that_is_cut_is_broken_and_the_others_are_read() -> None:
    good = "3145728 bytes (3.1 MB) copied, 0.5 s, 6.3 MB/s\n"
    parsed = parse(f"{RECORDS}512 byte (512 B) copiati0000\n{RECORDS}{good}")
    assert [one.line for one in parsed.broken] == [3]
    assert [run.samples[0].value for run in parsed.runs] == [6291456.0]


def test_two_commands_with_one_result_leave_it_open_which_it_was() -> None:
    text = "dd if=a of=/dev/null bs=1M\ndd if=/dev/zero of=b bs=1M\n"
    run = only(f"{text}{RECORDS}8388608 bytes (8.4 MB) copied, 1 s, 8.4 MB/s\n")
    assert (run.samples[0].operation, run.target, run.samples[0].note) == ("copy", "", dd_format.NO_COMMAND)


def test_what_dd_complained_about_is_the_runs_problem() -> None:
    text = "$ dd if=/dev/sdc of=x\ndd: error reading '/dev/sdc': Input/output error\n"
    run = only(f"{text}{RECORDS}4096 bytes (4.1 kB) copied, 1 s, 4.1 kB/s\n")
    assert run.problem == "dd: error reading '/dev/sdc': Input/output error"
    assert run.workload["block_size"] == 512


@for_each(
    "command, operation, target, sync",
    [
        ("dd if=/dev/zero of=/mnt/f bs=1M oflag=direct", "write", "/mnt/f", "direct"),
        ("dd if=/dev/zero of=/mnt/f bs=1M oflag=direct,dsync", "write", "/mnt/f", "dsync"),
        ("dd if=/dev/zero of=/mnt/f bs=1M oflag=sync", "write", "/mnt/f", "sync"),
        ("dd if=/dev/urandom of=/mnt/f conv=notrunc,fsync", "write", "/mnt/f", "fsync"),
        ("time sh -c 'dd if=/dev/zero of=/mnt/f bs=1M && sync'", "write", "/mnt/f", "none"),
        ("sudo dd if=/dev/nvme0n1 of=/dev/null iflag=direct", "read", "/dev/nvme0n1", "direct"),
        ("dd if=/dev/sda > /dev/null", "read", "/dev/sda", None),
        ("dd if=/dev/zero bs=1M count=9 >> /mnt/f", "write", "/mnt/f", "none"),
        ("dd if=/dev/sda of=/dev/sdb", "copy", "/dev/sdb", "none"),
        ("dd if=/dev/zero of=/dev/null", "copy", "", "none"),
        ("dd if=/dev/zero bs=1M | ssh host dd of=/mnt/f", "write", "/mnt/f", "none"),
        ('dd if="/dev/sda" of=/dev/null', "read", "/dev/sda", None),
    ],
)
def test_command_tells_what_was_done(command: str, operation: str, target: str, sync: str | None) -> None:
    (found, *_) = read_command(f"root@host:~# {command}")
    assert (found.operation, found.target, found.make_workload().get("sync")) == (operation, target, sync)


@for_each("text, size", [
        ("1M", 1 << 20), ("1m", 1 << 20), ("64k", 65536), ("1kB", 1000), ("1MB", 10**6), ("1MiB", 1 << 20), ("4b", 2048),
        ("2w", 4), ("7c", 7), ("2x512", 1024), ("1kD", 1000), ("$((1024*1024))", 1 << 20), ("$bs", None), ("", None),
        ("1Q", None), ("9" * 40, None), ("999999999E", None),
    ])  # fmt: skip
def test_block_size_is_read_with_every_suffix(text: str, size: int | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "line",
    [
        "9 requests completed in 11.9 ms, 36 KiB written, 754 iops, 2.95 MiB/s",
        "1048576 bytes received in 0.32 secs (3276.8 kB/s)",
        "1048576 bytes sent in 0.32 secs (3276800 bytes/sec)",
        " Timing cached reads:   3012 MB in  2.00 seconds = 1507.62 MB/sec",
        "sent 1,234 bytes  received 35 bytes  2,538.00 bytes/sec",
        "[  5]   0.00-10.00  sec  1.52 GBytes  1.31 Gbits/sec   0  sender",
        "Read 100Mb  Written 0b  Total transferred 100Mb  (49.954Mb/sec)",
        "bw=24.3GiB/s (26.1GB/s)(244GiB/10001msec)",
        "c = a+1 and b+2 records",
    ],
)
def test_lines_of_other_tools_are_not_claimed(line: str) -> None:
    text = SourceText(f"{line}\n{line}\n")
    assert dd_format.looks_like(text) == 0.0
    with pytest.raises(ParseError):
        dd_format.parse(text)


HOSTILE = {
    "digits": "1" * 2**20 + " bytes/s",
    "digits and marks": "1'000" * 200000 + " bytes (1 GB) copied, 1 s, 1 GB/s",
    "lines of digits": ("1" * 1900 + "/s)\n") * 550,
    "lines of groups": ("111 " * 470 + "bytes/s)\n") * 550,
    "letters": ("1 " + "a " * 900 + "/s\n") * 580,
    "records": "1+0 records in\n" * 70000,
    "commands": "dd if=a of=b\n" * 80000,
    "one command": "dd if=a " * 130000,
    "quotes": "dd if='" + '"$((' * 900 + "\n1+0 records in\n",
    "progress": "1 bytes copied, 1 s, 1 B/s\r" * 38000 + RECORDS,
    "results": "512 bytes copied, 1.5 s, 341 B/s\n" * 30000,
    "absurd": "512 bytes copied, 1e999 s, 1e999 B/s\n99999999999999999999 bytes copied, 1e-300 s, inf B/s\n" * 10,
}


@pytest.mark.slow
@for_each("name", HOSTILE, number=2)
def test_hostile_text_is_read_in_time_and_gives_no_absurd_value(name: str) -> None:
    text = SourceText(HOSTILE[name])
    began = time.process_time()
    dd_format.looks_like(text)
    try:
        parsed = dd_format.parse(text)
    except ParseError:
        parsed = ParsedFile()
    assert within(time.process_time() - began, 2)
    values = [one.value for run in parsed.runs for one in run.samples if one.value is not None]
    sizes = [one.file_size for run in parsed.runs for one in run.samples if one.file_size is not None]
    assert all(0 < value < 1e21 for value in values)
    assert all(size < 2**63 for size in sizes)


def test_any_damage_to_a_real_output_is_survived() -> None:
    source = fixture_pairs.source("dd", "modes").text
    chance = random.Random(11)
    survived = 0
    for _ in range(300):
        start, end = sorted(chance.sample(range(len(source)), 2))
        parsed = parse(source[:start] + chance.choice(["", "9", " ", "\n", "'", ","]) + source[end:] + RECORDS)
        survived += len(parsed.runs)
    assert survived > 300


DONE = "50+0 records in\n50+0 records out\n52428800 bytes (52 MB, 50 MiB) copied, 0.25 s, 210 MB/s\n"


@pytest.mark.parametrize(
    "typed",
    [
        "root@lab:~# dd if=/dev/zero of=/mnt/f\nbs=1M count=50 oflag=direct\n",
        "root@lab:~# dd if=/dev/zero of=/mnt/f \\\n  bs=1M count=50 \\\n  oflag=direct\n",
        "+ dd bs=1M count=50 oflag=direct\nif=/dev/zero\nof=/mnt/f\n",
        "++ dd if=/dev/zero of=/mnt/f bs=1M count=50 oflag=direct\n",
        "root@lab:~# sync && dd if=/dev/zero of=/mnt/f bs=1M\ncount=50 oflag=direct && sync\n",
        "root@lab:~# dd if=/dev/zero of=/mnt/f bs=1M oflag=direct 2>&1\n| tee log ; sync\n",
    ],
    ids=["mail", "backslashes", "three lines", "nested trace", "and", "pipe"],
)
def test_command_over_several_lines_is_one(typed: str) -> None:
    (run,) = dd_format.parse(SourceText(typed + DONE)).runs
    assert (run.samples[0].operation, run.target) == ("write", "/mnt/f")
    assert (run.workload["block_size"], run.workload["direct"]) == (1 << 20, 1)
    assert not str(run.workload["command"]).startswith("+")


def test_what_a_loop_prints_is_no_part_of_its_command() -> None:
    loop = "for b in 4 8; do echo bs=${b}k; dd if=/mnt/f of=/dev/null bs=${b}k; done"
    runs = dd_format.parse(SourceText(f"root@lab:~# {loop}\nbs=4k\n{DONE}bs=8k\n{DONE}root@lab:~# ls\n{DONE}")).runs
    assert [run.workload.get("command") for run in runs] == [loop, loop, None]
    assert [(run.caption, run.target) for run in runs] == [("bs=4k", "/mnt/f"), ("bs=8k", "/mnt/f"), ("", "")]


def test_a_loops_commands_have_their_outputs_in_turns() -> None:
    loop = "for i in 1 2; do dd if=/dev/zero of=/mnt/f bs=1M; dd if=/mnt/g of=/dev/null bs=1M; done"
    runs = dd_format.parse(SourceText(f"# {loop}\n{DONE * 4}")).runs
    assert [run.target for run in runs] == ["/mnt/f", "/mnt/g"] * 2
    hidden = loop.replace(" bs=1M;", " bs=1M 2>/dev/null;")
    assert {run.target for run in dd_format.parse(SourceText(f"# {hidden}\n{DONE * 2}")).runs} == {""}


@pytest.mark.parametrize("mark", ["", "> "])
def test_a_loop_over_several_lines_is_read(mark: str) -> None:
    lines = ["for b in 4k 1M", "do", "  dd if=/mnt/f of=/dev/null bs=$b \\", "    iflag=direct", "done"]
    typed = "".join(f"{mark if place else '$ '}{line}\n" for place, line in enumerate(lines))
    runs = dd_format.parse(SourceText(typed + DONE * 2)).runs
    assert [(run.target, run.workload["direct"], run.workload["block_size"]) for run in runs] == [
        ("/mnt/f", 1, 1 << 20)
    ] * 2
    (other,) = dd_format.parse(SourceText("for b in 4k 1M\ndo\n  ls $b\ndone\n" + DONE)).runs
    assert "command" not in other.workload


TYPED = "root@lab:~# dd if=/dev/zero of=/srv/volumes/first/testfile bs=1M count=50 oflag=direct conv=fdatasync"


@for_each("width", [width for width in range(60, 101) if not TYPED[width - 1 : width + 1].strip().endswith(" ")])
def test_a_command_that_a_terminal_cut_is_whole_again(width: int) -> None:
    typed = "\n".join(TYPED[place : place + width] for place in range(0, len(TYPED), width))
    (run,) = dd_format.parse(SourceText(f"{typed}\n{DONE}")).runs
    assert run.workload == {
        "command": TYPED.removeprefix("root@lab:~# "), "direct": 1, "sync": "fdatasync", "block_size": 1 << 20,
    }  # fmt: skip


@pytest.mark.parametrize("below", ["hello", "rect hello", "rect,hello", "rect conv", "rect size=4"])
def test_a_line_that_does_not_make_the_command_whole_is_no_part_of_it(below: str) -> None:
    cut = TYPED[: TYPED.index("rect")]
    (run,) = dd_format.parse(SourceText(f"{cut}\n{below}\n{DONE}")).runs
    assert "command" not in run.workload


def test_loop_that_shows_each_command_leaves_the_first_one_its_result() -> None:
    text = (
        'root@lab:~# for b in 1M 4M; do C="dd if=/dev/md7 of=/dev/null bs=$b"; echo "## $C"; $C; done\n'
        f"## dd if=/dev/md7 of=/dev/null bs=1M\n{DONE}## dd if=/dev/md7 of=/dev/null bs=4M\n{DONE}"
    )
    runs = dd_format.parse(SourceText(text)).runs
    assert [run.workload.get("block_size") for run in runs] == [1 << 20, 4 << 20]


def test_complaint_is_found_where_the_output_is_indented() -> None:
    text = "    # dd if=/dev/zero of=/mnt/f bs=1M\n    dd: error writing '/mnt/f': No space left on device\n"
    (run,) = dd_format.parse(SourceText(text + "".join(f"    {line}\n" for line in DONE.splitlines()))).runs
    assert run.problem == "dd: error writing '/mnt/f': No space left on device"


@pytest.mark.parametrize("rate", ["210 MB/秒", "210 MB/с"])
def test_result_with_a_translated_second_is_found(rate: str) -> None:
    text = f"# dd if=/dev/zero of=/mnt/f bs=1M\n记录了50+0 的读入\n记录了50+0 的写出\n52428800字节(52 MB)已复制，0.25 秒，{rate}\n"
    assert dd_format.looks_like(SourceText(text)) == 1.0
    (run,) = dd_format.parse(SourceText(text)).runs
    assert (run.target, run.samples[0].value, run.samples[0].note) == ("/mnt/f", 209715200.0, "")


def test_a_list_of_devices_is_no_copy() -> None:
    text = "1028  Example Systems\n\t1f45  SR400 4+2 ports adapter\n\t1f46  SR410 4+4 ports adapter\n"
    assert dd_format.looks_like(SourceText(text)) == 0.0
    assert dd_format.looks_like(SourceText("> 2+1 records in\n> 2+1 records out\n")) == 0.6


@for_each(
    "size, seconds, rate",
    product(
        ["1024", "3145728", "999999999999999999"],
        ["0", "0.5", "12", "0.000943", "33.7235"],
        ["6.3 M", "276 M", "1 ", "1.0 G", "512 k"],
    ),
)
def test_the_usual_line_reads_as_any_other_does(size: str, seconds: str, rate: str) -> None:
    line = f"{size} bytes (3.1 MB, 3.0 MiB) copied, {seconds} s, {rate}B/s"
    usual, other = read_result(line), read_result(f"{line} ")  # the blank leads it to where every language is read
    assert usual is not None
    assert usual == other


@pytest.mark.parametrize(
    ("command", "operation", "target"),
    [
        ("dd if=/dev/zero bs=1M | pv > /mnt/f", "write", "/mnt/f"),
        ("dd if=/mnt/f bs=1M | pv > /dev/null", "read", "/mnt/f"),
        ("dd if=/dev/zero bs=1M | gzip > /mnt/f", "copy", ""),
        ("dd if=/dev/zero bs=1M | pv | gzip > /mnt/f", "copy", ""),
    ],
)
def test_a_pipe_that_only_passes_on_ends_where_it_is_sent(command: str, operation: str, target: str) -> None:
    run = only(f"# {command}\n{DONE}")
    assert (run.samples[0].operation, run.target) == (operation, target)


def test_a_prompt_without_a_blank_is_none_of_the_command() -> None:
    run = only(f"[root@n7 share]#time dd if=/dev/zero of=/share/f bs=1M\n{DONE}")
    assert (run.workload["command"], run.host) == ("time dd if=/dev/zero of=/share/f bs=1M", "n7")


def test_a_command_of_a_saved_page_is_shown_as_it_was_typed() -> None:
    text = (
        f'<pre class="bash"><code>sh -c &quot;dd if=/dev/zero of=/mnt/f bs=1M &amp;&amp; sync&quot; ; rm /mnt/f\n{DONE}'
    )
    (run,) = read_as(get_format("dd"), SourceText(text)).parsed.runs  # type: ignore[union-attr]
    assert (run.workload["command"], run.target) == (
        'sh -c "dd if=/dev/zero of=/mnt/f bs=1M && sync" ; rm /mnt/f',
        "/mnt/f",
    )


def test_a_letter_within_the_bytes_is_told_and_never_cut_off() -> None:
    damaged = "10+0 records in\n10+0 records out\n10x485760 bytes (10 MB) copied, 1.5 s, 7.0 MB/s\n"
    sound = "1+0 records in\n1+0 records out\n10485760 bytes (10 MB) copied, 1.5 s, 7.0 MB/s\n"
    found = dd_format.parse(SourceText((damaged + sound).encode()))
    assert [run.line for run in found.runs] == [4]
    assert [(one.line, one.found) for one in found.broken] == [(3, "10x485760")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [("real\t0m21.053s", {"real": "0m21.053s"}), ("real 0m 0.51s", {"real": "0m 0.51s"}),
     ("       21.05 real         0.04 user         2.64 sys", {"real": "21.05"}), ("", {})],
)  # fmt: skip
def test_the_wall_time_of_a_dd_that_was_timed_is_a_label(line: str, expected: dict[str, str]) -> None:
    text = (
        '$ time sh -c "dd if=/dev/zero of=ddfile bs=8k count=250000 && sync"\n250000+0 records in\n250000+0 records out\n'
        f"2048000000 bytes (2.0 GB) copied, 4.65 s, 440 MB/s\n\n{line}\nuser\t0m0.040s\nsys\t0m2.640s\n"
    )
    (run,) = dd_format.parse(SourceText(text)).runs
    assert run.labels == expected
    assert {sample.metric: sample.value for sample in run.samples}["elapsed"] == 4.65e9
