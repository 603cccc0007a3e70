"""Timed copies: real ones beside their expected halves, every shell's words, and damaged ones."""

import time

import pytest

from apps.parsers.copy import format as copy_format
from apps.parsers.core.models import ParsedFile, ParsedRun, ParseError
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from tests.pace import within
from tests.parsers.corpus import CORPUS
from tests.sampling import for_each

LISTED = "-rw-r--r-- 1 root root 1000000000 2010-01-02 03:04 big.data\n"


def parse(text: str) -> ParsedFile:
    return copy_format.parse(SourceText(text))


def only(text: str) -> ParsedRun:
    (run,) = parse(text).runs
    return run


TIMES = {  # as each shell or program writes 62.5 s
    "bash": "\nreal\t1m2.500s\nuser\t0m1.000s\nsys\t0m5.250s\n",
    "bash, decimal comma": "\nreal\t1m2,500s\nuser\t0m1,000s\nsys\t0m5,250s\n",
    "ksh": "\nreal    1m2.50s\nuser    0m1.00s\nsys     0m5.25s\n",
    "POSIX": "real 62.50\nuser 1.00\nsys 5.25\n",
    "BSD": "       62.50 real         1.00 user         5.25 sys\n",
    "GNU time": "1.00user 5.25system 1:02.50elapsed 10%CPU (0avgtext+0avgdata 2188maxresident)k\n",
    "tcsh": "1.000u 5.250s 1:02.50 10.0%\t0+0k 0+0io 0pf+0w\n",
    "fish": "\n________\nExecuted in   62.50 secs    fish           external\n".replace("________\n", ""),
    "sudo asks": "[sudo] password for root: \n\nreal\t1m2.500s\nuser\t0m1.000s\nsys\t0m5.250s\n",
}


@pytest.mark.parametrize("name", TIMES)
def test_wall_time_is_read_in_every_shells_words(name: str) -> None:
    text = f"$ time cp /mnt/loop/big.data /raid/a0/\n{TIMES[name]}$ ls -l /mnt/loop\n{LISTED}"
    assert copy_format.looks_like(SourceText(text)) >= 0.9
    run = only(text)
    assert [(one.metric, one.value, one.file_size) for one in run.samples] == [
        ("elapsed", 62.5e9, 10**9), ("bandwidth", 16e6, 10**9),
    ]  # fmt: skip
    assert run.samples[0].cpu in (None if name == "fish" else 0.1,)
    assert (run.target, run.line) == ("/raid/a0/", 1)
    assert {one.operation for one in run.samples} == {"copy"}


def test_zsh_prints_the_command_beside_its_times() -> None:
    run = only("cp big.data /raid/  1.00s user 5.25s system 10% cpu 1:02.50 total\n" + LISTED)
    assert [one.value for one in run.samples] == [62.5e9, 16e6]


def test_size_that_is_rounded_or_of_another_file_is_not_used() -> None:
    for line in ("-rw-r--r-- 1 root root 1.0G Jan 2 03:04 big.data", LISTED.replace("big", "other"), ""):
        assert [one.metric for one in only(f"$ time cp big.data /raid\n{TIMES['bash']}{line}\n").samples] == ["elapsed"]


def test_two_sizes_of_one_name_leave_the_bandwidth_open() -> None:
    text = f"{LISTED}{LISTED.replace('1000000000', '999')}$ time cp big.data /raid\n{TIMES['bash']}"
    assert [one.metric for one in only(text).samples] == ["elapsed"]


def test_several_sources_have_no_size() -> None:
    assert [one.metric for one in only(f"{LISTED}$ time cp big.data b /raid\n{TIMES['bash']}").samples] == ["elapsed"]


def test_short_times_make_a_rough_rate() -> None:
    run = only(f"{LISTED}$ time -p cp big.data /raid\nreal 0.03\nuser 0.00\nsys 0.03\n")
    assert run.samples[1].quality == "approximate"
    assert run.samples[0].cpu is None


def test_copy_that_failed_has_no_time() -> None:
    run = only(
        f"$ time cp big.data /raid\ncp: error writing '/raid/big.data': No space left on device\n{TIMES['bash']}"
    )
    assert run.problem.startswith("cp: error writing")
    assert [one.value for one in run.samples] == [None]


def test_several_copies_are_several_runs_with_their_own_lines() -> None:
    text = f"$ time cp a /x\n{TIMES['bash']}$ date\n$ time cp b /x\n{TIMES['POSIX']}"
    assert [(run.workload["command"], run.line, run.last_line) for run in parse(text).runs] == [
        ("time cp a /x", 1, 5), ("time cp b /x", 7, 10),
    ]  # fmt: skip


def test_copy_whose_wall_time_is_cut_is_broken() -> None:
    parsed = parse("$ time cp a /x\nuser 1.00\nsys 5.25\n")
    assert parsed.runs == ()
    assert parsed.broken[0].line == 1


def test_commands_without_times_are_no_results() -> None:
    path = CORPUS.parent / "studies" / "thumper-x4500" / "legacy" / "cp_ramdisk_commands.txt"
    text = path.read_text() if path.is_file() else "time cp /mnt/loop/f.data /raid/a0/\n"
    assert copy_format.looks_like(SourceText(text)) == 0.0
    with pytest.raises(ParseError):
        parse(text)


def test_other_timed_commands_are_not_claimed() -> None:
    text = f"$ time dd if=/dev/zero of=f\n{TIMES['bash']}$ time scp a host:\n{TIMES['bash']}"
    assert copy_format.looks_like(SourceText(text)) == 0.0


@for_each(
    "text",
    [
        "time " * 200000 + "cp a b\n",
        ("time " * 190 + "cp a b\n") * 1000,
        "time cp a b\n" * 80000,
        ("time cp a b\n" + "\n" * 30) * 24000,
        "cp a b " * 140000 + "0.00s user 0.42s system 98% cpu 0.430 total",
        ("cp a " * 190 + "0.00s user 0.42s system 98% cpu x\n") * 1000,
        ("$ time cp a b\nreal " + "9" * 900 + "\n") * 1000,
        "time cp a b\nreal 1\n" * 30000,
        ("dd " * 300 + "a of= \n" + "time cp a b\nreal 1\n") * 900,
    ],
    number=4,
)
def test_hostile_text_is_read_in_time(text: str) -> None:
    source = SourceText(text)
    began = time.process_time()
    copy_format.looks_like(source)
    try:
        parsed = copy_format.parse(source)
    except ParseError:
        parsed = ParsedFile()
    assert within(time.process_time() - began, 2)
    assert all(one.value is None or one.value < 1e19 for run in parsed.runs for one in run.samples)


def test_a_listing_with_blocks_or_inodes_says_the_size() -> None:
    for before in ("", "15220278 ", "  131 15220278 "):
        text = (
            f"{before}-r--r--r-- 1 ann lab 1000000000 Mar 27 18:53 big.img\n$ time cp big.img /mnt/\n\nreal 0m10.000s\n"
        )
        elapsed, bandwidth = only(text).samples
        assert (elapsed.file_size, bandwidth.value) == (10**9, 10**8)


def test_cp_by_its_path_and_its_times_in_a_fence() -> None:
    text = "`$ time /opt/coreutils-9.8/bin/cp -r from to`\n```\nreal    6m18.838s\nuser    0m0.338s\nsys     6m17.790s\n```\n"
    run = only(text)
    assert (run.workload["command"], run.target) == ("time /opt/coreutils-9.8/bin/cp -r from to", "to")
    assert run.samples[0].value == 378_838_000_000


@pytest.mark.parametrize(
    "times",
    [
        "\nreal\t0m0.x12s\nuser\t0m0.000s\nsys\t0m0.400s\n",
        "real 1.2.3\n",
        "       6-.50 real         1.00 user         5.25 sys\n",
        "1.00user 5.25system 1:0?.50elapsed 10%CPU (0avgtext+0avgdata 2188maxresident)k\n",
        "Executed in   -- secs    fish           external\n",
    ],
)
def test_wall_time_that_cannot_be_read_is_told_and_leaves_the_next_copy(times: str) -> None:
    good = "$ time cp a /b/\n\nreal\t0m0.500s\nuser\t0m0.000s\nsys\t0m0.400s\n"
    parsed = parse(f"$ time cp big /mnt/raid/\n{times}{good}")
    assert [run.workload["command"] for run in parsed.runs] == ["time cp a /b/"]
    (broken,) = parsed.broken
    line, found = next((number, line) for number, line in enumerate(times.splitlines(), 2) if line.strip())
    assert (broken.line, broken.found) == (line, found.strip())
    assert copy_format.looks_like(SourceText(f"$ time cp big /mnt/raid/\n{times}")) > 0.5


def test_wall_time_that_cannot_be_read_is_told_by_zsh_and_gnu_times_long_form() -> None:
    zsh = "cp a b  0.00s user 0.42s system 98% cpu 0:x0.43 total\n"
    long = '\tCommand being timed: "cp a b"\n\tUser time (seconds): 0.00\n\tElapsed (wall clock) time (h:mm:ss or m:ss): x\n'
    assert [(one.line, one.found) for one in parse(zsh).broken] == [(1, zsh.strip())]
    assert [(one.line, one.found) for one in parse(long).broken] == [(1, long.splitlines()[0].strip())]


@pytest.mark.parametrize(("printed", "seconds"), [("0m 16.62s", 16.62), ("2m 6.50s", 126.5), ("1h 02m 03s", 3723)])
def test_busybox_puts_blanks_between_minutes_and_seconds(printed: str, seconds: float) -> None:
    text = f"/ # echo 3 > /proc/sys/vm/drop_caches; time cp /tmp/a /mnt/b\nreal\t{printed}\nuser\t0m 0.00s\nsys\t0m 5.98s\n"
    (run,) = copy_format.parse(SourceText(text)).runs
    assert (run.samples[0].value, run.target, run.last_line) == (pytest.approx(seconds * 1e9), "/mnt/b", 4)


def test_the_verbose_times_are_read_where_their_margin_was_lost() -> None:
    text = (
        'Command being timed: "cp a b"\nUser time (seconds): 0.20\nSystem time (seconds): 0.80\n'
        "Percent of CPU this job got: 50%\nElapsed (wall clock) time (h:mm:ss or m:ss): 0:02.00\nSwaps: 0\n\nprose\n"
    )
    run = only(text)
    (sample,) = run.samples
    assert (sample.value, sample.cpu, run.last_line) == (2e9, 0.5, 6)


@pytest.mark.parametrize(
    ("prompt", "host"),
    [
        ("root@n7:/mnt# ", "n7"),
        ("[me@n8.lab disk]$ ", "n8.lab"),
        ("$ ", ""),
        ("me@mail.example wrote ", ""),
        ("me@mail.example: $5 for ", ""),
    ],
)
def test_the_prompt_names_the_host(prompt: str, host: str) -> None:
    assert only(f"{prompt}time cp a b\nreal 2.00\nuser 0.20\nsys 0.80\n").host == host


@pytest.mark.parametrize("row", ["'src/file {}' -> '/mnt/src/file {}'", "`src/{}' -> `/mnt/{}'", "src/{} -> /mnt/{}"])
def test_what_cp_lists_between_may_be_as_long_as_it_is(row: str) -> None:
    listed = "".join(f"{row.format(number, number)}\n" for number in range(200))
    run = only(f"$ time cp -rv src /mnt/\n{listed}\nreal\t0m2.000s\nuser\t0m0.200s\nsys\t0m0.800s\n")
    assert [(one.value, one.cpu) for one in run.samples] == [(2e9, 0.5)]


def test_a_name_that_cp_lists_is_no_command() -> None:
    parsed = parse("$ time cp -v x /mnt/\n'a; time cp b c' -> '/mnt/a; time cp b c'\nreal 2.00\nuser 0.20\nsys 0.80\n")
    assert [(run.line, run.last_line) for run in parsed.runs] == [(1, 5)]


OF_DD = "1000+0 records in\n1000+0 records out\n1048576000 bytes (1.0 GB, 1000 MiB) copied, 1.5 s, 699 MB/s\n"
TIMED = "real\t0m2.000s\nuser\t0m0.200s\nsys\t0m0.800s\n"


def test_a_copy_timed_behind_a_dd_has_the_time_and_dd_does_not() -> None:
    text = f"$ dd if=/dev/zero of=/tmp/x bs=1M count=1000; time cp /tmp/x /mnt/\n{OF_DD}\n{TIMED}"
    run = only(text)
    assert [(one.metric, one.value) for one in run.samples] == [("elapsed", 2e9), ("bandwidth", 524288000.0)]
    assert [one.last_line for one in dd_format.parse(SourceText(text)).runs] == [4]
    assert [
        one.last_line
        for one in dd_format.parse(SourceText(text.replace("dd if", "time dd if").replace("; time cp", "; cp"))).runs
    ] == [8]


@pytest.mark.parametrize(
    "command", ["time dd if=/dev/zero of=/tmp/x bs=1M count=1000", "cp x y; time dd if=/dev/zero of=/tmp/x bs=1M"]
)
def test_the_time_of_a_dd_is_never_that_of_a_copy(command: str) -> None:
    with pytest.raises(ParseError):
        parse(f"$ {command}\n{OF_DD}\n{TIMED}")
    with pytest.raises(ParseError):
        parse(
            f"$ {command}; time cp /tmp/x /mnt\n{OF_DD}\n{TIMED}"
        )  # the first time is dd's, and the second one is not there


@pytest.mark.parametrize(("wall", "seconds"), [("0m 0.04s", 0.04), ("12m 3.50s", 723.5), ("1h 2m 03s", 3723)])
def test_busyboxs_wall_time_is_read(wall: str, seconds: float) -> None:
    text = f'Command being timed: "cp a b"\nElapsed (wall clock) time (h:mm:ss or m:ss): {wall}\nSwaps: 0\n'
    assert only(text).samples[0].value == seconds * 1e9


def test_a_listing_that_was_typed_before_the_copy_stands_between_it_and_its_times() -> None:
    text = (
        "$ ls -l t1; time cp t1 t2\n-rw-r--r-- 1 root root 8192000 Nov 25 15:11 t1\n\n"
        "real\t0m0.500s\nuser\t0m0.000s\nsys\t0m0.008s\n"
    )
    (run,) = copy_format.parse(SourceText(text)).runs
    assert {s.metric: s.value for s in run.samples}["bandwidth"] == 16_384_000
