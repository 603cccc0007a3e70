"""dd and the sync behind it: the shell's time is that of both only where both were timed."""

import pytest

from apps.parsers.core.models import ParsedRun
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from tests.parsers.every import faults

DD = "dd if=/dev/zero of=/mnt/x bs=64k count=200"
REPORT = "200+0 records in\n200+0 records out\n13107200 bytes (13 MB, 12 MiB) copied, 0.04 s, 328 MB/s\n"
BASH = "\nreal\t0m0.500s\nuser\t0m0.001s\nsys\t0m0.008s\n"
FISH = (
    f"\n{'_' * 56}\nExecuted in  500.00 millis    fish           external\n"
    "   usr time    1.15 millis  198.00 micros    0.95 millis\n   sys time    7.07 millis    0.00 micros    7.07 millis\n\n"
)
VERBOSE = (
    f'\tCommand being timed: "sh -c {DD}; sync"\n\tUser time (seconds): 0.00\n\tSystem time (seconds): 0.00\n'
    "\tPercent of CPU this job got: 30%\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:00.50\n\tExit status: 0\n"
)
GNU = "0.00user 0.00system 0:00.50elapsed 24%CPU (0avgtext+0avgdata 2008maxresident)k\n0inputs+256outputs (0major+259minor)pagefaults 0swaps\n"

TIMED = {
    "bash": (f'$ time sh -c "{DD} && sync"', BASH),
    "decimal comma": (f'$ time sh -c "{DD} && sync"', BASH.replace(".", ",")),
    "brackets": (f"$ time ({DD}; sync)", BASH),
    "braces": (f"$ time {{ {DD}; sync; }}", BASH),
    "several lines": (f"$ time (\n{DD}\nsync\n)", BASH),
    "several lines in braces": (f"$ time {{\n  {DD}\n  sync\n}}", BASH),
    "POSIX": (f'$ time -p sh -c "{DD} ; sync"', "real 0.50\nuser 0.00\nsys 0.00\n"),
    "GNU time": (f"# /usr/bin/time bash -c '{DD}; sync'", GNU),
    "GNU time -v": (f"# \\time -v sh -c '{DD}; sync'", VERBOSE),
    "zsh": (f'% time sh -c "{DD} && sync"', f'sh -c "{DD} && sync"  0.00s user 0.01s system 25% cpu 0.500 total\n'),
    "zsh, brackets": (f"% time ({DD}; sync)", f"( {DD}; sync; )  0.00s user 0.01s system 25% cpu 0.500 total\n"),
    "tcsh": (f'% time sh -c "{DD} && sync"', "0.002u 0.006s 0:00.50 0.0%\t0+0k 0+256io 0pf+0w\n"),
    "fish": (f'> time sh -c "{DD} && sync"', FISH),
    "fish, begin": (f"me@box ~> time begin; {DD}; sync; end", FISH),
    "busybox": (f'/ # time sh -c "{DD} && sync"', "real\t0m 0.50s\nuser\t0m 0.00s\nsys\t0m 0.04s\n"),
    "BSD": (f'# time sh -c "{DD} && sync"', "        0.50 real         0.00 user         0.02 sys\n"),
    "BSD with units": (f'# /usr/bin/time -h sh -c "{DD} && sync"', "\t0.50s real\t\t0.00s user\t\t0.02s sys\n"),
    "sudo outside": (f'$ sudo time sh -c "{DD} && sync"', BASH),
    "sudo inside": (f"$ time sudo bash -c '{DD} 2>&1; /bin/sync'", BASH),
    "changed folder": (f"$ time (cd /mnt && {DD} && sync -f /mnt)", BASH),
    "sync three times": (f"$ time ({DD}; sync; sync; sync)", BASH),
}
NOT_TIMED = {
    "behind a semicolon": (f"$ time {DD}; sync", BASH),
    "behind &&": (f"$ time {DD} && sync", BASH),
    "before": (f"$ sync; time {DD}", BASH),
    "before, inside": (f'$ time sh -c "sync; {DD}"', BASH),
    "behind the brackets": (f"$ time ({DD}); sync", BASH),
    "behind the script": (f'$ time sh -c "{DD}"; sync', BASH),
    "beside": (f'$ time sh -c "{DD} & sync"', BASH),
    "after a failure": (f'$ time sh -c "{DD} || sync"', BASH),
    "with more": (f'$ time sh -c "{DD}; sync; rm -f /mnt/x"', BASH),
    "an option": (f"$ time {DD} conv=sync", BASH),
    "timed alone": (f"$ {DD}; time sync", BASH),
    "not at all": (f"$ {DD}; sync", ""),
    "into a file": (f'$ /usr/bin/time -o t sh -c "{DD}; sync"', BASH),
    "a read": ('$ time sh -c "dd if=/mnt/x of=/dev/null bs=64k && sync"', BASH),
}  # fmt: skip


def only(command: str, behind: str) -> ParsedRun:
    source = SourceText(f"{command}\n{REPORT}{behind}")
    parsed = dd_format.parse(source)
    assert not faults(parsed, source)
    assert not parsed.broken
    (run,) = parsed.runs
    return run


@pytest.mark.parametrize("name", TIMED)
def test_a_sync_that_was_timed_is_in_the_figures_and_dds_own_stand_beside(name: str) -> None:
    run = only(*TIMED[name])
    assert [(sample.section, sample.operation, sample.metric, sample.value) for sample in run.samples] == [
        (0, "write", "bandwidth", 26214400), (0, "write", "elapsed", 5e8),
        (1, "write", "bandwidth", 327680000), (1, "write", "elapsed", 4e7),
    ]  # fmt: skip
    assert [section.name for section in run.sections] == [dd_format.WITH_SYNC, dd_format.WITHOUT_SYNC]
    assert (run.workload["sync"], run.target) == ("fsync", "/mnt/x")
    assert all("memory" in sample.note for sample in run.samples if sample.section)
    assert run.labels["real"]


@pytest.mark.parametrize("name", NOT_TIMED)
def test_a_sync_outside_is_in_no_figure(name: str) -> None:
    run = only(*NOT_TIMED[name])
    assert [(sample.section, sample.value) for sample in run.samples] == [(0, 327680000), (0, 4e7)]
    assert not run.sections
    assert run.workload.get("sync", "none") == "none"


def test_a_time_below_dds_own_is_told_and_not_taken() -> None:
    text = f'$ time sh -c "{DD} && sync"\n{REPORT}{BASH.replace("0.500", "0.030")}'
    parsed = dd_format.parse(SourceText(text))
    assert [len(run.samples) for run in parsed.runs] == [2]
    assert "less than dd's own 0.04 s" in parsed.warnings[0]


def test_few_digits_of_the_shell_make_a_rough_figure() -> None:
    run = only(f'$ time -p sh -c "{DD} && sync"', "real 0.05\nuser 0.00\nsys 0.00\n")
    assert [sample.quality for sample in run.samples] == ["approximate", "approximate", "exact", "exact"]
