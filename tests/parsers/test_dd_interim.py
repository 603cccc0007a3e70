"""Reports of dd that were asked for while it copied: one run for each copy, with the figures of its last report."""

import pytest

from apps.parsers.core.models import ParsedRun
from apps.parsers.core.source_text import SourceText
from apps.parsers.dd import format as dd_format
from tests.parsers.every import faults

MIB = 1 << 20
WRITE = "dd if=/dev/zero of=/tank/f bs=1M count=4000"


def report(count: int, seconds: float, out: int | None = None, *, form: str = "gnu", block: int = MIB) -> str:
    written = count if out is None else out
    size, rate = written * block, written * block / seconds
    last = {
        "gnu": f"{size} bytes ({size / 1e6:.0f} MB, {size / MIB:.0f} MiB) copied, {seconds:g} s, {rate / 1e6:.3g} MB/s",
        "bsd": f"{size} bytes transferred in {seconds:.6f} secs ({rate:.0f} bytes/sec)",
        "illumos": f"{size} ({size / MIB:.0f} MiB) bytes transferred in {seconds:.6f} secs ({rate / MIB:.0f} MiB/sec)",
        "netbsd": f"{size} bytes ({size / 1e6:.0f} MB) transferred in {seconds:.3f} secs ({rate / 1e6:.3g} MB/sec)",
    }[form]
    return f"{count}+0 records in\n{written}+0 records out\n{last}\n"


def read(text: str) -> tuple[ParsedRun, ...]:
    source = SourceText(text)
    parsed = dd_format.parse(source)
    assert not faults(parsed, source)
    assert not parsed.warnings
    return parsed.runs


def figures(runs: tuple[ParsedRun, ...]) -> list[tuple[int | None, float]]:
    """Bytes and seconds of each run."""
    elapsed = [sample for run in runs for sample in run.samples if sample.metric == "elapsed"]
    return [(sample.file_size, round((sample.value or 0) / 1e9, 6)) for sample in elapsed]


LOADS = [
    "load: 0.97  cmd: dd 4711 uninterruptible 0.00u 0.41s",  # macOS
    "load: 0.12  cmd: dd 911 [physwr] 2.31r 0.00u 0.21s 3% 2104k",  # FreeBSD
    "[ 8123.4456789] load: 0.50  cmd: dd 77 [biowait] 0.02u 0.10s 1% 1500k",  # NetBSD
    "^Tload: 1.20  cmd: dd 4711 running 0.00u 0.41s",
]


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("prompt", ["$ sudo ", "root@box:~ # ", "% "])
def test_ctrl_t_asks_for_a_report_of_the_copy_that_goes_on(load: str, prompt: str) -> None:
    text = f"{prompt}{WRITE}\n{load}\n{report(311, 0.42, 310, form='bsd')}{load}\n{report(311, 9.5, form='bsd')}{report(4000, 41.5, form='bsd')}"
    (run,) = runs = read(text)
    assert figures(runs) == [(4000 * MIB, 41.5)]
    assert (run.workload["block_size"], run.target, run.last_line) == (MIB, "/tank/f", text.count("\n"))
    assert {sample.operation for sample in run.samples} == {"write"}


@pytest.mark.parametrize("form", ["gnu", "bsd", "illumos", "netbsd"])
@pytest.mark.parametrize("more", [0, 1, 5])
def test_reports_of_which_bytes_and_seconds_only_grow_are_of_one_copy(form: str, more: int) -> None:
    between = "".join(report(701 + 97 * n, 7.25 + n, form=form) for n in range(more))
    for command in (f"$ {WRITE}\n", f"% {WRITE} & pid=$!; while kill -INFO $pid; do sleep 1; done\n", ""):
        assert figures(
            read(f"{command}{report(613, 6.5, 612, form=form)}{between}{report(4000, 41.5, form=form)}")
        ) == [(4000 * MIB, 41.5)]


@pytest.mark.parametrize(
    "asked",
    ["kill -USR1 815", "sudo kill -s USR1 815", "pkill -USR1 -x dd", "killall -INFO dd", "kill -SIGUSR1 $(pgrep ^dd)", "kill -10 815",
     "while kill -USR1 815; do sleep 5; done"],
)  # fmt: skip
def test_what_asks_for_a_report_is_no_other_copy(asked: str) -> None:
    text = (
        f"# dd if=/dev/zero of=/dev/sdq bs=1M &\n[1] 815\n# {asked}\n{report(613, 6.5)}# {asked}\n{report(900, 9.5)}"
        f"dd: error writing '/dev/sdq': No space left on device\n{report(1001, 10.5, 1000)}"
        "[1]+  Exit 1                  dd if=/dev/zero of=/dev/sdq bs=1M\n"
    )
    (run,) = runs = read(text)
    assert figures(runs) == [(1000 * MIB, 10.5)]
    assert "No space left" in run.problem


def test_an_interrupted_copy_ends_with_its_last_report() -> None:
    assert figures(read(f"$ {WRITE}\n{LOADS[0]}\n{report(311, 3.5)}^C{report(700, 7.5)}")) == [(700 * MIB, 7.5)]


def test_a_flush_at_the_end_lasts_while_no_byte_is_added() -> None:
    text = f"$ {WRITE} conv=fsync\n{report(613, 6.5)}{report(4000, 12.5)}{report(4000, 33.5)}"
    assert figures(read(text)) == [(4000 * MIB, 33.5)]


def test_a_command_that_was_typed_between_makes_two() -> None:
    small, large = WRITE.replace("4000", "613"), WRITE
    expected = [(613 * MIB, 6.5), (4000 * MIB, 41.5)]
    assert figures(read(f"$ {small}\n{report(613, 6.5)}$ {large}\n{report(4000, 41.5)}")) == expected
    assert figures(read(f"$ {small}; {large}\n{report(613, 6.5)}{report(4000, 41.5)}")) == expected
    loop = "$ for n in 613 4000; do dd if=/dev/zero of=/tank/f bs=1M count=$n; done\n"
    assert figures(read(f"{loop}{report(613, 6.5)}{report(4000, 41.5)}")) == expected


@pytest.mark.parametrize(
    "text",
    [
        f"$ {WRITE.replace('4000', '613')}\n{report(613, 6.5)}{report(4000, 41.5)}",  # all that the command copies was copied
        f"$ {WRITE}\n{report(613, 41.5)}{report(4000, 6.5)}",  # the seconds fall
        f"$ {WRITE}\n{report(613, 6.5)}{report(4000, 41.5, block=MIB // 2)}",  # other blocks
        report(100, 6.5) + report(4000, 41.5),  # numbers of blocks that people type, and no command
        f"$ {WRITE}\n{report(613, 6.5)}\nreal\t0m6.6s\nuser\t0m0.1s\nsys\t0m0.4s\n{report(4000, 41.5)}",  # it ended
        f"$ {WRITE}\n{report(613, 6.5)}Second disk:\n{report(4000, 41.5)}",
    ],
)  # fmt: skip
def test_copies_that_cannot_be_one_stay_two(text: str) -> None:
    assert len(read(text)) == 2


@pytest.mark.parametrize("gap", [1, 4, 60])
def test_lines_of_progress_far_apart_are_no_results(gap: int) -> None:
    lines = "".join(
        f"{n * MIB * 50} bytes ({n * 52} MB, {n * 50} MiB) copied, {n * gap} s, {n * MIB * 50 / (n * gap) / 1e6:.3g} MB/s\n"
        for n in range(1, 5)
    )
    for command in (f"$ {WRITE} status=progress\n", ""):
        assert figures(read(f"{command}{lines}{report(4000, 400.5)}")) == [(4000 * MIB, 400.5)]
    frac = lines.replace(" s, ", ".01 s, ")
    parsed = dd_format.parse(SourceText(f"$ {WRITE} status=progress\n{frac}{report(4000, 400.5)}"))
    assert figures(parsed.runs) == [(4000 * MIB, 400.5)]


def test_records_without_results_go_on_counting() -> None:
    records = ["100+0 records in", "99+0 records out", "300+0 records in", "300+0 records out"]
    (run,) = dd_format.parse(SourceText("\n".join(["# dd if=/dev/zero of=/f bs=1M", *records]))).runs
    assert [sample.value for sample in run.samples] == [None, 300 * MIB]


def test_illumos_words_are_read() -> None:
    (run,) = read(
        f"$ dd bs=512k if=/dev/zero of=/tank/t count=3000\n{report(3000, 5.5, form='illumos', block=MIB // 2)}"
    )
    bandwidth, elapsed = run.samples
    assert (bandwidth.operation, bandwidth.value, elapsed.value) == ("write", 3000 * MIB // 2 / 5.5, 5.5e9)


def test_a_report_in_one_turn_of_a_loop_takes_nothing_from_the_next_turn() -> None:
    loop = "$ for n in 613 4000; do dd if=/dev/zero of=/tank/f bs=1M count=$n; done\n"
    text = f"{loop}{LOADS[0]}\n{report(311, 3.5, 310)}{report(613, 6.5)}{report(4000, 41.5)}"
    assert figures(read(text)) == [(613 * MIB, 6.5), (4000 * MIB, 41.5)]
