"""Excerpts of iperf's output as mails and notes have them: nothing but summaries, one test below the other."""

from pathlib import Path

import pytest

from apps.parsers.core.models import ParsedRun
from apps.parsers.core.source_text import SourceText
from apps.parsers.iperf import iperf2_text, iperf3_text

FIXTURES = Path(__file__).parent / "fixtures"
BOTH = """\
[  5]   0.00-10.00  sec  {sent} MBytes   {rate} Mbits/sec    0         sender
[  5]   0.00-10.01  sec  {sent} MBytes   {rate} Mbits/sec              receiver
"""
HEAD = """\
Client connecting to 10.1.1.2, TCP port 5001
[  3] local 10.1.1.1 port 57437 connected with 10.1.1.2 port 5001
[  5] local 10.1.1.1 port 5001 connected with 10.1.1.2 port 42621
"""


def total(rate: int, end: str = "10.0", name: str = "  3") -> str:
    return f"[{name}]  0.0-{end} sec  {rate} MBytes   {rate} Mbits/sec\n"


def rates(runs: tuple[ParsedRun, ...]) -> list[dict[str, float | None]]:
    return [{one.operation: one.value for one in run.samples if one.metric == "bandwidth"} for run in runs]


def test_summaries_of_iperf_3_below_each_other_are_tests_of_their_own() -> None:
    text = (
        "Before:\niperf3 -c h -R\n"
        + BOTH.format(sent=510, rate=400)
        + "After:\niperf3 -c h -R\n"
        + BOTH.format(sent=540, rate=440)
    )
    runs = iperf3_text.parse(SourceText(text)).runs
    assert rates(runs) == [{"net_send": 50e6, "net_receive": 50e6}, {"net_send": 55e6, "net_receive": 55e6}]


def test_a_side_without_bytes_beside_the_others_never_told_its_figures() -> None:
    text = (
        "Accepted connection from 10.1.1.1, port 40106\n" + BOTH.format(sent="0.00", rate="0.00").splitlines()[0] + "\n"
    )
    text += BOTH.format(sent=540, rate=440).splitlines()[1] + "\n"
    (run,) = iperf3_text.parse(SourceText(text)).runs
    assert rates((run,)) == [{"net_send": None, "net_receive": 55e6}]


@pytest.mark.parametrize("between", ["$ iperf -c 10.1.1.2\n", "and with the new driver:\n"])
def test_totals_of_iperf_2_below_each_other_are_tests_of_their_own(between: str) -> None:
    runs = iperf2_text.parse(SourceText("$ iperf -c 10.1.1.2\n" + total(80) + between + total(88, "10.1"))).runs
    assert [run.samples[0].printed for run in runs] == ["80 Mbits/sec", "88 Mbits/sec"]


def test_an_interval_over_the_whole_time_is_no_test_of_its_own() -> None:
    (run,) = iperf2_text.parse(SourceText("$ iperf -c 10.1.1.2 -i 10\n" + total(80) + total(80))).runs
    assert rates((run,)) == [{"net_send": 10e6}]


@pytest.mark.parametrize(
    ("command", "operation"), [("iperf -c h", "net_send"), ("iperf -s -i 1", "net_receive"), ("iperf -c h -d", "")]
)
def test_the_command_says_whose_lines_they_are_where_nothing_else_does(command: str, operation: str) -> None:
    (run,) = iperf2_text.parse(SourceText(f"$ {command}\n" + total(80))).runs
    assert rates((run,)) == [{operation or "net_send": 10e6 if operation else None}]


def test_what_connects_back_to_a_client_is_received() -> None:
    (run,) = iperf2_text.parse(SourceText(HEAD + total(80) + total(40, name="  5"))).runs
    assert rates((run,)) == [{"net_send": 10e6, "net_receive": 5e6}]
    assert {one.threads for one in run.samples} == {1}


def test_a_stream_that_connected_and_has_no_line_is_told() -> None:
    lines = (FIXTURES / "iperf2_text" / "parallel-enhanced-2.1.txt").read_bytes().splitlines(keepends=True)
    whole, cut = (iperf2_text.parse(SourceText(b"".join(some))) for some in (lines, lines[:10]))
    assert not whole.warnings
    assert cut.warnings == ("line 1: 1 other stream (2) connected, and no line says how fast: the text may be cut off",)
    reverse = iperf2_text.parse(SourceText((FIXTURES / "iperf2_text" / "reverse-2.1.txt").read_bytes()))
    assert not reverse.warnings


def test_totals_of_iperf_2_with_nothing_between_them_are_tests_of_their_own() -> None:
    found = iperf2_text.parse(SourceText(HEAD.splitlines()[0] + "\n" + total(88) + total(84) + total(86) + total(86)))
    assert [run.samples[0].value for run in found.runs] == [11e6, 10.5e6, 10.75e6, 10.75e6]
    assert [(run.line, run.last_line) for run in found.runs] == [(1, 2), (3, 3), (4, 4), (5, 5)]
    assert not any(run.series for run in found.runs)


def test_tests_of_which_nobody_knows_who_sent_are_told_once() -> None:
    found = iperf2_text.parse(SourceText("On the old kernel:\n" + total(88) * 30))
    assert len(found.runs) == 30
    (warning,) = found.warnings
    assert warning.startswith("line 2 and 29 other tests: nothing says")


@pytest.mark.parametrize("cut", ["[", "[  3", "[  3]", "[  3]  1.0-"])
def test_a_lone_line_above_one_that_is_cut_off_is_no_total(cut: str) -> None:
    (run,) = iperf2_text.parse(SourceText(HEAD + total(88, "1.0") + cut)).runs
    assert run.samples[0].value is None
    assert run.problem
